"""Dask: the labels of a fit in one process, whatever the workers, the blocks, and their fate."""

from __future__ import annotations

import contextlib
import doctest
import gc
import os
import pickle
import signal
import socket
import threading
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal
from sklearn.base import clone

import pskclust
from pskclust import dask as pskclust_dask
from pskclust._cells.methods import draw_partition
from pskclust._dask import placement, transport
from pskclust._dask.data import Collection, DaskData
from pskclust._dask.engine import DaskEngine
from pskclust._dask.tasks import Tasks
from pskclust._dask.worker import WORKER_VERBS, Worker
from pskclust._engines.dense import DenseEngine
from pskclust._engines.protocol import VERBS
from pskclust._engines.sharded import Shard
from pskclust.dask import PSKC
from tests.helpers.engines import data_of
from tests.helpers.fits import FITTED
from tests.helpers.n_clusters import assert_exactly, fit_or_the_most_possible, generated
from tests.helpers.pages import ROOT, code_blocks

pytestmark = [
    pytest.mark.dask,
    # Of Dask's own making, when workers die or clusters close.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph"),
]

PARAMETERS = {"psi": 24, "tau": 0.05, "n_partitions": 30, "random_state": 0}
CHUNKINGS = [420, 97, (10, 0, 400, 1, 9), (3, 417)]


def local_cluster(n_workers, **options):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        **options,
    )


class TwoWorkers:
    """A cluster of two worker processes; another one if what a test did to it cannot be mended."""

    def __init__(self):
        self._resources = contextlib.ExitStack()
        self._client = None

    def client(self):
        if self._client is None or not self._are_two():
            self.close()
            cluster = self._resources.enter_context(local_cluster(2))
            self._client = self._resources.enter_context(Client(cluster))
        return self._client

    def close(self):
        self._resources.close()

    def _are_two(self):
        """Wait for a worker that was killed to be started again, or for one too many to leave."""
        for _ in range(100):
            if len(self._client.nthreads()) == len(self._client.cluster.workers) == 2:
                return True
            time.sleep(0.1)
        return False


@pytest.fixture(scope="module")
def two_workers():
    workers = TwoWorkers()
    yield workers
    workers.close()


@pytest.fixture
def client(two_workers):
    return two_workers.client()


CHOSEN = {"psi": "auto", "tau": "auto", "growth_rate": 0.1}


@pytest.fixture
def plain(scattered):
    return pskclust.PSKC(**PARAMETERS).fit(scattered)


def in_chunks(X, rows):
    """Return rows in blocks, and columns too, which is to be mended."""
    return da.from_array(X, chunks=(rows, 1))


def assert_same_fit(model, plain):
    assert model.engine_ == "dask"
    assert_array_equal(model.labels_.compute(), plain.labels_)
    assert_array_equal(model.similarities_.compute(), plain.similarities_)
    assert model.auto_ == plain.auto_
    if plain.auto_ is None:
        assert_array_equal(model.growth_step_.compute(), plain.growth_step_)
    else:
        assert model.growth_step_ is plain.growth_step_ is None
        assert_array_equal(model.confidences_.compute(), plain.confidences_)
    rows = {"labels_", "similarities_", "growth_step_", "probabilities_", "outlier_scores_"}
    for name in ("probabilities_", "outlier_scores_"):
        assert_array_equal(getattr(model, name).compute(), getattr(plain, name), err_msg=name)
    for layer in range(len(plain.layers_)):
        assert_array_equal(model.relabel(layer=layer).compute(), plain.relabel(layer=layer))
    for name in set(FITTED) - rows - {"engine_", "backend_"}:
        assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)


def assert_nothing_is_left(client):
    """Wait a little: workers are told to let go, and do it when they come to it.

    Less than the ten seconds for which a port is open that nobody comes to.
    """

    def left(dask_worker):
        sockets = psutil.Process().net_connections()
        ports = {one.laddr.port for one in sockets if one.status == psutil.CONN_LISTEN}
        threads = [one.name for one in threading.enumerate()]
        return (
            list(dask_worker.state.actors),
            ports - {dask_worker.port, dask_worker.http_server.port},
            [name for name in threads if name.startswith("pskclust wire")],
        )

    for _ in range(50):
        found = client.run(left)
        if not any(part for parts in found.values() for part in parts):
            return
        time.sleep(0.1)
    raise AssertionError(f"left on workers: {found}")


