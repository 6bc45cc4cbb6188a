"""Tables in files: every format gives the same rows, in batches of any size."""

from __future__ import annotations

import gzip
import io
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from pskclust.tables import base, libsvm, read_table, text
from pskclust.tables.compressed import line_blocks
from pskclust.tables.errors import TableError
from pskclust.tables.formats import COMPRESSIONS
from pskclust.tables.libsvm import LibsvmTable
from pskclust.tables.opening import open_table
from pskclust.tables.reading import read_rows
from pskclust.tables.selection import Selection, select, select_known

NAMES = ("u", "v", "w")


@pytest.fixture
def frame():
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.randn(150, 3), columns=NAMES)
    frame["kind"] = np.repeat(["a", "b, c", 'd"'], 50)
    frame["number"] = np.arange(150)
    return frame


def _arrow_file(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def _arrow_stream(frame, path):
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "comma.csv": lambda frame, path: frame.to_csv(path, index=False),
    "semicolon.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";"),
    "decimal_comma.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "tab.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "tab.csv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "pipe.txt": lambda frame, path: frame.to_csv(path, index=False, sep="|"),
    "space.dat": lambda frame, path: frame.to_csv(path, index=False, sep=" "),
    "windows.csv": lambda frame, path: frame.to_csv(path, index=False, lineterminator="\r\n"),
    "marked.csv": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
    "wide.csv": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-16"),
    "packed.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "noending": lambda frame, path: frame.to_csv(path, index=False),
    "table.parquet": lambda frame, path: frame.to_parquet(path, row_group_size=40),
    "table.feather": lambda frame, path: frame.to_feather(path),
    "table.arrow": _arrow_file,
    "table.arrows": _arrow_stream,
    "columns.npz": lambda frame, path: np.savez(
        path, **{name: frame[name].to_numpy() for name in (*NAMES, "number")}
    ),
}


