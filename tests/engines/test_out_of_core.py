"""Rows that are read block by block: the same fit, from wherever they come."""

from __future__ import annotations

import contextlib
import os
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust import PSKC, InsufficientDiskError, InsufficientMemoryError, Progress, RowBlocks
from pskclust._data.streamed import StreamedRows
from pskclust._engines import disk_arrays, out_of_core
from pskclust._engines.disk_arrays import DiskArrays
from pskclust._engines.out_of_core import out_of_core_engine
from pskclust.tables import stream_table
from tests.helpers.cases import cases
from tests.helpers.compiled import marked
from tests.helpers.engines import assert_result_of, clustered
from tests.helpers.fits import fitted
from tests.helpers.row_blocks import assert_same_but_for_the_engine, in_blocks, shards_of

PARAMETERS = {"psi": 32, "tau": 0.05, "random_state": 0}


@contextlib.contextmanager
def no_memory_for_cells():
    with mock.patch.object(out_of_core, "available_bytes", return_value=0):
        yield


def streamed(case, cuts):
    blocks = in_blocks(case.X, cuts)
    return StreamedRows(blocks, "euclidean", case.data.weights)


@pytest.mark.parametrize("backend", marked("numpy", "numba"))
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=40)
@given(data=st.data())
def test_labels_do_not_depend_on_how_rows_are_cut_up(backend, weighted, data):
    case = data.draw(cases(weighted=weighted))
    cuts = data.draw(st.lists(st.integers(0, len(case.X)), max_size=4))
    plain = fitted(case)
    engine = out_of_core_engine(
        streamed(case, cuts),
        case.partition,
        case.parameters["n_jobs"],
        None,
        backend=backend,
        shard_rows=data.draw(st.integers(1, len(case.X))),
    )
    assert engine.backend == backend
    assert_result_of(plain, clustered(engine, case.parameters))
    assert_array_equal(plain.predict(in_blocks(case.X, cuts)), plain.predict(case.X))


@pytest.mark.parametrize("backend", marked("numpy", "numba"))
@settings(max_examples=20)
@given(data=st.data())
def test_cells_on_disk_give_the_same_fit(backend, data, tmp_path_factory):
    case = data.draw(cases())
    folder = tmp_path_factory.mktemp("scratch")
    engine = out_of_core_engine(
        streamed(case, []),
        case.partition,
        case.parameters["n_jobs"],
        folder,
        backend=backend,
        shard_rows=data.draw(st.integers(1, len(case.X))),
        on_disk=True,
    )
    assert_result_of(fitted(case), clustered(engine, case.parameters))
    assert not os.listdir(folder)


@pytest.fixture
def many_rows(scattered):
    """Enough rows for compiled kernels, in float32."""
    rng = np.random.RandomState(1)
    return np.vstack([scattered + 0.05 * rng.randn(*scattered.shape) for _ in range(15)]).astype(
        np.float32
    )


def a_parquet_file(X, folder):
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), folder / "X.parquet", row_group_size=700)
    return folder / "X.parquet"


def a_parquet_folder(X, folder):
    for number, rows in enumerate(np.array_split(X, 3)):
        table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
        pq.write_table(table, folder / f"part-{number}.parquet")
    return str(folder)


def an_npy_file(X, folder):
    np.save(folder / "X.npy", X)
    return folder / "X.npy"


def a_zarr_array(X, folder):
    array = zarr.create_array(folder / "X.zarr", shape=X.shape, chunks=(500, 1), dtype=X.dtype)
    array[:] = X
    return array


def an_arrow_dataset(X, folder):
    return pyarrow.dataset.dataset(a_parquet_file(X, folder))


def blocks_that_are_made(X, folder):
    return in_blocks(X, [100, 100, 5000])


SOURCES = [
    a_parquet_file,
    a_parquet_folder,
    an_npy_file,
    a_zarr_array,
    an_arrow_dataset,
    blocks_that_are_made,
]


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_of_rows_gives_the_same_fit(source, many_rows, tmp_path):
    X = source(many_rows, tmp_path)
    plain = PSKC(**PARAMETERS).fit(many_rows)
    with shards_of(2500):
        model = PSKC(**PARAMETERS).fit(X)
    assert_same_but_for_the_engine(model, plain)
    assert_array_equal(model.predict(X), plain.predict(many_rows))
    assert_array_equal(model.fit_predict(X), plain.labels_)


