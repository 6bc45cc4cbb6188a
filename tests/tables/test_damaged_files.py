"""Damaged and odd table files end in a sentence, through the API and the command alike."""

from __future__ import annotations

import bz2
import gzip
import io
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import feather
from pyarrow import parquet as pq

from pskclust.tables import read_table
from pskclust.tables.errors import TableError
from pskclust.tables.opening import open_table
from tests.helpers.cli import start

X = np.random.RandomState(0).rand(50, 2)
NAMES = [f"row {number}" for number in range(50)]


def _feather(path, names, **options):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "name": names})
    feather.write_feather(table, str(path), compression="uncompressed", **options)


def _with_wild_offset(path):
    """Write a Feather file whose tenth text is said to end a gigabyte further on."""
    _feather(path, NAMES)
    content = bytearray(path.read_bytes())
    offsets = np.cumsum([0, *map(len, NAMES)]).astype(np.int32).tobytes()
    place = content.find(offsets)
    assert place > 0
    content[place + 40 : place + 44] = np.int32(2**30).tobytes()
    path.write_bytes(content)


@pytest.mark.parametrize("role", ["--label", "--id"])
def test_offsets_out_of_bounds_are_refused(role, command, tmp_path):
    """Arrow would read memory that is not its own, and the process would end."""
    _with_wild_offset(tmp_path / "t.feather")
    line = command.refused(3, "fit", "t.feather", role, "name", "-o", "labels.csv")
    assert "t.feather is damaged and cannot be read to its end" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.feather"]
    command.ok("fit", "t.feather", "--drop", "name")


def test_offsets_out_of_bounds_in_standard_input_leave_no_file(tmp_path, monkeypatch):
    _with_wild_offset(tmp_path / "t.feather")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with open(tmp_path / "t.feather", "rb") as content:
        run = start("fit", "-", "--label", "name", folder=tmp_path, stdin=content)
        with run:
            _, err = run.communicate(timeout=60)
    assert run.returncode == 3
    assert err.startswith("Error: standard input is damaged")
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("index", [-5, 3, 2**30])
def test_dictionary_indices_out_of_bounds_are_refused(index, command, tmp_path):
    codes = pa.array([0, 1, index, *[2] * 47], pa.int32())
    for values in (["x", "y", "z"], [1.0, 2.0, 3.0]):
        wild = pa.DictionaryArray.from_arrays(codes, values, safe=False)
        _feather(tmp_path / "t.feather", wild)
        line = command.refused(3, "fit", "t.feather", "--label", "name")
        assert "t.feather is damaged" in line
    with pytest.raises(TableError, match=r"t.feather is damaged"):
        read_table(tmp_path / "t.feather")


def test_a_corrupt_lzma_member_is_refused(command, tmp_path):
    content = io.BytesIO()
    np.save(content, X)
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", content.getvalue())
    damaged = bytearray((tmp_path / "t.npz").read_bytes())
    damaged[60:200] = bytes(byte ^ 0x55 for byte in damaged[60:200])
    (tmp_path / "t.npz").write_bytes(damaged)
    assert command.refused(3, "fit", "t.npz").startswith(
        "t.npz is not in NPZ format: it is damaged"
    )


ODD_LABELS = {
    "complex": X[:, 0] + 1j,
    "records": np.zeros(50, dtype=[("a", "i4"), ("b", "f8")]),
    "bytes without a type": np.zeros(50, dtype="V8"),
}


@pytest.mark.parametrize("labels", ODD_LABELS.values(), ids=ODD_LABELS)
def test_labels_that_are_neither_numbers_nor_text_are_refused(labels, command, tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=labels)
    line = command.refused(3, "fit", "t.npz", "--label", "y")
    assert line.startswith('column "y" has the type')
    assert line.endswith("but only numbers and text can be used here.")


@pytest.mark.parametrize("kind", [">f8", ">i4", np.longdouble, np.float16, "S3", "U3", bool])
def test_labels_of_any_number_or_text_type_are_taken(kind, command, tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=(np.arange(50) % 2).astype(kind))
    command.ok("fit", "t.npz", "--label", "y")


@pytest.mark.parametrize("values", [[[1, 2]] * 50, [{"a": 1}] * 50], ids=["lists", "records"])
def test_nested_columns_are_refused_where_they_cannot_be_used(values, command, tmp_path):
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "n": values}), tmp_path / "t.parquet")
    assert command.refused(3, "fit", "t.parquet", "--label", "n").endswith(
        "Classes must be numbers or text."
    )
    line = command.refused(3, "fit", "t.parquet", "--id", "n", "-o", "labels.csv")
    assert line.startswith("columns of these types cannot be written to that format")
    command.ok("fit", "t.parquet", "--id", "n", "-o", "labels.parquet")


@pytest.mark.parametrize("cell", ["x" * 200_000, "1" * 200_000, '"' + "x," * 100_000])
def test_a_cell_that_is_too_long_is_refused(cell, tmp_path):
    (tmp_path / "t.csv").write_text(f"a,b\n1,{cell}\n")
    with pytest.raises(TableError, match=r"longer than the limit of 131,072 characters"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 100_000 + f"1,{cell}\n")
    with pytest.raises(TableError):
        read_table(tmp_path / "t.csv")


def test_ragged_rows_in_another_encoding_end_in_one_sentence(command, tmp_path, capsys):
    """pyarrow printed a traceback, too."""
    (tmp_path / "t.csv").write_bytes(b"1,2\n" * 1000 + b"3\xa4\n")
    line = command.refused(3, "fit", "t.csv")
    assert "line 1,001 has 1 column instead of 2" in line
    assert "ignored" not in capsys.readouterr().err