@pytest.mark.parametrize("chunks", CHUNKINGS, ids=str)
def test_labels_do_not_depend_on_blocks(chunks, client, scattered, plain):
    model = PSKC(**PARAMETERS).fit(in_chunks(scattered, chunks))
    assert_same_fit(model, plain)
    assert model.labels_.chunks[0] == in_chunks(scattered, chunks).chunks[0]
    assert model.labels_.dtype == np.int64


@pytest.mark.parametrize("n_workers", [1, 4])
def test_labels_do_not_depend_on_the_number_of_workers(n_workers, scattered, plain):
    with (
        local_cluster(n_workers) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        for chunks in CHUNKINGS:
            model = PSKC(**PARAMETERS, client=client).fit(in_chunks(scattered, chunks))
            found = client.gather(client.compute([model.labels_, model.similarities_]))
            assert_array_equal(found[0], plain.labels_)
            assert_array_equal(found[1], plain.similarities_)
            assert model.objective_ == plain.objective_


@pytest.mark.parametrize(
    "parameters",
    [
        {"refine": False},
        {"noise": "nearest", "min_cluster_size": 30},
        {"method": "tree"},
        {"method": "hypersphere", "metric": "cosine"},
        {"n_clusters": 3},
        CHOSEN,
        {**CHOSEN, "psi": 32},
        {**CHOSEN, "n_clusters": 3},
        {**CHOSEN, "noise": "nearest"},
    ],
    ids=str,
)
def test_every_way_to_cluster_is_the_same(parameters, client, scattered):
    both = {**PARAMETERS, **parameters}
    plain = pskclust.PSKC(**both).fit(scattered)
    assert_same_fit(PSKC(**both).fit(in_chunks(scattered, 97)), plain)


@pytest.mark.parametrize("seed", range(30))
def test_exactly_as_many_clusters_as_asked_for(seed, client):
    X, weights, parameters = generated(seed)
    blocks = da.from_array(X, chunks=(len(X) // 3 + 1, X.shape[1]))

    def fit(**parameters):
        return PSKC(random_state=0, **parameters).fit(blocks, sample_weight=weights)

    model, n_clusters = fit_or_the_most_possible(fit, parameters)
    assert model.engine_ == "dask"
    assert_exactly(n_clusters, model, model.labels_.compute(), weights)


@pytest.mark.parametrize("kind", ["whole", "fractions"])
@pytest.mark.parametrize("form", ["dask", "other chunks", "array", "series of unknown length"])
def test_weights_are_the_same(kind, form, client, scattered):
    rng = np.random.RandomState(0)
    weights = {
        "whole": rng.randint(0, 4, len(scattered)),
        "fractions": rng.uniform(0, 0.1, len(scattered)),
    }[kind]
    forms = {
        "dask": da.from_array(weights, chunks=97),
        "other chunks": da.from_array(weights, chunks=50),
        "array": weights,
        "series of unknown length": dd.from_pandas(pd.Series(weights), npartitions=3),
    }
    X = in_chunks(scattered, 97)
    if form.startswith("series"):
        X = dd.from_pandas(pd.DataFrame(scattered), npartitions=3).to_dask_array()
    model = PSKC(**PARAMETERS).fit(X, sample_weight=forms[form])
    assert_same_fit(model, pskclust.PSKC(**PARAMETERS).fit(scattered, sample_weight=weights))


@pytest.mark.numba
def test_compiled_kernels_and_float32_are_the_same(client, scattered):
    rng = np.random.RandomState(0)
    X = np.vstack([scattered + 0.1 * rng.randn(*scattered.shape) for _ in range(60)])
    X = X.astype(np.float32)
    plain = pskclust.PSKC(**PARAMETERS).fit(X)
    model = PSKC(**PARAMETERS).fit(da.from_array(X, chunks=(7000, 2)))
    assert model.backend_ == "numba"
    assert_same_fit(model, plain)


def test_dataframes_and_parquet_are_taken(client, scattered, plain, tmp_path):
    frame = pd.DataFrame(scattered, columns=["a", "b"])
    model = PSKC(**PARAMETERS).fit(dd.from_pandas(frame, npartitions=4))
    assert_same_fit(model, plain)
    assert list(model.feature_names_in_) == ["a", "b"]
    for number, rows in enumerate(np.array_split(scattered, 3)):
        table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    lazy = dd.read_parquet(tmp_path)
    assert_same_fit(PSKC(**PARAMETERS).fit(lazy), plain)
    swapped = dd.from_pandas(frame[["b", "a"]], npartitions=2)
    with pytest.raises(ValueError, match="columns of X are b, a, but those of the fit were a, b"):
        model.predict(swapped)
    with_text = dd.from_pandas(frame.assign(name="x"), npartitions=2)
    with pytest.raises(ValueError, match="Column 'name' of X does not hold numbers.*drop"):
        PSKC().fit(with_text)


def test_unknown_chunk_sizes_and_empty_blocks_work(client, scattered, plain):
    twice = np.vstack([scattered, np.full((50, 2), 1e6)])
    X = da.from_array(twice, chunks=(47, 2))
    X = X[X[:, 0] < 1e5]
    assert np.isnan(X.shape[0])
    model = PSKC(**PARAMETERS).fit(X)
    assert_same_fit(model, plain)
    assert model.labels_.chunks[0][-1] == 0
    assert_array_equal(model.predict(X).compute(), plain.predict(scattered))


def test_predict_and_similarity_are_lazy_and_the_same(client, scattered, plain):
    X = in_chunks(scattered, CHUNKINGS[2])
    model = PSKC(**PARAMETERS).fit(X)
    new = X + 0.1
    labels, similarities = model.predict(new), model.similarity(new)
    top, clusters = model.similarity(new, top_k=2)
    scores, shares = model.score_samples(new), model.membership(new)
    top_shares, foremost = model.membership(new, top_k=2)
    for lazy in (labels, similarities, top, clusters, scores, shares, top_shares, foremost):
        assert isinstance(lazy, da.Array)
        assert lazy.chunks[0] == X.chunks[0]
    assert_array_equal(labels.compute(), plain.predict(scattered + 0.1))
    assert_array_equal(similarities.compute(), plain.similarity(scattered + 0.1))
    assert_array_equal(model.transform(new).compute(), plain.transform(scattered + 0.1))
    expected = plain.similarity(scattered + 0.1, top_k=2)
    assert_array_equal(top.compute(), expected[0])
    assert_array_equal(clusters.compute(), expected[1])
    assert top.shape == expected[0].shape
    assert_array_equal(scores.compute(), plain.score_samples(scattered + 0.1))
    assert_array_equal(shares.compute(), plain.membership(scattered + 0.1))
    expected = plain.membership(scattered + 0.1, top_k=2)
    assert_array_equal(top_shares.compute(), expected[0])
    assert_array_equal(foremost.compute(), expected[1])
    # Arrays in this process are answered in this process.
    assert_array_equal(model.predict(scattered), plain.predict(scattered))
    assert_array_equal(model.similarity(scattered), plain.similarity(scattered))
    assert_array_equal(model.score_samples(scattered), plain.score_samples(scattered))
    assert_array_equal(model.membership(scattered), plain.membership(scattered))
    assert_array_equal(model.fit_predict(X).compute(), plain.labels_)


def test_a_local_copy_is_a_plain_model(client, scattered, plain, tmp_path):
    model = PSKC(**PARAMETERS).fit(in_chunks(scattered, 97))
    local = model.to_local()
    assert type(local) is pskclust.PSKC
    for name in set(FITTED) - {"engine_", "backend_"}:
        assert_array_equal(getattr(local, name), getattr(plain, name), err_msg=name)
    assert_array_equal(local.predict(scattered + 0.1), plain.predict(scattered + 0.1))
    without = model.to_local(rows=False)
    assert len(without.labels_) == 0
    assert_array_equal(without.cluster_sizes_, plain.cluster_sizes_)
    assert_array_equal(without.predict(scattered), plain.predict(scattered))
    model.save(tmp_path / "model.npz")
    assert_array_equal(pskclust.load(tmp_path / "model.npz").labels_, plain.labels_)


def test_it_is_an_estimator_as_others_are(client):
    model = PSKC(psi=16, tau=0.1, client=client, timeout=7)
    assert model.get_params() == {
        **pskclust.PSKC(psi=16, tau=0.1).get_params(),
        "client": client,
        "timeout": 7,
    }
    copy = clone(model)
    assert copy.client is client
    assert copy.get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).client is None
    assert "psi=16" in repr(model)


# Workers that die.


def die_at(verb, calls):
    """Have this worker kill itself when it is asked for the last of so many calls."""
    from pskclust._dask import placement, worker
    from pskclust._engines import sharded

    owners = {"encode_shard": placement}
    owners |= dict.fromkeys(("listen", "best_row", "results_of"), worker.Worker)
    owner = owners.get(verb, sharded.ShardedEngine)
    original = getattr(owner, verb)
    left = [calls]

    def die(*arguments, **options):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)

    setattr(owner, verb, die)


DEATHS = [
    ("encode_shard", 1),
    ("listen", 1),
    ("total", 1),
    ("best_row", 1),
    ("absorbed", 20),
    ("propose", 1),
    ("move", 1),
    ("results_of", 1),
]


@pytest.mark.parametrize(("verb", "calls"), DEATHS, ids=[verb for verb, _ in DEATHS])
def test_a_fit_survives_a_worker_that_is_killed(verb, calls, client, scattered, plain):
    X = in_chunks(scattered, 97)
    before = client.run(os.getpid)
    victim = sorted(before)[0]
    client.run(die_at, verb, calls, workers=[victim])
    weights = np.arange(len(scattered)) % 3
    model = PSKC(**PARAMETERS).fit(X, sample_weight=weights)
    assert not psutil.pid_exists(before[victim]) or victim not in client.run(os.getpid)
    expected = pskclust.PSKC(**PARAMETERS).fit(scattered, sample_weight=weights)
    assert_same_fit(model, expected)
    assert_nothing_is_left(client)


@contextlib.contextmanager
def dask_engine(client, X, weights, n_partitions=30):
    """An engine for rows on a cluster, and one for the same rows in this process."""
    tasks = Tasks(client, 60)
    data = DaskData(Collection.of(X), "euclidean", tasks)
    data.read(weights, n_partitions)
    local = data_of(X.compute(), weights, resolution=n_partitions)
    rng = np.random.RandomState(0)
    partition = draw_partition(local, "voronoi", n_partitions, 24, False, rng)
    engine = DaskEngine(data, partition, None, tasks)
    try:
        yield engine, DenseEngine(local, partition)
    finally:
        engine.close()
        data.release()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dying_at", [None, "tables", "best_members", "set_labels"])
def test_verbs_about_labels_answer_as_in_one_process(weighted, dying_at, client, scattered):
    if dying_at:
        # Before results are given out: those on a worker that is lost later are lost with it.
        client.run(die_at, dying_at, 1, workers=[sorted(client.nthreads())[0]])
    weights = np.arange(420) % 4 * 0.5 if weighted else None
    labels = np.arange(420) % 5 - 1
    some, others = np.array([0, 96, 97, 200, 419]), np.array([3, -1, 0, 1, 2])
    with dask_engine(client, in_chunks(scattered, 97), weights) as engines:
        heard = []
        for engine in engines:
            engine.set_labels(np.arange(420), labels)
            engine.remember_labels()
            engine.set_labels(some, others)
            first = engine.tables(4)
            best = engine.best_members(first)
            changed = engine.n_changed_labels()
            moved = engine.row_results(first)[0]
            engine.recall_labels()
            second = engine.tables(4)
            heard.append(
                [
                    *(table.counts.toarray() for table in (first, second)),
                    *(table.masses for table in (first, second)),
                    np.array(best),
                    np.array(engine.best_members(second)),
                    engine.weight_of_members(4),
                    changed,
                    np.asarray(moved),
                    np.asarray(engine.row_results(second)[0]),
                    np.asarray(engine.map_rows(numbered, moved)),
                ]
            )
    for found, expected in zip(*heard, strict=True):
        assert_array_equal(found, expected)


def numbered(values, first_row):
    return values * 1000 + first_row + np.arange(len(values))


def test_the_table_of_verbs_has_those_of_a_worker():
    own = {name for name in vars(Worker) if not name.startswith("_")}
    # These are called through Dask, not by a message.
    sent = own - {"listen", "run", "results_of"}
    assert set(WORKER_VERBS) - set(VERBS) == sent - set(VERBS)


def test_a_message_can_only_ask_for_verbs(scattered):
    data = data_of(scattered)
    partition = draw_partition(data, "voronoi", 5, 8, False, np.random.RandomState(0))
    worker = Worker([Shard(DenseEngine(data, partition), [range(420)])])
    status, error = worker.run(transport.pack([("listen", ())]))
    assert status == "error"
    assert "'listen' is not a verb" in str(error)


def test_nothing_stays_of_a_placement_that_was_lost(scattered, plain):
    """Workers that were to hold rows with one that died hold them once, and have no port open."""
    held = []

    def look(progress):
        if progress.stage == "grow" and not held:
            held.extend(client.run(lambda dask_worker: len(dask_worker.state.actors)).values())

    with local_cluster(3) as cluster, Client(cluster) as client:
        client.run(die_at, "listen", 1, workers=[sorted(client.nthreads())[1]])
        model = PSKC(**PARAMETERS, client=client, callback=look)
        assert_same_fit(model.fit(in_chunks(scattered, 50)), plain)
        assert_nothing_is_left(client)
    assert max(held) == 1


def test_a_worker_that_cannot_listen_is_asked_by_way_of_the_scheduler(client, scattered, plain):
    def refuse(*arguments, **options):
        raise OSError("Cannot assign requested address")

    def have(listen):
        from pskclust._dask import worker

        serve, worker.serve = worker.serve, listen
        return serve

    served = list(client.run(have, refuse).values())
    try:
        assert_same_fit(PSKC(**PARAMETERS).fit(in_chunks(scattered, 97)), plain)
    finally:
        client.run(have, served[0])


def test_a_fit_survives_a_restart_of_all_workers(client, scattered, plain):
    restarted = []

    def restart(progress):
        if progress.stage == "grow" and not restarted:
            restarted.append(True)
            client.restart(wait_for_workers=False)

    model = PSKC(**PARAMETERS, callback=restart).fit(in_chunks(scattered, 97))
    assert restarted
    assert_same_fit(model, plain)


def test_rows_that_cannot_be_made_again_are_said_to_be_lost(client, scattered):
    blocks = client.scatter([scattered[:200], scattered[200:]])
    X = da.concatenate(
        [
            da.from_delayed(block, (size, 2), dtype=float)
            for block, size in zip(blocks, (200, 220), strict=True)
        ]
    )

    restarts = []

    def restart(progress):
        if progress.stage == "grow" and not restarts:
            restarts.append(progress)
            client.restart(wait_for_workers=False)

    with pytest.raises(RuntimeError, match="Dask gave up reading X.*cannot be computed again"):
        PSKC(**PARAMETERS, callback=restart).fit(X)


def test_workers_that_are_lost_again_and_again_end_a_fit():
    lost = placement.Placement(None, None, None, None)
    for _ in range(20):
        lost.count_loss()
    with pytest.raises(RuntimeError, match="lost more than 20 times.*use more workers"):
        lost.count_loss()


def test_a_worker_that_joins_does_no_harm(client, scattered, plain):
    def join(progress):
        if progress.stage == "grow":
            client.cluster.scale(3)

    model = PSKC(**PARAMETERS, callback=join).fit(in_chunks(scattered, 97))
    assert_same_fit(model, plain)
    client.cluster.scale(2)


def sleep_at(verb, seconds):
    from pskclust._engines import sharded

    original = getattr(sharded.ShardedEngine, verb)

    def sleep(*arguments, **options):
        time.sleep(seconds)
        setattr(sharded.ShardedEngine, verb, original)
        return original(*arguments, **options)

    setattr(sharded.ShardedEngine, verb, sleep)


def test_a_worker_that_does_not_answer_is_named(client, scattered):
    client.run(sleep_at, "absorbed", 5)
    with pytest.raises(TimeoutError, match=r"Worker tcp://.* did not answer for 3 seconds"):
        PSKC(**PARAMETERS, timeout=3).fit(in_chunks(scattered, 97))
    assert_nothing_is_left(client)


def test_without_workers_a_fit_ends(scattered):
    with (
        local_cluster(0) as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(
            TimeoutError, match="For 0.3 seconds no result arrived while reading the blocks"
        ),
    ):
        PSKC(client=client, timeout=0.3).fit(in_chunks(scattered, 97))


def test_a_scheduler_that_is_lost_ends_the_fit(scattered):
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False, timeout=1) as client,
    ):

        def close(progress):
            if progress.stage == "grow":
                cluster.close()

        model = PSKC(**PARAMETERS, client=client, timeout=2, callback=close)
        with pytest.raises((RuntimeError, TimeoutError), match="Dask|seconds"):
            model.fit(in_chunks(scattered, 97))