def read(path, **parts):
    table = open_table(path, path.name)
    rows = read_rows(table, Selection(**parts), report=lambda share: None)
    return table, rows


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("batch", [7, 1 << 18])
def test_every_format_gives_the_same_rows(name, batch, frame, tmp_path, monkeypatch):
    monkeypatch.setattr(base, "MAX_BATCH_ROWS", batch)
    WRITERS[name](frame, tmp_path / name)
    table, rows = read(tmp_path / name, features=("w", "u"))
    assert table.columns[:3] == NAMES
    assert table.has_names
    assert_array_equal(rows.numbers, frame[["w", "u"]].to_numpy())


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.endswith("npz")])
def test_a_text_column_gives_classes(name, frame, tmp_path):
    frame.loc[3, "kind"] = None
    WRITERS[name](frame, tmp_path / name)
    _, rows = read(tmp_path / name, features=("u",), label="kind")
    expected = np.repeat([0, 1, 2], 50)
    expected[3] = -1
    codes = {value: key for key, value in enumerate(dict.fromkeys(rows.classes[rows.classes >= 0]))}
    assert_array_equal([codes.get(code, -1) for code in rows.classes], expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("batch", [7, 1 << 18])
def test_arrays_give_their_rows(order, batch, frame, tmp_path, monkeypatch):
    monkeypatch.setattr(base, "MAX_BATCH_ROWS", batch)
    X = np.array(frame[list(NAMES)], order=order)
    np.save(tmp_path / "X.npy", X)
    np.savez_compressed(tmp_path / "X.npz", X=X, y=frame["kind"].to_numpy(dtype=str), z=np.eye(2))
    for name in ("X.npy", "X.npz"):
        table, rows = read(tmp_path / name, features=("column_3", "column_1"))
        assert not table.has_names
        assert table.columns == ("column_1", "column_2", "column_3")
        assert_array_equal(rows.numbers, X[:, [2, 0]])
    _, rows = read(tmp_path / "X.npz", features=table.columns, label="y")
    assert_array_equal(rows.numbers, X)
    assert_array_equal(rows.classes, np.repeat([0, 1, 2], 50))


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("piece", [300, 1 << 22])
def test_libsvm_columns_go_by_their_index(zero_based, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(libsvm, "_PIECE_BYTES", piece)
    X = np.random.RandomState(0).randint(0, 3, (80, 4)).astype(float)
    dump_svmlight_file(X, np.arange(80) % 2, str(tmp_path / "X.svm"), zero_based=zero_based)
    names = tuple(str(index + (not zero_based)) for index in range(4))
    table, rows = read(tmp_path / "X.svm", features=(*names, "9"), label="class")
    assert table.columns == names
    assert_array_equal(rows.numbers, np.column_stack([X, np.zeros(80)]))
    assert_array_equal(rows.classes, np.arange(80) % 2)


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_all_rows_of_compressed_libsvm_are_read(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(libsvm, "_PIECE_BYTES", 300)
    X = np.random.RandomState(0).randint(0, 3, (80, 4)).astype(float)
    dump_svmlight_file(X, np.arange(80) % 2, str(tmp_path / "X.svm"), zero_based=False)
    path = tmp_path / f"X.svm{ending}"
    with pa.CompressedOutputStream(str(path), COMPRESSIONS[ending]) as stream:
        stream.write((tmp_path / "X.svm").read_bytes())
    _, rows = read(path, features=("1", "2", "3", "4"), label="class")
    assert_array_equal(rows.numbers, X)
    assert_array_equal(rows.classes, np.arange(80) % 2)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TableError, match="is damaged"):
        read(path, features=("1", "2"))


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_blocks_of_lines_are_the_stream(size):
    text = b"one\ntwo two\n\nthree and no end"
    blocks = list(line_blocks(io.BytesIO(text), size))
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_small_numbers_stay_small_and_large_ones_exact(tmp_path):
    small = pa.table({"a": pa.array([1, 2], pa.uint8()), "b": pa.array([0.1, 0.2], pa.float32())})
    pq.write_table(small, tmp_path / "small.parquet")
    _, rows = read(tmp_path / "small.parquet", features=("a", "b"))
    assert rows.numbers.dtype == np.float32
    large = pa.table({"a": pa.array([2**40 + 1, None, 3]), "b": pa.array([True, False, True])})
    pq.write_table(large, tmp_path / "large.parquet")
    table = open_table(tmp_path / "large.parquet", "large.parquet")
    rows = read_rows(table, select(table), missing="drop", report=lambda share: None)
    assert_array_equal(rows.numbers, [[2.0**40 + 1, 1], [3, 1]])
    assert_array_equal(rows.kept, [True, False, True])


def test_a_type_that_gets_wider_on_the_way_keeps_all_rows(tmp_path, monkeypatch):
    """The first batch of a file may need fewer bits than the next."""
    monkeypatch.setattr(base, "MAX_BATCH_ROWS", 4)
    table = open_table(_csv(tmp_path, "x\n" + "\n".join(map(str, range(10)))), "x.csv")
    original = table.batches

    def batches(numbers, others=()):
        for number, batch in enumerate(original(numbers, others)):
            kind = np.float32 if number == 0 else np.float64
            yield batch._replace(numbers=batch.numbers.astype(kind) + (0.1 if number else 0))

    monkeypatch.setattr(table, "batches", batches)
    rows = read_rows(table, select(table), report=lambda share: None)
    assert_array_equal(rows.numbers.ravel(), [0, 1, 2, 3] + list(np.arange(4, 10) + 0.1))


def _csv(folder, content, name="x.csv"):
    (folder / name).write_text(content)
    return folder / name


@pytest.mark.parametrize(
    ("content", "columns", "has_names"),
    [
        ("a,b\n1,2\n3,4\n", ("a", "b"), True),
        ("1,2\n3,4\n", ("column_1", "column_2"), False),
        ("Berlin,3.5\nParis,2.1\n", ("column_1", "column_2"), False),
        ("city,size\nBerlin,3.5\nParis,2.1\n", ("city", "size"), True),
        ("year,2019,2020\na,1,2\nb,3,4\n", ("column_1", "column_2", "column_3"), False),
        ("NA,2\n3,4\n", ("column_1", "column_2"), False),
        ("only\n1\n2\n", ("only",), True),
        (",b\n1,2\n3,4\n", ("column_1", "b"), True),
        ('"a, b",c\n1,2\n', ("a, b", "c"), True),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ("a", "b"), True),
        (",0,1\n0,1.5,2\n1,2.5,3\n", ("column_1", "0", "1"), True),
        (",0\na,1.5\nb,2.5\n", ("column_1", "0"), True),
        (",0,1\n,1.5,2\n1,2.5,3\n", ("column_1", "column_2", "column_3"), False),
        ("0,1\n1.5,2\n2.5,3\n", ("0", "1"), True),
        ("0,1,2\n5,3,1\n2,2,2\n", ("0", "1", "2"), True),
        ("0,1\n1,0\n1,1\n", ("column_1", "column_2"), False),
        ("0,2\n1.5,2\n2.5,3\n", ("column_1", "column_2"), False),
        ("2020,flag\n1,True\n2,False\n", ("2020", "flag"), True),
        ("True,False\nFalse,True\n", ("column_1", "column_2"), False),
    ],
)
def test_headers_and_delimiters_are_sniffed(content, columns, has_names, tmp_path):
    table = open_table(_csv(tmp_path, content), "x.csv")
    assert (table.columns, table.has_names) == (columns, has_names)


def test_what_the_caller_says_is_not_sniffed(tmp_path):
    path = _csv(tmp_path, "2019|2020\n1|2\n")
    table = open_table(path, "x.csv", has_header=True, delimiter="|")
    assert table.columns == ("2019", "2020")
    _, rows = read(_csv(tmp_path, "1|2\n3|4\n"), features=("column_2",))
    assert_array_equal(rows.numbers, [[2], [4]])


def test_booleans_are_read_as_0_and_1(tmp_path):
    content = "x,a,b,c\n1,True,FALSE,true\n2, False,NA,maybe\n3,True,TRUE,false\n"
    table = open_table(_csv(tmp_path, content), "x.csv")
    assert table.columns == ("x", "a", "b", "c")
    assert set(table.not_numbers()) == {"c"}
    selection = Selection(("x", "a", "b"))
    rows = read_rows(table, selection, missing="drop", report=lambda share: None)
    assert_array_equal(rows.numbers, [[1, 1, 0], [3, 1, 1]])
    _, rows = read(tmp_path / "x.csv", features=("x",), label="a")
    assert_array_equal(rows.classes, [0, 1, 0])


def test_text_below_booleans_is_found_and_its_line_named(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_HEAD_BYTES", 100)
    path = _csv(tmp_path, "a,b\n" + "1,True\n" * 500 + "3,maybe\n")
    with pytest.raises(TableError, match='column "b" holds 1 value .* \\(line 502: "maybe"\\)'):
        read(path, features=("a", "b"))


def test_a_line_break_within_quotes_is_no_new_row(tmp_path):
    path = _csv(tmp_path, 'a,text\n1,"x\ny"\n2,"z"\n')
    _, rows = read(path, features=("a",), label="text")
    assert_array_equal(rows.numbers, [[1], [2]])


def test_text_far_down_is_found_and_its_line_named(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_HEAD_BYTES", 100)
    path = _csv(tmp_path, "a,b\n" + "1,2\n" * 500 + "3,what\n" + "1,2\n" * 5)
    with pytest.raises(
        TableError, match='column "b" holds 1 value .* among .* values \\(line 502: "what"\\)'
    ):
        read(path, features=("a", "b"))


def test_a_ragged_row_far_down_is_found_and_its_line_named(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_HEAD_BYTES", 100)
    path = _csv(tmp_path, "a,b\n" + "1,2\n" * 500 + "3\n")
    with pytest.raises(TableError, match="ragged: line 502 has 1 column instead of 2"):
        read(path, features=("a", "b"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "x.csv is empty"),
        (b"\n\n", "x.csv is empty"),
        (b"a,a\n1,2\n", 'two columns named "a"'),
        (b"caf\xe9,b\n" + b"1,2\n" * 9, "x.csv is not UTF-8 text"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "not in CSV format: it looks like gzip"),
        (b"PK\x03\x04rest", "not in CSV format: it looks like NPZ"),
        (b"a\0b", "not in CSV format: it is damaged or has another format"),
    ],
)
def test_text_that_is_no_table_is_refused(content, message, tmp_path):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(TableError, match=message):
        open_table(tmp_path / "x.csv", "x.csv")


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.npy", "x.npz"])
def test_a_file_cut_short_is_refused(name, frame, tmp_path):
    numbers = frame[list(NAMES)]
    path = tmp_path / name
    {
        "x.parquet": lambda: numbers.to_parquet(path),
        "x.feather": lambda: numbers.to_feather(path),
        "x.npy": lambda: np.save(path, numbers.to_numpy()),
        "x.npz": lambda: np.savez(path, X=numbers.to_numpy()),
    }[name]()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(TableError, match=f"{name} is (no|damaged)"):
        read(path, features=("column_1",) if name.startswith("x.np") else ("u",))


def test_arrays_of_other_shapes_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 4)))
    with pytest.raises(TableError, match=r"shape \(2, 3, 4\)"):
        open_table(tmp_path / "x.npy", "x.npy")
    np.savez(tmp_path / "x.npz", a=np.zeros((2, 3)), b=np.zeros((2, 3)))
    with pytest.raises(TableError, match="several tables \\(a, b\\). Name one of them X"):
        open_table(tmp_path / "x.npz", "x.npz")
    np.save(tmp_path / "x.npy", np.array([["a", "b"]]))
    with pytest.raises(TableError, match="is text"):
        open_table(tmp_path / "x.npy", "x.npy")


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(TableError):
        open_table(tmp_path / "x.npy", "x.npy")


