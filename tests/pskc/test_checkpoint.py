"""A fit that was stopped goes on from the last cluster, with the labels of one that was not."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from pskclust import PSKC, CheckpointError
from tests.helpers.row_blocks import assert_same_but_for_the_engine, in_blocks, shards_of

PARAMETERS = {"psi": 64, "tau": 0.05, "random_state": 0}
N_KILLS = 20


@pytest.fixture
def many_blobs():
    return make_blobs(1200, centers=20, cluster_std=0.4, random_state=0)[0]


def stop_at_cluster(number):
    """Return a callback that ends a fit in the midst of growing a cluster."""

    def stop(progress):
        if progress.stage == "grow" and progress.n_clusters > number:
            raise KeyboardInterrupt

    return stop


def interrupt(X, folder, number, **parameters):
    model = PSKC(
        **{**PARAMETERS, **parameters}, checkpoint=folder, callback=stop_at_cluster(number)
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)


@pytest.mark.parametrize("n_finished", [0, 1, 7])
def test_a_fit_goes_on_from_the_last_cluster(n_finished, many_blobs, tmp_path):
    folder = tmp_path / "checkpoint"
    plain = PSKC(**PARAMETERS).fit(many_blobs)
    interrupt(many_blobs, folder, n_finished)
    assert len(list(folder.glob("cluster-*.npz"))) == n_finished
    heard = []
    with shards_of(300):
        model = PSKC(**PARAMETERS, checkpoint=folder, callback=heard.append).fit(many_blobs)
    assert_same_but_for_the_engine(model, plain)
    grown = [progress.n_clusters for progress in heard if progress.stage == "grow"]
    assert grown[0] == n_finished + 1
    assert not folder.exists()


@pytest.mark.numba
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_weights_and_compiled_kernels_go_on_too(weights, tmp_path):
    X = make_blobs(6000, centers=8, random_state=0)[0]
    rng = np.random.RandomState(0)
    choices = {"whole": rng.randint(0, 3, len(X)), "fractions": rng.uniform(0, 2, len(X))}
    sample_weight = choices.get(weights)
    plain = PSKC(**PARAMETERS).fit(X, sample_weight=sample_weight)
    stopped = PSKC(**PARAMETERS, checkpoint=tmp_path, callback=stop_at_cluster(2))
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, sample_weight=sample_weight)
    model = PSKC(**PARAMETERS, checkpoint=tmp_path).fit(X, sample_weight=sample_weight)
    assert model.backend_ == "numba"
    assert_same_but_for_the_engine(model, plain)
    assert not tmp_path.exists()


def test_a_fit_without_a_seed_goes_on_with_the_same_centres(many_blobs, tmp_path):
    interrupt(many_blobs, tmp_path, 3, random_state=None)
    drawn = np.load(tmp_path / "partition.npz")["points"]
    model = PSKC(**{**PARAMETERS, "random_state": None}, checkpoint=tmp_path).fit(many_blobs)
    assert_array_equal(model.kernel_._partition.points, drawn)


def test_a_checkpoint_of_other_data_is_refused(many_blobs, tmp_path):
    interrupt(many_blobs, tmp_path, 2)
    other = many_blobs.copy()
    other[1134, 1] += 1e-9
    with pytest.raises(CheckpointError, match="belongs to a fit of other data. Remove the folder"):
        PSKC(**PARAMETERS, checkpoint=tmp_path).fit(other)
    with pytest.raises(CheckpointError, match="of other data"):
        PSKC(**PARAMETERS, checkpoint=tmp_path).fit(many_blobs, sample_weight=np.full(1200, 2))
    # However the same rows are cut up, they are the same.
    PSKC(**PARAMETERS, checkpoint=tmp_path).fit(in_blocks(many_blobs, [17, 900]))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"tau": 0.06}, "with tau=0.05, not 0.06"),
        ({"psi": 63}, "with psi=64, not 63"),
        ({"random_state": 1}, "with random_state=0, not 1"),
        ({"growth_rate": 0.2}, "with growth_rate=0.1, not 0.2"),
        ({"method": "tree"}, "with method='voronoi', not 'tree'"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(other, message, many_blobs, tmp_path):
    interrupt(many_blobs, tmp_path, 2)
    with pytest.raises(CheckpointError, match=message):
        PSKC(**{**PARAMETERS, **other}, checkpoint=tmp_path).fit(many_blobs)


def test_a_damaged_checkpoint_is_refused(many_blobs, tmp_path):
    interrupt(many_blobs, tmp_path, 2)
    first = tmp_path / "cluster-000000.npz"
    first.write_bytes(first.read_bytes()[:-30])
    with pytest.raises(CheckpointError, match="damaged: cluster-000000.npz cannot be read"):
        PSKC(**PARAMETERS, checkpoint=tmp_path).fit(many_blobs)
    (tmp_path / "fit.json").write_text("{")
    with pytest.raises(CheckpointError, match="damaged: fit.json cannot be read"):
        PSKC(**PARAMETERS, checkpoint=tmp_path).fit(many_blobs)


def test_files_of_others_stay_in_the_folder(many_blobs, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    PSKC(**PARAMETERS, checkpoint=tmp_path).fit(many_blobs)
    assert os.listdir(tmp_path) == ["notes.txt"]


def fit_and_die(rows, folders, seconds):
    """Fit until so many seconds of processor time are over, and die there and then."""
    # What is loaded with the first fit is not what is to be interrupted.
    PSKC(**PARAMETERS, scratch_dir=folders["scratch_dir"]).fit(rows)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    PSKC(**PARAMETERS, **folders).fit(rows)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timers")
def test_a_fit_that_is_killed_at_any_moment_goes_on_with_the_same_labels(
    many_blobs, tmp_path, monkeypatch
):
    processes = multiprocessing.get_context("forkserver")
    # The server looks for what it loads there, and loads nothing if it does not find it.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    processes.set_forkserver_preload([__name__])
    rng = np.random.RandomState(0)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    folders = {"checkpoint": tmp_path / "checkpoint", "scratch_dir": scratch}
    expected = PSKC(**PARAMETERS).fit(many_blobs).labels_
    assert_array_equal(PSKC(**PARAMETERS, **folders).fit(many_blobs).labels_, expected)
    started = time.process_time()
    PSKC(**PARAMETERS, **folders).fit(many_blobs)
    whole = time.process_time() - started
    n_killed, found = 0, []
    while n_killed < N_KILLS:
        moment = rng.uniform(0.001, whole)
        process = processes.Process(target=fit_and_die, args=(many_blobs, folders, moment))
        process.start()
        process.join()
        assert process.exitcode in (0, -signal.SIGVTALRM)
        # Now and then one is done before its time.
        n_killed += process.exitcode != 0
        found.append(len(list(tmp_path.glob("checkpoint/cluster-*.npz"))))
        model = PSKC(**PARAMETERS, **folders).fit(many_blobs)
        assert_array_equal(model.labels_, expected)
        assert not folders["checkpoint"].exists()
        assert not os.listdir(scratch)
    # Some were killed early, some late.
    assert len(set(found)) > 5