def test_rounds_may_go_by_way_of_the_scheduler(client, scattered, plain, monkeypatch):
    """As they do where workers cannot be reached, or must be encrypted."""

    def out_of_reach(host, port, *arguments):
        # Else the port is open for ten seconds more, into the next test.
        socket.create_connection((host, port)).close()
        raise OSError("no route to host")

    monkeypatch.setattr(placement, "SocketConnection", out_of_reach)
    client.run(die_at, "absorbed", 30, workers=[sorted(client.nthreads())[0]])
    assert_same_fit(PSKC(**PARAMETERS).fit(in_chunks(scattered, 97)), plain)


@pytest.mark.parametrize("ending", [InterruptedError, KeyboardInterrupt, None])
@pytest.mark.parametrize("stage", ["encode", "grow"])
def test_nothing_stays_on_the_workers(ending, stage, client, scattered):
    def end(progress):
        if ending and progress.stage == stage:
            raise ending

    def keys():
        gc.collect()  # what earlier tests left behind, in circles
        return {key for some in client.has_what().values() for key in some}

    before = keys()
    model = PSKC(**PARAMETERS, callback=end)
    if ending:
        with pytest.raises(ending):
            model.fit(in_chunks(scattered, 97))
        assert not hasattr(model, "_fitted")
    else:
        model.fit(in_chunks(scattered, 97))
    assert_nothing_is_left(client)
    del model
    for _ in range(100):
        if keys() <= before:
            break
        time.sleep(0.1)
    assert keys() <= before


