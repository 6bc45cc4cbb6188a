"""Cells found on a device of PyTorch are those of NumPy, and so are labels."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import pskclust
from pskclust import PSKC, IsolationKernel, RowBlocks
from pskclust._cells.methods import draw_partition
from pskclust._cells.on_device import on_device
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._engines.select import cells_of_rows
from pskclust._utils.torch_device import open_device
from tests.helpers.cli import Commands
from tests.helpers.devices import needs_torch
from tests.helpers.hard_rows import KINDS, SCALES, hard_rows
from tests.helpers.shapes import three_blobs

RNG = np.random.RandomState
N_GROUPS, SETS_PER_GROUP = 20, 50
MODES = {"grown": {"psi": 16, "tau": 0.05}, "chosen": {}}


def generated_set(number):
    """Return rows in 1 to 800 columns, a metric and psi."""
    rng = RNG(number)
    # Few columns are where cells are small, many are where sums are long: as many sets of both.
    n_columns = int(np.exp(rng.uniform(0, np.log(800.99))))
    n_rows = rng.randint(2, 300)
    metric = rng.choice(["euclidean"] * 8 + ["cosine", "haversine"])
    X = hard_rows(KINDS[number % len(KINDS)], n_rows, n_columns, rng)
    if metric == "haversine":
        X = rng.randint(-80, 80, (n_rows, 2)) + rng.choice([0.0, 1e-13], (n_rows, 2))
    elif metric == "cosine":
        X[~X.any(axis=1)] = 1.0
    else:
        X = X * rng.choice(SCALES)
    if rng.rand() < 0.3 and np.abs(X).max() < 1e30:
        X = X.astype(np.float32)
        X[~X.any(axis=1)] = 1.0
    return X, metric, rng.randint(2, 150)


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("group", range(N_GROUPS))
def test_cells_are_those_of_numpy(group):
    for number in range(group * SETS_PER_GROUP, (group + 1) * SETS_PER_GROUP):
        X, metric, psi = generated_set(number)
        data = Data(X, metric, uniform_weights(len(X)))
        partition = draw_partition(data, "voronoi", 4, psi, psi > len(X), RNG(number))
        expected = Partition.cells(partition, data.points())
        device = on_device(partition, "cpu")
        assert_array_equal(partition.cells(data.points()), expected)
        assert_array_equal(cells_of_rows(data, device, 1 + number % 2), expected)


@needs_torch
@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("group", range(N_GROUPS))
def test_cells_in_blocks_are_those_of_numpy(group):
    block_rows = importlib.import_module("pskclust._cells.neighbour_blocks").block_rows
    for number in range(group * SETS_PER_GROUP, (group + 1) * SETS_PER_GROUP):
        X, metric, psi = generated_set(number)
        if float(np.abs(X).max()) >= 1e100:  # rows are put in order by their squares
            continue
        data = Data(X, metric, uniform_weights(len(X)))
        partition = draw_partition(data, "voronoi", 4, psi, psi > len(X), RNG(number))
        expected = Partition.cells(partition, data.points())
        rows = block_rows(data, on_device(partition, "cpu"), 1 + number % 2)
        assert_array_equal(rows.cells_by_row(), expected)


@needs_torch
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "haversine"])
def test_labels_are_the_same(mode, metric, scattered):
    parameters = {**MODES[mode], "metric": metric, "random_state": 0}
    X = scattered + 5
    here, there = (PSKC(**parameters, device=device).fit(X) for device in (None, "cpu"))
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(there.similarities_, here.similarities_)
    new = X + 0.01
    assert_array_equal(there.predict(new), here.predict(new))
    assert_array_equal(there.transform(new), here.transform(new))


@needs_torch
@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [2, 12, 40])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_labels_of_many_rows_are_the_same(n_columns, n_jobs, tmp_path):
    X = np.vstack([RNG(0).randn(4_000, n_columns) + 6 * shift for shift in range(3)])
    parameters = {"psi": 16, "tau": 0.05, "random_state": 0, "n_jobs": n_jobs}
    here = PSKC(**parameters).fit(X)
    there = PSKC(**parameters, device="cpu").fit(X)
    assert (here.backend_, there.backend_) == ("numba", "numba")
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(there.predict(X + 0.1), here.predict(X + 0.1))
    by_blocks = PSKC(**parameters, device="cpu", scratch_dir=tmp_path)
    assert_array_equal(by_blocks.fit(RowBlocks.from_array(X)).labels_, here.labels_)
    kernel = IsolationKernel(psi=16, random_state=0, n_jobs=n_jobs).fit(X)
    cells = kernel.cells(X)
    assert_array_equal(kernel.set_params(device="cpu").cells(X), cells)


@needs_torch
def test_a_program_that_casts_products_automatically_gets_the_same_cells():
    import torch

    X = RNG(0).randn(400, 30)
    kernel = IsolationKernel(psi=32, random_state=0).fit(X)
    expected = kernel.cells(X)
    kernel.set_params(device="cpu")
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    torch.set_default_dtype(torch.float64)
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert_array_equal(kernel.cells(X), expected)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_float32_matmul_precision(precision)


@needs_torch
def test_a_device_that_pytorch_does_not_have_is_named():
    for make in (PSKC, IsolationKernel):
        with pytest.raises(ValueError, match="device='nonsense' is not available in PyTorch"):
            make(device="nonsense").fit(three_blobs())
    # Values are all that it does not have.
    with pytest.raises(ValueError, match="device='meta' is not available in PyTorch"):
        PSKC(device="meta").fit(three_blobs())


@needs_torch
def test_the_command_line_finds_the_same_labels(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = Commands(capsys)
    np.savetxt("rows.csv", three_blobs(), delimiter=",", header="x,y", comments="")
    device, fast = ("--device", "cpu"), ("--psi", "16", "--tau", "0.05")
    command.ok("fit", "rows.csv", *fast, "-o", "here.csv", "--model", "model.npz")
    out = command.ok("fit", "rows.csv", *fast, *device, "-o", "there.csv")
    assert "--device" not in out
    command.ok("predict", "model.npz", "rows.csv", *device, "-o", "new.csv")
    assert Path("there.csv").read_text() == Path("here.csv").read_text()
    labels = np.loadtxt("here.csv", delimiter=",", skiprows=1)[:, 0]
    assert_array_equal(np.loadtxt("new.csv", delimiter=",", skiprows=1, ndmin=2)[:, 0], labels)


@needs_torch
@pytest.mark.dask
def test_workers_have_devices():
    import dask.array as da
    import distributed

    from pskclust import dask

    X = three_blobs()
    parameters = {"psi": 16, "tau": 0.05, "random_state": 0}
    here = PSKC(**parameters).fit(X)
    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}  # any port that is free
    with distributed.Client(n_workers=2, threads_per_worker=1, **where):
        rows = da.from_array(X, chunks=(70, -1))
        there = dask.PSKC(**parameters, device="cpu").fit(rows)
        assert_array_equal(there.labels_.compute(), here.labels_)
        assert_array_equal(there.predict(rows).compute(), here.predict(X))
        with pytest.raises(ValueError, match="device='nonsense' is not available in PyTorch"):
            dask.PSKC(**parameters, device="nonsense").fit(rows)


@pytest.fixture
def without_torch(monkeypatch):
    """PyTorch cannot be imported, whether it is there or not."""
    import_module = importlib.import_module

    def refuse_torch(name):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")
        return import_module(name)

    monkeypatch.setattr(importlib, "import_module", refuse_torch)
    open_device.cache_clear()
    yield
    open_device.cache_clear()


@pytest.mark.parametrize("make", [PSKC, IsolationKernel])
def test_pytorch_that_is_missing_is_asked_for(make, without_torch):
    message = "device='cuda' needs torch. Install it with: pip install \"pskclust\\[torch\\]\""
    with pytest.raises(ImportError, match=message):
        make(device="cuda").fit(three_blobs())
    model = make(random_state=0).fit(three_blobs()).set_params(device="cuda")
    with pytest.raises(ImportError, match=message):
        model.transform(three_blobs())


@pytest.mark.parametrize("make", [PSKC, IsolationKernel])
@pytest.mark.parametrize("method", ["hypersphere", "tree"])
def test_a_method_without_products_refuses_a_device(make, method):
    message = f"device='cpu' works with .* not with method='{method}'. Use method='voronoi', or"
    with pytest.raises(ValueError, match=message):
        make(method=method, device="cpu").fit(three_blobs())
    model = make(method=method, random_state=0).fit(three_blobs()).set_params(device="cpu")
    with pytest.raises(ValueError, match=message):
        model.transform(three_blobs())


@pytest.mark.parametrize("make", [PSKC, IsolationKernel])
@pytest.mark.parametrize("device", [0, "", True, b"cuda"])
def test_a_device_is_a_name(make, device):
    with pytest.raises(ValueError, match="device=.* is not allowed. Use the name of a PyTorch"):
        make(device=device).fit(three_blobs())
    model = make(random_state=0).fit(three_blobs()).set_params(device=device)
    with pytest.raises(ValueError, match="device=.* is not allowed. Use the name of a PyTorch"):
        model.transform(three_blobs())


def test_a_device_is_a_parameter_like_others():
    model = PSKC(device="cuda:1")
    assert clone(model).get_params()["device"] == "cuda:1"
    assert clone(IsolationKernel(device="mps")).get_params()["device"] == "mps"
    assert PSKC().device is None
    assert "device" not in repr(PSKC())


def test_a_model_file_does_not_name_a_device(tmp_path):
    model = PSKC(random_state=0).fit(three_blobs()).set_params(device="cuda")
    model.save(tmp_path / "model.npz")
    loaded = pskclust.load(tmp_path / "model.npz")
    assert loaded.device is None
    assert_array_equal(loaded.predict(three_blobs()), model.labels_)


def test_a_pickle_keeps_its_device_and_predicts_without_once_that_is_unset():
    model = PSKC(random_state=0).fit(three_blobs()).set_params(device="cuda:9")
    copy = pickle.loads(pickle.dumps(model))
    assert copy.device == "cuda:9"
    assert_array_equal(copy.set_params(device=None).predict(three_blobs()), model.labels_)
