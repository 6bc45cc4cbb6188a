"""Files of every format are fitted in batches, to the same bits as in memory."""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import tracemalloc
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file

from pskclust import PSKC, RowBlocks, sweep
from pskclust._data import scaling, streamed
from pskclust._data.scaling import Preparation
from pskclust.cli.models import loaded_model
from pskclust.explorer.subject import TableSubject
from pskclust.tables import base, opening, read_table, reading, stream_table, text
from pskclust.tables.streaming import row_blocks

PARAMETERS = {"psi": 32, "tau": 0.05, "n_partitions": 50, "random_state": 0}
FAST = ("--psi", "32", "--tau", "0.05", "--n-partitions", "50")


@pytest.fixture
def rows(scattered):
    """Numbers that few decimal digits tell exactly."""
    return np.rint(scattered * 256) / 256


@pytest.fixture
def small_batches(monkeypatch):
    """Have batches and chunks end within the few rows of a test."""
    monkeypatch.setattr(base, "MAX_BATCH_ROWS", 17)
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1000)
    monkeypatch.setattr(text, "_LINES_PER_BLOCK", 4)
    monkeypatch.setattr(scaling, "_CHUNK_ROWS", 100)


def _arrow(frame, path, writer):
    table = pa.Table.from_pandas(frame)
    with writer(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=50)


def _parquet_folder(frame, path):
    path.mkdir()
    (path / "_SUCCESS").touch()
    (path / "kind=b").mkdir()
    frame[:100].to_parquet(path / "a.parquet")
    frame[100:250].to_parquet(path / "b.parquet")
    frame[250:].to_parquet(path / "kind=b" / "c.parquet")


WRITERS = {
    "t.csv": lambda frame, path: frame.to_csv(path, index=False),
    "t.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "t.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.to_csv().encode())),
    "t.parquet": lambda frame, path: frame.to_parquet(path, row_group_size=60),
    "parts": _parquet_folder,
    "t.arrow": lambda frame, path: _arrow(frame, path, pa.ipc.new_file),
    "t.arrows": lambda frame, path: _arrow(frame, path, pa.ipc.new_stream),
    "t.feather": lambda frame, path: frame.to_feather(path),
    "t.npy": lambda frame, path: np.save(path, frame.to_numpy()),
    "columns.npy": lambda frame, path: np.save(path, np.asfortranarray(frame.to_numpy())),
    "t.npz": lambda frame, path: np.savez(path, X=frame.to_numpy()),
    "t.libsvm": lambda frame, path: dump_svmlight_file(
        frame.to_numpy(), np.zeros(len(frame)), str(path), zero_based=False
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_fitted_by_its_path(name, rows, tmp_path, small_batches):
    path, frame = tmp_path / name, pd.DataFrame(rows, columns=["x", "y"])
    if name == "t.csv.gz":
        frame = frame.set_index("x")
    WRITERS[name](frame, path)
    plain = PSKC(**PARAMETERS).fit(rows)
    model = PSKC(**PARAMETERS).fit(path)
    assert model.engine_ == "out of core"
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.similarities_, plain.similarities_)
    assert_array_equal(model.predict(str(path)), plain.predict(rows))
    assert_array_equal(read_table(path), rows)


def test_a_file_that_tells_its_rows_is_not_read_to_count_them(rows, tmp_path):
    pq.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), tmp_path / "t.parquet")
    with mock.patch.object(pq.ParquetFile, "iter_batches", side_effect=AssertionError):
        blocks = row_blocks(tmp_path / "t.parquet")
    assert (blocks.shape, blocks.names) == ((420, 2), ["x", "y"])


def test_parquet_files_of_a_folder_have_the_same_columns(rows, tmp_path):
    (tmp_path / "parts").mkdir()
    pd.DataFrame(rows, columns=["x", "y"]).to_parquet(tmp_path / "parts/a.parquet")
    pd.DataFrame(rows, columns=["x", "z"]).to_parquet(tmp_path / "parts/b.parquet")
    with pytest.raises(ValueError, match=r'b.parquet differ from those of .*a.parquet: "x", "z"'):
        PSKC().fit(tmp_path / "parts")