# What is refused.


def test_a_bad_value_is_named_by_its_row_among_all(client, scattered):
    X = scattered.copy()
    X[357, 1] = np.inf
    with pytest.raises(ValueError, match=r"X\[357, 1\] is inf"):
        PSKC().fit(in_chunks(X, 97))
    X[357] = 0
    with pytest.raises(ValueError, match="Row 357 of X is all zeros"):
        PSKC(metric="cosine").fit(in_chunks(X, 97))
    X[357] = 1e200
    with pytest.raises(ValueError, match="squared distances overflow"):
        PSKC().fit(in_chunks(X, 97))


def test_bad_weights_are_named(client, scattered):
    X, weights = in_chunks(scattered, 97), np.ones(len(scattered))
    weights[300] = -1
    with pytest.raises(ValueError, match=r"sample_weight\[300\] is -1.0"):
        PSKC().fit(X, sample_weight=da.from_array(weights, chunks=97))
    with pytest.raises(ValueError, match=r"sample_weight has shape \(5,\).*X has 420 rows"):
        PSKC().fit(X, sample_weight=da.ones(5))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        PSKC().fit(X, sample_weight=da.zeros(420))
    alone = np.zeros(420)
    alone[7] = 1
    with pytest.raises(ValueError, match="sample_weight leaves only 1 sample"):
        PSKC().fit(X, sample_weight=alone)