def test_infinite_values_are_refused_with_their_row(tmp_path):
    path = _csv(tmp_path, "a,b\n1,2\n3,inf\n")
    with pytest.raises(TableError, match='column "b" of x.csv is infinite in line 3'):
        read(path, features=("a", "b"))


def test_missing_values_take_the_mean_of_the_others(tmp_path):
    table = open_table(_csv(tmp_path, "a,b\n1,2\n,6\n3,NA\n"), "x.csv")
    rows = read_rows(table, select(table), missing="mean", report=lambda share: None)
    assert_array_equal(rows.numbers, [[1, 2], [2, 6], [3, 4]])
    assert rows.n_filled == 2
    assert rows.kept is None


def test_a_column_of_nothing_has_no_mean(tmp_path):
    table = open_table(_csv(tmp_path, "a,b\n1,NA\n2,NA\n"), "x.csv")
    with pytest.raises(TableError, match='column "b" of x.csv has no value at all'):
        read_rows(table, select(table), missing="mean", report=lambda share: None)


def test_columns_of_a_model_are_found_by_name_and_else_by_place(tmp_path):
    named = open_table(_csv(tmp_path, "c,b,a\n1,2,3\n"), "x.csv")
    assert select_known(named, ("a", "b")).features == ("a", "b")
    with pytest.raises(TableError, match='lacks "d", which the model was fitted to'):
        select_known(named, ("a", "d"))
    unnamed = open_table(_csv(tmp_path, "1,2\n3,4\n", "y.csv"), "y.csv")
    assert select_known(unnamed, ("a", "b")).features == ("column_1", "column_2")
    assert select_known(unnamed, ("column_2",)).features == ("column_2",)