def test_a_memory_map_needs_no_copy_in_memory(many_rows, tmp_path):
    mapped = np.load(an_npy_file(many_rows, tmp_path), mmap_mode="r")
    plain = PSKC(**PARAMETERS).fit(many_rows)
    assert_array_equal(PSKC(**PARAMETERS).fit(mapped).labels_, plain.labels_)
    model = PSKC(**PARAMETERS, scratch_dir=tmp_path).fit(mapped)
    assert_same_but_for_the_engine(model, plain)
    assert_array_equal(model.predict(mapped), plain.predict(many_rows))


def test_column_names_of_a_file_are_kept_and_compared(scattered, tmp_path):
    path = a_parquet_file(scattered, tmp_path)
    model = PSKC(**PARAMETERS).fit(path)
    assert list(model.feature_names_in_) == ["a", "b"]
    swapped = stream_table(path, columns=["b", "a"])
    with pytest.raises(ValueError, match="columns of X are b, a, but those of the fit were a, b"):
        model.predict(swapped)
    assert not hasattr(model.fit(in_blocks(scattered, [])), "feature_names_in_")
    with pytest.raises(ValueError, match="X has 1 features, but PSKC is expecting 2"):
        model.predict(in_blocks(scattered[:, :1], []))


def test_the_passes_are_announced(scattered):
    heard = []
    blocks = in_blocks(scattered, [100, 300])
    with shards_of(150):
        PSKC(**PARAMETERS, callback=heard.append).fit(blocks)
    sampled = [progress for progress in heard if progress.stage == "sample"]
    assert sampled == [Progress("sample", done, 420) for done in (100, 300, 420)]
    encoded = [progress for progress in heard if progress.stage == "encode"]
    assert [progress.total for progress in encoded] == [420] * len(encoded)
    done = [progress.done for progress in encoded]
    assert done == sorted(done)
    assert done[-1] == 420


def test_rows_are_read_twice_for_a_fit_and_once_to_predict(scattered):
    passes = []

    def read():
        passes.append(len(passes))
        return np.split(scattered, [100, 300])

    blocks = RowBlocks(len(scattered), 2, read)
    model = PSKC(**PARAMETERS).fit(blocks)
    assert len(passes) == 2
    model.predict(blocks)
    assert len(passes) == 3


def spoiled(scattered, row, value):
    X = scattered.copy()
    X[row] = value
    return in_blocks(X, [100, 300])


def test_a_bad_value_is_named_by_its_row_among_all(scattered):
    with pytest.raises(ValueError, match=r"X\[357, 0\] is NaN"):
        PSKC().fit(spoiled(scattered, 357, np.nan))
    with pytest.raises(ValueError, match="Row 357 of X is all zeros"):
        PSKC(metric="cosine").fit(spoiled(scattered, 357, 0))
    with pytest.raises(ValueError, match="Row 357 of X has latitude 100"):
        PSKC(metric="haversine").fit(spoiled(scattered, 357, 100))
    with pytest.raises(ValueError, match="squared distances overflow"):
        PSKC().fit(spoiled(scattered, 357, 1e200))
    model = PSKC(**PARAMETERS).fit(scattered)
    with pytest.raises(ValueError, match=r"X\[357, 0\] is NaN"):
        model.predict(spoiled(scattered, 357, np.nan))


def test_radians_are_warned_of(scattered):
    with pytest.warns(UserWarning, match="radians"):
        PSKC(metric="haversine").fit(in_blocks(scattered / 10, [100]))


def test_some_columns_of_a_file_can_be_chosen(scattered, tmp_path):
    path = tmp_path / "X.parquet"
    names = np.arange(len(scattered)).astype(str)
    pq.write_table(pa.table({"a": scattered[:, 0], "b": scattered[:, 1], "name": names}), path)
    model = PSKC(**PARAMETERS).fit(stream_table(path, columns=["a", "b"]))
    assert_array_equal(model.labels_, PSKC(**PARAMETERS).fit(scattered).labels_)
    with pytest.raises(ValueError, match=r'no column "c". It has "a", "b", "name"'):
        stream_table(path, columns=["c"])
    with pytest.raises(ValueError, match='column "name" is text'):
        PSKC().fit(pyarrow.dataset.dataset(path))


