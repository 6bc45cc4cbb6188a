"""Products on a device, with a stand-in for PyTorch that rounds badly: cells equal to the bit."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust._cells import device_screen
from pskclust._cells.methods import draw_partition
from pskclust._cells.on_device import DevicePartition, on_device
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._utils.torch_device import full_precision, open_device
from tests.helpers.fake_torch import FakeTorch
from tests.helpers.hard_rows import KINDS, SCALES, hard_rows

RNG = np.random.RandomState


@pytest.fixture
def torch():
    """The stand-in in the place of PyTorch, for the time of a test."""
    with in_place_of_torch(FakeTorch()) as fake:
        yield fake


class in_place_of_torch:  # noqa: N801
    def __init__(self, fake):
        self.fake, self.patch = fake, pytest.MonkeyPatch()

    def __enter__(self):
        open_device.cache_clear()
        self.patch.setitem(sys.modules, "torch", self.fake)
        return self.fake

    def __exit__(self, *error):
        self.patch.undo()
        open_device.cache_clear()


def partition_of(X, psi, n_partitions=4, seed=0, replace=True):
    data = Data(X, "euclidean", uniform_weights(len(X)))
    return draw_partition(data, "voronoi", n_partitions, psi, replace, RNG(seed))


def assert_cells_are_exact(X, partition, device="fake"):
    points = np.asarray(X, dtype=np.float64)
    expected = Partition.cells(partition, points)
    assert_array_equal(on_device(partition, device).cells(points), expected)


def worst(terms):
    """Return errors as large as float32 allows a sum of few terms, of either sign."""
    return RNG(0).choice([-1, 1], terms.shape) * 4 * 2.0**-24 * terms


@settings(max_examples=300)
@given(
    kind=st.sampled_from(KINDS),
    n_rows=st.integers(2, 150),
    n_columns=st.integers(1, 48),
    psi=st.integers(2, 60),
    scale=st.sampled_from(SCALES),
    has_float64=st.booleans(),
    rounds_badly=st.booleans(),
    device=st.sampled_from(["cpu", "fake"]),
    seed=st.integers(0, 2**16),
)
def test_cells_are_those_of_plain_distances(
    kind, n_rows, n_columns, psi, scale, has_float64, rounds_badly, device, seed
):
    X = hard_rows(kind, n_rows, n_columns, RNG(seed)) * scale
    # In float64 nothing is added: a product there is as exact as the stand-in's.
    error = worst if rounds_badly and 1e-12 < scale < 1e12 and kind != "one far" else None
    with in_place_of_torch(FakeTorch(has_float64=has_float64, error=error)):
        assert_cells_are_exact(X, partition_of(X, psi, seed=seed), device)


def test_a_product_decides_where_it_can(torch):
    X = RNG(0).randn(500, 6)
    screen = on_device(partition_of(X, 20, replace=False), "fake")._device_screen
    n_settled = []
    settle = screen._settle
    screen._settle = lambda points, candidates, cells: (
        n_settled.append(len(candidates.rows)),
        settle(points, candidates, cells),
    )
    cells = np.empty((500, 4), dtype=np.uint8)
    screen.find_cells(X, cells)
    assert sum(n_settled) < 0.01 * cells.size
    assert torch.n_products == 2  # that of the probe, and that of the rows


def test_rows_beyond_float32_are_settled_by_the_host_if_there_is_no_float64():
    X = RNG(0).randn(50, 3) * 1e30
    with in_place_of_torch(FakeTorch(has_float64=False)) as fake:
        assert_cells_are_exact(X, partition_of(X, 10))
        assert fake.n_products == 1  # that of the probe
    with in_place_of_torch(FakeTorch(has_float64=True)) as fake:
        assert_cells_are_exact(X, partition_of(X, 10))
        assert fake.n_products == 2


def test_new_rows_far_away_are_settled_by_the_host(torch):
    X = RNG(0).randn(80, 5)
    new = np.vstack([X, X * 1e25, X * 1e-160])
    assert_cells_are_exact(new, partition_of(X, 16))


@pytest.mark.parametrize("limit", ["_MAX_WAITING", "_BOUNDS", "_COMPARED", "_NUMBERS_TO_SETTLE"])
def test_cells_do_not_depend_on_how_work_is_cut_up(torch, monkeypatch, limit):
    monkeypatch.setattr(device_screen, limit, 64)
    for kind in ("ties", "floats", "constant"):
        X = hard_rows(kind, 90, 3, RNG(1))
        assert_cells_are_exact(X, partition_of(X, 12))


def test_memory_on_the_device_is_bounded(torch, monkeypatch):
    monkeypatch.setattr(device_screen, "_BOUNDS", 1 << 14)
    X = RNG(0).randn(200, 2)
    partition = on_device(partition_of(X, 20), "fake")
    assert partition.chunk_rows * len(partition.points) <= device_screen._BOUNDS
    largest = []
    empty = torch.empty
    torch.empty = lambda shape, **how: (largest.append(np.prod(shape)), empty(shape, **how))[1]
    partition.cells(np.repeat(X, 3, axis=0))
    assert len(largest) > 1
    assert max(largest) <= device_screen._BOUNDS


def test_threads_get_the_same_cells(torch):
    X = hard_rows("near ties", 200, 4, RNG(0))
    partition = on_device(partition_of(X, 20), "fake")
    expected, found = Partition.cells(partition, X), {}
    threads = [
        threading.Thread(target=lambda number=number: found.update({number: partition.cells(X)}))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cells in found.values():
        assert_array_equal(cells, expected)


@pytest.mark.parametrize("precision", ["none", "ieee", "tf32", "bf16"])
def test_products_are_in_full_float32_and_the_setting_stays_as_it_was(precision):
    with in_place_of_torch(FakeTorch(precision=precision)) as fake:
        X = RNG(0).randn(50, 5)
        assert_cells_are_exact(X, partition_of(X, 8))
        assert fake.seen <= {"none", "ieee"}
        assert fake.products.fp32_precision == precision


@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_older_versions_are_set_in_their_way(precision):
    with in_place_of_torch(FakeTorch(is_old=True, precision=precision)) as fake:
        X = RNG(0).randn(50, 5)
        assert_cells_are_exact(X, partition_of(X, 8))
        assert fake.seen == {"highest"}
        assert fake.precision == precision


def test_a_setting_of_all_products_is_not_copied_to_one_kind():
    class Inheriting(SimpleNamespace):
        """Shows the setting of all where it has none."""

        def __setattr__(self, name, value):
            self.__dict__["own"] = value

        @property
        def fp32_precision(self):
            return "tf32" if self.own == "none" else self.own

    with in_place_of_torch(FakeTorch()) as fake:
        fake.backends.cuda.matmul = fake.products = Inheriting()
        fake.products.fp32_precision = "none"
        with full_precision(open_device("fake")):
            assert fake.products.fp32_precision == "ieee"
        assert fake.products.own == "none"


def test_a_device_that_rounds_worse_than_float32_is_refused():
    refused = pytest.raises(RuntimeError, match="device='fake' multiplies with less precision")
    with in_place_of_torch(FakeTorch(error=lambda terms: terms * 2.0**-11)), refused:
        open_device("fake")


def test_a_device_that_is_not_there_is_named_with_those_that_are(torch):
    with pytest.raises(ValueError, match="device='cuda:7' is not available in PyTorch") as found:
        open_device("cuda:7")
    ways_out = "Use one of 'cpu', 'cuda:0', 'cuda:1', 'mps', or leave device out."
    assert str(found.value).endswith(ways_out)


def test_centres_stay_on_the_device_as_long_as_their_partition(torch):
    X = RNG(0).randn(30, 2)
    partition = partition_of(X, 5)
    assert on_device(partition, "fake") is on_device(partition, "fake")
    assert on_device(partition, "cpu") is not on_device(partition, "fake")
    assert on_device(partition, None) is partition
    assert isinstance(on_device(partition, "fake"), DevicePartition)