def test_a_name_that_is_nearly_right_is_proposed(tmp_path):
    table = open_table(_csv(tmp_path, "height,width\n1,2\n"), "x.csv")
    with pytest.raises(TableError, match='no column "hieght". Did you mean "height"'):
        select(table, drop=("hieght",))
    with pytest.raises(TableError, match='no column "WIDTH". Did you mean "width"'):
        select(table, columns=("WIDTH",))
    with pytest.raises(TableError, match="to be clustered, but also left out or used otherwise"):
        select(table, columns=("height",), drop=("height",))
    with pytest.raises(TableError, match="no column of x.csv is left"):
        select(table, drop=("height", "width"))


def test_libsvm_takes_memory_for_its_own_columns_only(tmp_path):
    (tmp_path / "X.svm").write_text("1 1:2 900000:3\n0 7:5\n")
    table = LibsvmTable(tmp_path / "X.svm", "X.svm")
    tracemalloc.start()
    (batch,) = table.batches(("900000", "7", "class", "8"), ("1",))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_array_equal(batch.numbers, [[3, 0, 1, 0], [0, 5, 0, 0]])
    assert batch.others[0].to_pylist() == [2, 0]
    assert peak < 50_000_000


def test_more_columns_than_can_be_meant_are_refused(tmp_path):
    """A few bytes claim them, and their names alone would fill the memory."""
    (tmp_path / "X.svm").write_text("1 2000000000:3\n")
    with pytest.raises(TableError, match="X.svm has .* columns, more than the limit of 1,000,000"):
        open_table(tmp_path / "X.svm", "X.svm")


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("# exported today, by X\n# second\nx,y\n1,2\n3,4\n", ("x", "y")),
        ("# x,y\n1,2\n3,4\n", ("x", "y")),
        ("# x y\n1 2\n3 4\n", ("x", "y")),
        ("#,y\n1,2\n3,4\n", ("#", "y")),
        ("# exported today\n1,2\n3,4\n", ("column_1", "column_2")),
    ],
)
def test_comments_above_a_table_are_skipped_and_may_name_its_columns(tmp_path, content, columns):
    table = open_table(_csv(tmp_path, content), "x.csv")
    assert table.columns == columns
    assert table.has_names == (columns[1] == "y")
    assert_array_equal(next(table.batches(columns)).numbers, [[1, 2], [3, 4]])