def damaged(frame, **cells):
    frame = frame.copy()
    for name, places in cells.items():
        frame.loc[places, name] = np.nan
    return frame


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npy"])
def test_missing_values_are_counted_by_column_with_the_way_out(name, rows, tmp_path, small_batches):
    frame = damaged(pd.DataFrame(rows, columns=["x", "y"]), x=[3, 200], y=[3, 77, 300])
    WRITERS[name](frame, tmp_path / name)
    x, y = ("x", "y") if name != "t.npy" else ("column_1", "column_2")
    fit, predict = PSKC(**PARAMETERS).fit, PSKC(**PARAMETERS).fit(rows).predict
    words = f'missing in 4 rows, by column: "{x}" 2, "{y}" 3. To leave out such rows, pass '
    way_out = re.escape('pskclust.tables.stream_table(path, missing="drop"), or missing="mean" for')
    for call in (fit, predict, lambda path: fit(stream_table(path))):
        with pytest.raises(ValueError, match=words + way_out):
            call(tmp_path / name)
    way_out = re.escape(f'read_table(path, columns={[x, y]}, missing="drop")')
    with pytest.raises(ValueError, match=f"{words}pskclust.tables.{way_out}"):
        read_table(tmp_path / name, columns=[x, y])
    complete = frame.dropna().to_numpy()
    dropped = stream_table(tmp_path / name, missing="drop")
    assert_array_equal(np.vstack(list(dropped)), complete)
    filled = stream_table(tmp_path / name, missing="mean")
    assert_array_equal(np.vstack(list(filled)), read_table(tmp_path / name, missing="mean"))
    labels = PSKC(**PARAMETERS).fit(dropped).labels_
    assert_array_equal(labels, PSKC(**PARAMETERS).fit(complete).labels_)


def test_gaps_in_known_classes_are_mended_by_leaving_the_classes_out(tmp_path):
    rng = np.random.RandomState(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["x", "y"])
    table["shape"] = rng.randint(3, size=60).astype(float)
    table.loc[::9, "shape"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=r"known classes, pass .*\(path, drop=\['shape'\]\)"):
        PSKC(random_state=0).fit(tmp_path / "t.csv")
    table[["shape"]].to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match='"shape" 7. To leave out such rows, pass '):
        PSKC(random_state=0).fit(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_column_of_text_is_named_with_the_way_out(name, rows, tmp_path):
    frame = pd.DataFrame(rows, columns=["x", "y"]).assign(city="Rome")
    WRITERS[name](frame, tmp_path / name)
    with pytest.raises(
        ValueError, match=r'column "city" is text.*stream_table\(path, drop=.\'city'
    ):
        PSKC().fit(tmp_path / name)
    plain = PSKC(**PARAMETERS).fit(rows)
    model = PSKC(**PARAMETERS).fit(stream_table(tmp_path / name, drop=["city"]))
    assert_array_equal(model.labels_, plain.labels_)
    # Whoever knows the columns finds them among others, in any order.
    WRITERS[name](frame[["city", "y", "x"]], tmp_path / f"other-{name}")
    assert_array_equal(model.predict(tmp_path / f"other-{name}"), plain.predict(rows))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "parts", "t.libsvm"])
