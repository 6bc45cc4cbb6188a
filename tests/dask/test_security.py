"""Dask with TLS: the same labels, and no byte of the rows in the clear."""

from __future__ import annotations

import contextlib

import dask.array as da
import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster
from distributed.security import Security
from numpy.testing import assert_array_equal

import pskclust
from pskclust._dask.transport import plain_host
from pskclust.dask import PSKC
from tests.helpers import capture

pytestmark = [
    pytest.mark.dask,
    pytest.mark.slow,
    # Of Dask's own making, when clusters close.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

FITS = {
    "grown": {"psi": 16, "tau": 0.05, "n_partitions": 20, "random_state": 0},
    "chosen": {"n_partitions": 20, "random_state": 0},
}
# A value whose bytes do not occur by chance.
MARK = np.frombuffer(b"\x5a\xc3\x17\x99\xe1\x2d\x08\x40", dtype=np.float64)
TLS_RECORDS = {b"\x14", b"\x15", b"\x16", b"\x17"}


@contextlib.contextmanager
def two_workers(security):
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    with (
        LocalCluster(
            host="127.0.0.1", dashboard_address="127.0.0.1:0", security=security, **options
        ) as cluster,
        Client(cluster, security=security, set_as_default=False) as client,
    ):
        yield client


def listening(client):
    """Return the ports that the cluster listens at, by address."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    sockets = [one for process in processes for one in process.net_connections("tcp")]
    assert client.nthreads()
    return {(one.laddr.ip, one.laddr.port) for one in sockets if one.status == "LISTEN"}


def fit_and_predict(client, X):
    """Fit both ways, and predict; require the labels of one process. Return all that listened."""
    listened = listening(client)
    blocks = da.from_array(X, chunks=(100, X.shape[1]))
    for parameters in FITS.values():
        plain = pskclust.PSKC(**parameters).fit(X)
        model = PSKC(
            **parameters, client=client, callback=lambda _: listened.update(listening(client))
        )
        model.fit(blocks)
        found = client.gather(client.compute([model.labels_, model.predict(blocks + 0.125)]))
        assert_array_equal(found[0], plain.labels_)
        assert_array_equal(found[1], plain.predict(X + 0.125))
    return listened


@pytest.fixture
def marked(scattered):
    """Rows with a column of one value, whose bytes can be looked for."""
    return np.column_stack([scattered, np.full(len(scattered), MARK)])


@pytest.mark.parametrize("encrypted", [True, False], ids=["tls", "plain"])
def test_with_tls_no_byte_of_the_rows_is_in_the_clear(encrypted, marked):
    if capture.why_not():
        pytest.skip(capture.why_not())
    with two_workers(Security.temporary() if encrypted else None) as client:
        assert client.scheduler.address.startswith("tls://" if encrypted else "tcp://")
        with capture.captured() as seen:
            listened = fit_and_predict(client, marked)
    assert seen.n_dropped == 0
    streams = seen.streams({port for _, port in listened})
    n_marks = sum(stream.count(MARK.tobytes()) for stream in streams.values())
    assert len(streams) > 10
    if encrypted:
        assert n_marks == 0
        # Connections that were open before go on with another kind of record.
        assert {stream[:1] for stream in streams.values()} <= TLS_RECORDS
        assert {stream[1:2] for stream in streams.values()} == {b"\x03"}
    else:
        # Without TLS the rows can be read, so this test would tell.
        assert n_marks > len(marked)


def test_nothing_listens_beyond_the_cluster(marked):
    for security in (Security.temporary(), None):
        with two_workers(security) as client:
            before = listening(client)
            listened = fit_and_predict(client, marked)
            assert {host for host, _ in listened} == {"127.0.0.1"}
            if security:
                assert listened == before


def test_plain_sockets_are_for_plain_clusters_alone():
    scheduler = "tcp://10.0.0.1:8786"
    assert plain_host("tcp://10.0.0.2:4000", scheduler) == "10.0.0.2"
    assert plain_host("tcp://[fe80::1]:4000", scheduler) == "fe80::1"
    assert plain_host("tcp://machine:4000", scheduler) == "machine"
    for worker, at in (
        ("tls://10.0.0.2:4000", "tls://10.0.0.1:8786"),
        ("tcp://10.0.0.2:4000", "tls://10.0.0.1:8786"),
        ("tls://10.0.0.2:4000", scheduler),
        ("inproc://10.0.0.2/1/1", scheduler),
        ("tcp://0.0.0.0:4000", scheduler),
        ("tcp://[::]:4000", scheduler),
    ):
        assert plain_host(worker, at) == ""