def test_what_is_not_for_clusters_is_refused(client, scattered, tmp_path):
    X = in_chunks(scattered, 97)
    for name in ("scratch_dir", "checkpoint"):
        with pytest.raises(ValueError, match=f"{name} does not apply to Dask"):
            PSKC(**{name: tmp_path}).fit(X)
    with pytest.raises(TypeError, match="X is of type ndarray, not a Dask array or dataframe"):
        PSKC().fit(scattered)
    with pytest.raises(TypeError, match="X is a dask collection .* pskclust.dask.PSKC"):
        pskclust.PSKC().fit(X)
    with pytest.raises(ValueError, match=r"X has 1 dimension\(s\)"):
        PSKC().fit(X[:, 0])
    with pytest.raises(ValueError, match=r"X has 1 sample\(s\)"):
        PSKC().fit(X[:1])
    with pytest.raises(ValueError, match="timeout=-1 is not allowed"):
        PSKC(timeout=-1).fit(X)
    with pytest.raises(ValueError, match=r"psi=600 is more than the \d+ rows that the choice"):
        PSKC(psi=600).fit(X)


def test_without_a_client_the_way_to_one_is_named(scattered, monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr(pskclust_dask.distributed, "get_client", none)
    with pytest.raises(ValueError, match="There is no Dask client. Start one with"):
        PSKC().fit(in_chunks(scattered, 97))


def test_the_code_in_the_docs_runs():
    names = {}
    for block in code_blocks(ROOT / "docs/dask.md"):
        exec(block, names)
    assert names["local"].n_clusters_ == names["model"].n_clusters_
    assert doctest.testmod(pskclust_dask).failed == 0


def test_a_stranger_cannot_give_commands():
    asked = []
    port = transport.serve("127.0.0.1", b"k" * 32, lambda commands: asked.append(commands))
    connection = transport.SocketConnection("127.0.0.1", port, b"x" * 32, timeout=5)
    try:
        with pytest.raises(ConnectionError):
            connection.receive()
    finally:
        connection.close()
    assert not asked


def test_without_dask_the_way_to_it_is_named(monkeypatch):
    import importlib
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "pskclust\[dask\]"'):
        importlib.reload(pskclust_dask)
    monkeypatch.undo()
    importlib.reload(pskclust_dask)