def test_a_file_without_pyarrow_names_the_extra(name, rows, tmp_path, monkeypatch):
    WRITERS[name](pd.DataFrame(rows, columns=["x", "y"]), tmp_path / name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = f'{name} needs pyarrow. Install it with: pip install "pskclust\\[cli\\]"'
    with pytest.raises(ImportError, match=words):
        PSKC().fit(tmp_path / name)
    np.save(tmp_path / "t.npy", rows)
    assert_array_equal(read_table(tmp_path / "t.npy"), rows)


def test_missing_values_of_new_rows_are_left_out_by_the_columns_of_the_fit(rows, tmp_path):
    frame = pd.DataFrame(rows, columns=["x", "y"])
    model = PSKC(**PARAMETERS).fit(frame)
    other = damaged(frame, x=[3]).assign(city="Rome")[["city", "y", "x"]]
    other.to_csv(tmp_path / "t.csv", index=False)
    words = "To leave out such rows, pass pskclust.tables.stream_table(path, columns=['x', 'y'], "
    with pytest.raises(ValueError, match=re.escape(words + 'missing="drop")')):
        model.predict(tmp_path / "t.csv")
    new = stream_table(tmp_path / "t.csv", columns=["x", "y"], missing="drop")
    assert_array_equal(model.predict(new), model.predict(frame.drop(3)))


def test_kept_marks_the_rows_that_are_left(rows, tmp_path):
    frame = damaged(pd.DataFrame(rows, columns=["x", "y"]), x=[3, 200])
    frame.to_csv(tmp_path / "t.csv", index=False)
    blocks = stream_table(tmp_path / "t.csv", missing="drop")
    frame.loc[blocks.kept, "cluster"] = PSKC(**PARAMETERS).fit(blocks).labels_
    assert list(np.flatnonzero(frame["cluster"].isna())) == [3, 200]
    assert stream_table(tmp_path / "t.csv", missing="mean").kept is None


def test_words_for_missing_values_are_named_with_the_way_out(tmp_path):
    lines = [f"{n},{'unknown' if n == 5 else n * 3 % 17},{n % 7}" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["id,x,y", *lines]))
    words = (
        "pass pskclust.tables.stream_table(path, drop=['id', 'x']). If 'unknown' stands for a "
        "missing value, pass pskclust.tables.stream_table(path, drop=['id'], "
        "missing_values=['unknown'], missing=\"drop\")."
    )
    with pytest.raises(ValueError, match=re.escape(words)):
        stream_table(tmp_path / "t.csv", drop=["id"])
    numbers = stream_table(
        tmp_path / "t.csv", drop=["id"], missing_values=["unknown"], missing="drop"
    )
    assert numbers.shape == (59, 2)
    model = PSKC(**PARAMETERS).fit(numbers)
    with pytest.raises(ValueError, match=r"all its columns. If 'unknown'.*columns=.'x', 'y'., mis"):
        model.predict(tmp_path / "t.csv")


def test_words_for_missing_values_beside_text_are_named_with_the_way_out(tmp_path):
    lines = [f"b{n},{'later' if n == 5 else 'x' if n == 9 else n * 3 % 17},1" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["name,x,y", *lines]))
    words = "If 'later' and 'x' stand for missing values, pass .*drop=.'name'., missing_values="
    with pytest.raises(ValueError, match=words):
        stream_table(tmp_path / "t.csv")


def test_text_in_another_encoding_is_named_with_the_way_out(tmp_path):
    (tmp_path / "t.csv").write_text("x,café\n1,2\n3,4\n", encoding="cp1252")
    for function in (read_table, stream_table):
        words = f'Name its encoding, such as: pskclust.tables.{function.__name__}(path, encoding="'
        with pytest.raises(ValueError, match=re.escape(words + 'cp1252").')):
            function(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r'encoding="cp1252"[)] instead of the path.$'):
        PSKC().fit(tmp_path / "t.csv")
    assert stream_table(tmp_path / "t.csv", encoding="cp1252").names == ["x", "café"]


def test_an_unknown_format_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    for function in (read_table, stream_table):
        with pytest.raises(ValueError, match="format='x' is not known. Use one of csv, tsv"):
            function(tmp_path / "t.csv", format="x")


# The command line


OPTIONS = {
    "plain": ("--drop", "w", "--missing", "drop"),
    "weights": ("--weight", "w", "--missing", "drop"),
    "drop": ("--weight", "w", "--missing", "drop", "--scale", "standard"),
    "mean": ("--drop", "w", "--missing", "mean", "--scale", "standard"),
    "minmax": ("--weight", "w", "--missing", "drop", "--scale", "minmax"),
    "chosen": ("--drop", "w", "--missing", "mean", "--psi", "auto", "--tau", "auto"),
}