def test_text_in_a_cut_compressed_file_is_named(tmp_path):
    text = "a,b\n1,x\n" + 2_000 * "".join(f"{a},{b}\n" for a, b in X)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode())[:-9])
    with pytest.raises(TableError, match='column "b"'):
        read_table(tmp_path / "t.csv.gz")


def test_dates_beyond_those_of_python_are_no_classes(command, tmp_path):
    dates = pa.array(np.arange(50) * 10**12, pa.timestamp("s"))
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "when": dates}), tmp_path / "t.parquet")
    line = command.refused(3, "fit", "t.parquet")
    assert 'column "when"' in line
    assert "--drop when" in line


def test_long_digits_that_are_no_number_are_judged_at_once():
    """The pattern of a number took time that is quadratic in the digits: minutes for one cell."""
    code = "from pskclust.tables.dialect import is_number as f; print(f('1' * 131_000 + 'x'))"
    script = [sys.executable, "-c", f"{code}; print(f('1' * 10**6 + 'x'))"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_header_may_have_line_breaks_within_quotes(command, tmp_path):
    rows = "".join(f"{a},{b}\n" for a, b in X)
    (tmp_path / "t.csv").write_text(f'"a\nb","c ""d"""\n{rows}')
    assert_array_equal(read_table(tmp_path / "t.csv"), X)
    assert_array_equal(read_table(tmp_path / "t.csv", columns=["a\nb"]), X[:, :1])
    command.ok("fit", "t.csv", "--drop", '"a\nb"')
    assert "put quotes around a name" in command.refused(2, "fit", "t.csv", "--drop", "a\nb")


@pytest.mark.parametrize("content", [b"\n \n", b"\xff\xfe\r\x00", b"\xef\xbb\xbf \n", b'""\n\n'])
def test_a_text_of_empty_lines_is_refused(content, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match="empty|no rows"):
        read_table(tmp_path / "t.csv")


def test_an_unknown_way_with_missing_values_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(TableError, match="missing='x' is not known. Use one of 'refuse', 'drop'"):
        read_table(tmp_path / "t.csv", missing="x")


def test_control_characters_of_a_file_do_not_reach_the_terminal(command, tmp_path):
    title = "\x1b]0;owned\x07\u202e\x9b31m"
    (tmp_path / "t.csv").write_text(f"{title},b\n1,x{title}\n2,y\n", encoding="utf-8")
    line = command.refused(3, "fit", "t.csv")
    assert r"x\x1b]0;owned\x07\u202e\x9b31m" in line
    line = command.refused(3, "fit", "t.csv", "--drop", "c")
    assert r"\x1b]0;owned" in line
    assert line.isprintable()
    (tmp_path / "t.csv").write_text(f"{title},b\n" + "1,2\n3,4\n" * 30, encoding="utf-8")
    assert command.ok("fit", "t.csv").replace("\n", "").isprintable()


def test_a_process_survives_many_damaged_files(tmp_path):
    """Bytes all over Arrow and Parquet files are changed; a process of its own reads them."""
    _feather(tmp_path / "t.feather", NAMES)
    pq.write_table(pa.table({"a": X[:, 0], "name": NAMES}), tmp_path / "t.parquet")
    code = """
import sys, numpy as np
from pathlib import Path
from pskclust.tables.errors import TableError
from pskclust.tables.opening import open_table
rng = np.random.RandomState(0)
for name in ("t.feather", "t.parquet"):
    content = Path(name).read_bytes()
    for _ in range(150):
        damaged = bytearray(content)
        for place in rng.randint(len(content), size=rng.randint(1, 5)):
            damaged[place] = rng.randint(256)
        path = Path("damaged" + Path(name).suffix)
        path.write_bytes(damaged)
        try:
            table = open_table(path, "damaged")
            for batch in table.batches((), table.columns):
                [values.to_pylist() for values in batch.others]
        except TableError:
            pass
"""
    environment = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120}
    run = subprocess.run([sys.executable, "-c", code], check=False, **environment)
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.parametrize(("ending", "compress"), [(".bz2", bz2.compress), (".gz", gzip.compress)])
def test_a_compressed_table_that_is_damaged_beyond_its_beginning_is_named(
    ending, compress, tmp_path
):
    X = np.random.RandomState(0).randn(60_000, 2)
    text = io.BytesIO()
    np.savetxt(text, X, delimiter=",", header="x,y", comments="")
    content = bytearray(compress(text.getvalue()))
    content[-5000:-4000] = bytes(1000)
    path = tmp_path / f"table.csv{ending}"
    path.write_bytes(content)
    with pytest.raises(TableError, match=r"table.csv.* is damaged"):
        read_table(path)


def test_an_unknown_binary_file_is_called_so(tmp_path):
    (tmp_path / "rows").write_bytes(b"\0\1\2" * 50)
    with pytest.raises(TableError, match=r"not supported \(binary, without a known signature\)"):
        open_table(tmp_path / "rows", "rows")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,"2\n3,4', 2),
        ('# made by hand\na,b\n1,2\n"3\n",5\n6,"7 ""8""\n9,1\n', 6),
        ("a,b\n" + "1,2\n" * 90_000 + '"1,2\n' + "1,2\n" * 90_000, 90_002),
    ],
)
def test_a_quote_that_is_not_closed_is_named_with_its_line(tmp_path, text, line):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TableError, match=f"a quote in line {line:,} that is not closed"):
        read_table(tmp_path / "t.csv")


def test_closed_quotes_are_read(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"1",2\n3,"4"\n')
    assert_array_equal(read_table(tmp_path / "t.csv"), [[1, 2], [3, 4]])