def test_blocks_must_be_what_was_announced(scattered):
    with pytest.raises(ValueError, match=r"block of X has shape \(420, 2\), but X has 3 columns"):
        PSKC().fit(RowBlocks(420, 3, lambda: [scattered]))
    with pytest.raises(ValueError, match="only 420 of 421 rows"):
        PSKC().fit(RowBlocks(421, 2, lambda: [scattered]))
    with pytest.raises(ValueError, match="more than 400 rows"):
        PSKC().fit(RowBlocks(400, 2, lambda: [scattered[:300], scattered[300:]]))
    with pytest.raises(TypeError, match="X has the type <U1, not numbers"):
        PSKC().fit(RowBlocks(2, 1, lambda: [np.array([["a"], ["b"]])]))
    with pytest.raises(ValueError, match=r"X has 1 sample\(s\)"):
        PSKC().fit(RowBlocks(1, 2, lambda: [scattered[:1]]))
    assert repr(in_blocks(scattered, [])) == "RowBlocks(420 rows, 2 columns)"


def test_paths_that_cannot_be_read_say_why(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file .*missing.parquet"):
        PSKC().fit(tmp_path / "missing.parquet")
    (tmp_path / "X.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match="is a spreadsheet. Save the sheet as CSV"):
        PSKC().fit(str(tmp_path / "X.xlsx"))
    np.save(tmp_path / "deep.npy", np.zeros((3, 2, 2)))
    with pytest.raises(ValueError, match=r"shape \(3, 2, 2\). It must be \(rows, columns\)"):
        PSKC().fit(tmp_path / "deep.npy")


def test_without_room_in_memory_a_fit_asks_for_a_folder():
    """There is room for the centres, not for the cells of all rows."""
    rows = np.random.RandomState(0).rand(20_000, 2)
    with (
        mock.patch("pskclust._utils.memory.available_bytes", return_value=400_000),
        pytest.raises(InsufficientMemoryError, match="Pass scratch_dir to keep cells on disk"),
    ):
        PSKC(**PARAMETERS).fit(in_blocks(rows, []))


@pytest.mark.parametrize("ending", [InterruptedError, KeyboardInterrupt, None])
@pytest.mark.parametrize("stage", ["encode", "grow"])
def test_nothing_stays_in_the_scratch_folder(ending, stage, scattered, tmp_path):
    seen = []

    def look(progress):
        if progress.stage == stage:
            seen.append(os.listdir(tmp_path))
            if ending:
                raise ending

    with shards_of(200), no_memory_for_cells():
        model = PSKC(**PARAMETERS, scratch_dir=tmp_path, callback=look)
        with pytest.raises(ending) if ending else contextlib.nullcontext():
            model.fit(scattered)
    # Nothing to be seen at any time: the files have no names.
    assert seen
    assert not any(seen)
    assert not os.listdir(tmp_path)


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(scattered, tmp_path):
    usage = mock.Mock(free=1000)
    with (
        no_memory_for_cells(),
        mock.patch.object(disk_arrays.shutil, "disk_usage", return_value=usage),
        pytest.raises(
            InsufficientDiskError,
            match=r"420 rows need about 94.1 kB of disk.*has 1 kB free. Pass a folder",
        ),
    ):
        PSKC(scratch_dir=tmp_path).fit(scattered)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_disk_that_fills_up_is_told(scattered, tmp_path):
    with DiskArrays(tmp_path) as scratch:
        scratch.keep([np.arange(10)])
        scratch._file.close()
        scratch._file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
        with pytest.raises(InsufficientDiskError, match="cannot take another 80 bytes .No space"):
            scratch.keep([np.arange(10)])


def test_the_scratch_folder_must_exist(scattered, tmp_path):
    with pytest.raises(
        FileNotFoundError, match="scratch_dir='.*missing' is not a folder. Create it"
    ):
        PSKC(scratch_dir=str(tmp_path / "missing")).fit(scattered)
    with pytest.raises(ValueError, match="scratch_dir=3 is not allowed. Use a path, or None"):
        PSKC(scratch_dir=3).fit(scattered)


def test_arrays_come_back_from_scratch_as_they_were(tmp_path):
    arrays = [
        np.arange(7, dtype=np.uint8),
        np.empty((0, 64), dtype=np.uint16),
        np.arange(12.0).reshape(3, 4),
        np.arange(12.0).reshape(3, 4).T,
    ]
    with DiskArrays(tmp_path, min_file_bytes=256) as scratch:
        kept = [scratch.keep(arrays) for _ in range(3)]
    for copy in kept:
        for array, expected in zip(copy, arrays, strict=True):
            assert array.dtype == expected.dtype
            assert array.flags.aligned
            assert array.flags.c_contiguous
            assert_array_equal(array, expected)