def test_lines_are_counted_with_the_comments_above_the_table(tmp_path):
    table = open_table(_csv(tmp_path, "# one\n# two\nx,y\n1,2\n3,many\n5,6\n7,8\n"), "x.csv")
    assert table.strays("y").line == 5


@pytest.mark.parametrize("name", ["t.json", "t.csv", "t"])
def test_json_is_named(tmp_path, name):
    (tmp_path / name).write_text('[\n  {"x": 1, "y": 2}\n]')
    with pytest.raises(TableError, match="is JSON. Save it as CSV or Parquet"):
        open_table(tmp_path / name, name)


def test_words_for_missing_values_can_be_named(tmp_path):
    path = _csv(tmp_path, "x,y\n1,unknown\n3,4\n")
    assert_array_equal(read_table(path, missing="drop", missing_values=["unknown"]), [[3, 4]])


def test_decimal_commas_beside_points_are_explained(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "24.941;8,5\n1.200;7,25\n" * 5)
    words = 'column "b" is text \\("8,5", but column "a" has points, such as 24.941: replace '
    with pytest.raises(TableError, match=words + "commas by points or, if the points separate"):
        read_table(path)
    path.write_text("a;b\n" + "24941;8,5\n1200;7,25\n" * 5)
    assert_array_equal(read_table(path)[:2], [[24941, 8.5], [1200, 7.25]])