@pytest.fixture
def frame(scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    frame["y"] *= 1000
    frame["w"] = 0.25 + np.arange(len(frame)) % 3
    return damaged(frame, x=[3, 200], y=[3, 77, 300])


def both_ways(command, monkeypatch, *arguments):
    """Return what a command answers with rows in memory, and with rows that are read again."""
    answers = []
    for most_bytes in (reading.MOST_BYTES_IN_MEMORY, 0):
        monkeypatch.setattr(reading, "MOST_BYTES_IN_MEMORY", most_bytes)
        streams = []
        with mock.patch.object(
            reading, "blocks_of", side_effect=lambda *a, s=streams: s.append(a) or _BLOCKS_OF(*a)
        ):
            answer = json.loads(command.ok(*arguments, "--json", "--force"))
        assert bool(streams) == (most_bytes == 0)
        answers.append({k: v for k, v in answer.items() if k not in ("seconds", "memory_bytes")})
    return answers


_BLOCKS_OF = reading.blocks_of


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npy"])
def test_fit_streams_to_the_same_bits(
    command, name, options, frame, tmp_path, monkeypatch, small_batches
):
    WRITERS[name](frame, tmp_path / name)
    words = [word if word != "w" or name != "t.npy" else "column_3" for word in OPTIONS[options]]
    files = []
    in_memory, streaming = both_ways(
        command, monkeypatch, "fit", name, *FAST, *words, "-o", "o.csv", "--model", "m.npz"
    )
    assert in_memory == streaming
    for most_bytes in (1 << 20, 0):
        monkeypatch.setattr(reading, "MOST_BYTES_IN_MEMORY", most_bytes)
        command.ok("fit", name, *FAST, *words, "-o", "o.csv", "--model", "m.npz", "--force")
        model = loaded_model("m.npz")
        files.append((Path("o.csv").read_bytes(), model.labels_, model.preparation_))
    (text_in_memory, labels, preparation), (text_streamed, labels_streamed, streamed_too) = files
    assert text_in_memory == text_streamed
    assert_array_equal(labels, labels_streamed)
    for name in ("offset", "scale", "means"):
        assert_array_equal(getattr(preparation, name), getattr(streamed_too, name), err_msg=name)


def test_label_id_keep_columns_and_hints_stream(command, frame, monkeypatch, small_batches):
    frame = frame.assign(
        name=[f"row, {i}" for i in range(420)],
        group=np.repeat(["a", "b", "c", ""], (200, 120, 60, 40)),
        number=np.arange(420),
    )
    frame.to_csv("t.csv", index=False)
    words = ("--id", "name", "--label", "group", "--missing", "drop", "--keep-columns")
    in_memory, streaming = both_ways(
        command, monkeypatch, "fit", "t.csv", *FAST, *words, "-o", "o.parquet"
    )
    assert in_memory == streaming
    assert len(streaming["hints"]) == 2
    assert '"number" looks like a row number' in streaming["hints"][0]
    assert streaming["n_dropped"] == 4
    assert streaming["scores"]["ARI"] > 0
    written = pd.read_parquet("o.parquet")
    assert list(written["name"]) == list(frame["name"])
    assert written["cluster"].isna().sum() == 4


@pytest.mark.usefixtures("undrawn")
def test_the_report_of_streamed_rows_is_the_same_page(command, frame, monkeypatch):
    frame.dropna().to_csv("t.csv", index=False)
    pages = []
    for most_bytes in (1 << 20, 0):
        monkeypatch.setattr(reading, "MOST_BYTES_IN_MEMORY", most_bytes)
        command.ok("fit", "t.csv", *FAST, "--id", "w", "--report", "r.html", "--force")
        page = Path("r.html").read_text()
        pages.append(re.sub(r"<svg.*?</svg>|data:[^\"]*|\d+\.\d\d(?=</)", "", page, flags=re.S))
    assert pages[0] == pages[1]
    assert os.listdir() == ["t.csv", "r.html"] or sorted(os.listdir()) == ["r.html", "t.csv"]


def test_a_checkpoint_of_streamed_rows_is_that_of_rows_in_memory(
    command, frame, monkeypatch, small_batches
):
    frame.dropna().to_csv("t.csv", index=False)
    prints = []
    original = streamed.StreamedRows.points

    def points(self, chosen):
        found = original(self, chosen)
        prints.append(self.fingerprint)
        return found

    monkeypatch.setattr(streamed.StreamedRows, "points", points)
    both_ways(command, monkeypatch, "fit", "t.csv", *FAST, "--checkpoint", "notes")
    both_ways(command, monkeypatch, "fit", "t.csv", *FAST, "--scratch-dir", ".")
    with_checkpoint, without = prints[:2], prints[2:]
    assert len(set(with_checkpoint)) == 1
    assert with_checkpoint[0]
    assert set(without) == {""}


def test_values_are_hashed_for_a_checkpoint_only(rows, tmp_path):
    np.save(tmp_path / "t.npy", rows)
    with mock.patch.object(streamed.hashlib, "blake2b", side_effect=AssertionError("hashed")):
        PSKC(**PARAMETERS).fit(tmp_path / "t.npy")
        with pytest.raises(AssertionError, match="hashed"):
            PSKC(**PARAMETERS, checkpoint=tmp_path / "notes").fit(tmp_path / "t.npy")


def test_sweep_streams_to_the_same_table(command, frame, monkeypatch):
    frame.dropna().to_csv("t.csv", index=False)
    words = ("--weight", "w", "--psi", "16,32", "--tau", "0.02,0.05", "--n-partitions", "30")
    in_memory, streaming = both_ways(command, monkeypatch, "sweep", "t.csv", *words)
    assert in_memory == streaming


def test_sweep_takes_row_blocks(rows, tmp_path):
    np.save(tmp_path / "t.npy", rows)
    grid = {"psi": [16], "tau": [0.02, 0.05], "n_partitions": 30, "random_state": 0}
    plain, blocks = sweep(rows, **grid), sweep(stream_table(tmp_path / "t.npy"), **grid)
    assert_array_equal(plain.stability, blocks.stability)


def test_standard_input_streams(command, frame, monkeypatch):
    frame.dropna().to_csv("t.csv", index=False)
    command.ok("fit", "t.csv", *FAST, "-o", "o.csv")
    monkeypatch.setattr(reading, "MOST_BYTES_IN_MEMORY", 0)
    with open("t.csv") as table:
        monkeypatch.setattr(sys, "stdin", table)
        command.ok("fit", "-", *FAST, "-o", "p.csv")
    assert Path("o.csv").read_bytes() == Path("p.csv").read_bytes()


def test_rows_beyond_the_threshold_are_not_in_memory(tmp_path, monkeypatch):
    rows = np.random.RandomState(0).randn(200_000, 8)
    np.save(tmp_path / "t.npy", rows)
    monkeypatch.setattr(base, "MAX_BATCH_ROWS", 1000)
    monkeypatch.setattr(scaling, "_CHUNK_ROWS", 1000)
    table = opening.open_table(tmp_path / "t.npy", "t.npy")
    selection = reading.Selection(table.columns)
    for most_bytes, is_streamed in ((rows.nbytes, False), (rows.nbytes - 1, True)):
        tracemalloc.start()
        found = reading.read_rows(
            table, selection, report=lambda share: None, most_bytes=most_bytes
        )
        preparation = Preparation.of(found.values, table.columns, "standard", found.means)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert isinstance(found.values, RowBlocks) == is_streamed
        assert (peak < rows.nbytes / 4) == is_streamed
        assert len(found) == len(rows)
        assert_array_equal(preparation.means, found.means)


def test_a_file_that_changes_meanwhile_is_told(rows, tmp_path):
    frame = damaged(pd.DataFrame(rows, columns=["x", "y"]), x=[3])
    frame.to_csv(tmp_path / "t.csv", index=False)
    blocks = stream_table(tmp_path / "t.csv", missing="drop")
    pd.concat([frame, frame]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match="has changed since it was read"):
        list(blocks)


def test_the_explorer_reads_files(rows, tmp_path):
    pd.DataFrame(rows, columns=["x", "y"]).to_csv(tmp_path / "t.csv", index=False)
    explored = TableSubject.from_file(str(tmp_path / "t.csv"))
    assert (explored.columns, explored.name) == (("x", "y"), "t.csv")
    assert_array_equal(explored.everything, rows)


def test_classes_of_another_kind_than_numbers_and_text_are_refused(command, rows):
    table = pa.table({"x": rows[:, 0], "y": rows[:, 1], "c": [[1]] * len(rows)})
    pq.write_table(table, "t.parquet")
    line = command.refused(3, "fit", "t.parquet", "--label", "c")
    assert 'column "c" is list<element: int64>. Classes must be numbers or text.' in line


def test_a_text_that_is_no_path_is_explained():
    with pytest.raises(FileNotFoundError, match="which is read as the path of a file"):
        PSKC().fit("hello")


def test_the_way_out_replaces_the_path(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,\n5,6\n")
    with pytest.raises(ValueError, match="for column means instead of the path.$"):
        PSKC().fit(path)
    with pytest.raises(ValueError, match="for column means.$"):
        stream_table(path)
