"""Bad input on the command line: one clear line, a code that means something, nothing half done."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pskclust._utils import files
from pskclust.cli.bars import Bars
from tests.helpers.cli import SOURCE, start

FAST = ("--psi", "8", "--n-partitions", "10")


@pytest.fixture
def table(scattered, tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame(scattered, columns=["x", "y"]).to_csv(path, index=False)
    return "table.csv"


@pytest.fixture
def model(command, table):
    command.ok("fit", table, *FAST, "--model", "model.npz")
    return "model.npz"


@pytest.mark.parametrize("subcommand", ["fit", "sweep"])
def test_a_missing_file(command, subcommand, model):
    assert command.refused(3, subcommand, "no.csv") == "there is no file no.csv."
    assert command.refused(3, "predict", model, "no.csv") == "there is no file no.csv."
    assert command.refused(3, "predict", "no.npz", "table.csv") == "there is no file no.npz."
    assert command.refused(3, "info", "no.npz") == "there is no file no.npz."
    assert command.refused(3, "segment", "no.png", "-o", "out") == "there is no file no.png."


def test_a_file_with_a_similar_name_is_proposed(command, table):
    line = command.refused(3, "fit", "tabel.csv")
    assert line == "there is no file tabel.csv. Did you mean table.csv?"


def test_an_html_page_is_no_table(command, tmp_path):
    (tmp_path / "page.csv").write_text("\n<!DOCTYPE html>\n<html><body>1,2</body></html>\n")
    assert command.refused(3, "fit", "page.csv") == "page.csv is an HTML page, not a table."


def test_a_device_that_cannot_be_used(command, table, model):
    refused = (
        "--device cuda:1 works with --method voronoi only, not with --method tree. Use --method "
        "voronoi, or leave device out."
    )
    device = ("--device", "cuda:1")
    assert command.refused(3, "fit", table, *FAST, "--method", "tree", *device) == refused
    command.ok("fit", table, "--method", "tree", *FAST, "--model", "tree.npz")
    assert command.refused(3, "predict", "tree.npz", table, *device) == refused


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npy", "t.libsvm", "t.feather"])
def test_an_empty_file(command, name, tmp_path, model):
    (tmp_path / name).touch()
    assert command.refused(3, "fit", name) == f"{name} is empty."
    assert command.refused(3, "predict", model, name) == f"{name} is empty."


def test_empty_standard_input(command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert command.refused(3, "fit", "-") == "standard input is empty."


def test_a_header_only(command, tmp_path, model):
    (tmp_path / "t.csv").write_text("x,y\n")
    pd.DataFrame({"x": [], "y": []}, dtype=float).to_parquet("t.parquet")
    for name in ("t.csv", "t.parquet"):
        assert command.refused(3, "fit", name) == f"{name} has a header but no rows."
        line = command.refused(3, "predict", model, name, "-o", "out.csv")
        assert line == f"{name} has a header but no rows."
    assert not (tmp_path / "out.csv").exists()


def test_one_row(command, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    assert "only 1 row to cluster. A fit needs two or more" in command.refused(3, "fit", "t.csv")


def test_ragged_rows(command, tmp_path, model):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4,5\n6,7\n")
    line = command.refused(3, "fit", "t.csv", "-o", "out.csv")
    assert line.startswith("t.csv is ragged: line 3 has 3 columns instead of 2.")
    assert "line 3" in command.refused(3, "predict", model, "t.csv", "-o", "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_text_columns_are_named_with_the_option_that_helps(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    frame.assign(city="Berlin").to_csv("one.csv", index=False)
    line = command.refused(3, "fit", "one.csv", *FAST)
    assert line == (
        'column "city" is text ("Berlin"). Leave it out with: '
        "pskclust fit one.csv --drop city --psi 8 --n-partitions 10"
    )
    frame.assign(**{"home town": "A", "a,b": "B"}).to_parquet("two cities.parquet")
    line = command.refused(3, "fit", "two cities.parquet", *FAST)
    assert line.startswith('column "home town" is text, column "a,b" is text. Leave them ')
    # What it says is what helps.
    advice = shlex.split(line.partition("with: ")[2])
    command.ok(*advice[1:])


def test_a_negative_weight_is_found_by_its_column_and_row(command, scattered):
    weights = np.ones(len(scattered))
    weights[371] = -1.5
    pd.DataFrame(scattered, columns=["x", "y"]).assign(w=weights).to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv", "--weight", "w")
    assert line.startswith('column "w" has the negative weight -1.5 in line 373. ')


def test_a_model_has_its_extension(command, table):
    line = command.refused(2, "fit", table, "--model", "model.pkl")
    assert line.startswith("model.pkl must end in .npz")


def test_one_row_with_a_missing_value_is_one_row(command, scattered):
    scattered[3, 0] = np.nan
    pd.DataFrame(scattered, columns=["x", "y"]).to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv")
    assert line.startswith('values are missing in 1 row, by column: "x" 1.')


def test_dates_and_weights_that_are_no_numbers(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    frame.assign(day=pd.Timestamp("2024-01-01")).to_parquet("t.parquet")
    assert 'column "day" is a date or time.' in command.refused(3, "fit", "t.parquet")
    frame.assign(w="heavy").to_parquet("t.parquet")
    line = command.refused(3, "fit", "t.parquet", "--weight", "w")
    assert line.startswith('column "w" is text, but weights must be numbers.')


def test_missing_values_are_counted_by_column(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    frame.loc[[1, 2, 3], "x"] = np.nan
    frame.loc[[3, 4], "y"] = np.nan
    frame.to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv", *FAST)
    assert line.startswith(
        'values are missing in 4 rows, by column: "x" 3, "y" 2. Use column means'
    )
    assert "4 rows with missing values" in command.ok("fit", "t.csv", *FAST, "--missing", "drop")
    assert "5 missing values with column means" in command.ok(
        "fit", "t.csv", *FAST, "--missing", "mean"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"t.{ending}", content)
        for ending in ("csv", "parquet", "feather", "npy", "npz")
        for content in ("csv", "parquet", "npy")
        if ending != content
    ],
)
def test_a_file_that_is_not_what_its_ending_says(command, name, content, scattered, model):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    with open(name, "wb") as stream:
        {
            "csv": lambda: frame.to_csv(stream, index=False),
            "parquet": lambda: stream.write(frame.to_parquet()),
            "npy": lambda: np.save(stream, scattered),
        }[content]()
    for line in (command.refused(3, "fit", name), command.refused(3, "predict", model, name)):
        assert line.startswith(f"{name} is not ")
        assert "looks like " in line
        assert "--format" in line
    command.ok("fit", name, "--format", content, *FAST)


@pytest.mark.parametrize("name", ["t.parquet", "t.npz", "model.npz"])
def test_a_file_cut_short(command, name, scattered, model, tmp_path):
    pd.DataFrame(scattered, columns=["x", "y"]).to_parquet("t.parquet")
    np.savez("t.npz", X=scattered)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) * 2 // 3])
    if name == "model.npz":
        assert "not a model file, or it is damaged" in command.refused(3, "info", name)
    else:
        assert f"{name} is" in command.refused(3, "fit", name)


@pytest.mark.parametrize("ending", ["png", "jpg", "tiff", "webp"])
def test_a_truncated_image(command, ending, tmp_path):
    from PIL import Image

    pixels = np.random.RandomState(0).randint(0, 255, (60, 60, 3)).astype(np.uint8)
    path = tmp_path / f"image.{ending}"
    Image.fromarray(pixels).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    line = command.refused(3, "segment", path.name, "-o", "out")
    assert line.startswith(f"image.{ending} is damaged or cut short")
    assert not (tmp_path / "out").exists()


def test_no_image(command, table, tmp_path):
    assert "table.csv is not a PNG, JPEG" in command.refused(3, "segment", table, "-o", "out")
    (tmp_path / "empty").mkdir()
    line = command.refused(3, "segment", "empty", "-o", "out")
    assert line.startswith("the folder empty contains no image")


OUTPUTS = {
    "labels.csv": ("fit", "table.csv", *FAST, "-o"),
    "labels.parquet": ("fit", "table.csv", *FAST, "-o"),
    "labels.arrow": ("fit", "table.csv", *FAST, "-o"),
    "model2.npz": ("fit", "table.csv", *FAST, "--model"),
    "report.html": ("fit", "table.csv", *FAST, "--report"),
    "predicted.csv": ("predict", "model.npz", "table.csv", "-o"),
    "predicted.parquet": ("predict", "model.npz", "table.csv", "-o"),
    "sweep.csv": ("sweep", "table.csv", "--psi", "4,8", "--n-partitions", "4", "-o"),
    "sweep.png": ("sweep", "table.csv", "--psi", "4,8", "--n-partitions", "4", "--plot"),
    "demo.csv": ("demo",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_exists(command, name, model, tmp_path):
    (tmp_path / name).write_text("precious")
    assert command.refused(4, *OUTPUTS[name], name) == f"{name} exists. Overwrite it with --force."
    assert (tmp_path / name).read_text() == "precious"
    command.ok(*OUTPUTS[name], name, "--force")
    assert (tmp_path / name).read_bytes() != b"precious"


@pytest.mark.parametrize("name", ["labels.csv", "model2.npz", "report.html", "predicted.csv"])
def test_an_output_that_cannot_be(command, name, model, tmp_path):
    line = command.refused(4, *OUTPUTS[name], f"nowhere/{name}")
    assert line == f"there is no folder nowhere to write {name} to. Create it first."
    (tmp_path / name).mkdir()
    assert f"{name} is a folder" in command.refused(4, *OUTPUTS[name], name)


def test_an_output_that_is_the_input_or_another_output(command, table, model):
    line = command.refused(4, "fit", table, "-o", "table.csv", "--force")
    assert line.startswith("table.csv is the input.")
    line = command.refused(4, "predict", model, table, "-o", "./table.csv", "--force")
    assert line.startswith("./table.csv is the input.")
    line = command.refused(4, "fit", table, "-o", "o.csv", "--model", "o.csv")
    assert line.startswith("o.csv is used for two outputs.")


def test_an_output_of_no_known_format(command, table, model):
    line = command.refused(2, "fit", table, "-o", "labels.xlsx")
    assert line.startswith("labels.xlsx has an unknown extension. Use one of .csv")
    assert "sweep.bmp must end in one of" in command.refused(
        2, "sweep", table, "--plot", "sweep.bmp"
    )


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["writing", "syncing"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_full_disk(command, name, moment, model, tmp_path, monkeypatch):
    (tmp_path / name).write_text("precious")
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if moment == "syncing":
        monkeypatch.setattr(os, "fsync", full)
    else:
        new_file = files._new_file
        monkeypatch.setattr(files, "_new_file", lambda path: FullStream(new_file(path)))
    line = command.refused(4, *OUTPUTS[name], name, "--force")
    assert line == f"{name} could not be written: No space left on device."
    assert (tmp_path / name).read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


class FullStream:
    """A file on a disk that takes a hundred bytes more."""

    def __init__(self, stream):
        self._stream, self._left = stream, 100

    def write(self, content):
        self._left -= memoryview(content).nbytes
        if self._left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._stream.write(content)

    def __getattr__(self, name):
        return getattr(self._stream, name)


def test_a_full_disk_while_segmenting(command, tmp_path, monkeypatch):
    from PIL import Image

    pixels = np.zeros((20, 20, 3), dtype=np.uint8)
    pixels[:10] = 255
    Image.fromarray(pixels).save("flag.png")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    line = command.refused(4, "segment", "flag.png", "-o", "out")
    assert line == "out could not be written: No space left on device."
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["predicted.csv", "predicted.parquet", "model2.npz"])
def test_a_limit_of_the_system_itself(command, name, model, tmp_path):
    """What the operating system refuses to write, for true."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    process = start(*OUTPUTS[name], name, folder=tmp_path, preexec_fn=limit)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 4
    assert err == f"Error: {name} could not be written: File too large.\n"
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"table.csv", "model.npz"}


@pytest.mark.slow
def test_a_standard_output_that_takes_nothing(model, tmp_path):
    with open("/dev/full", "w") as full:
        process = start("predict", "model.npz", "table.csv", folder=tmp_path, stdout=full)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 4
    assert err == "Error: standard output could not be written: No space left on device.\n"


@pytest.fixture
def interruptible():
    """Processes that a shell started in the background ignore interruptions."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interruption_while_reading(tmp_path, table):
    (tmp_path / "labels.csv").write_text("precious")
    process = start(
        "fit", "-", "-o", "labels.csv", "--force", folder=tmp_path, stdin=subprocess.PIPE
    )
    process.stdin.write("x,y\n1,2\n" * 20_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err in ("", "Error: interrupted. No incomplete file was left behind.\n")
    assert (tmp_path / "labels.csv").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"labels.csv", "table.csv"}


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stage", ["choose", "encode", "link", "grow", "refine"])
def test_interruption_of_a_fit(command, stage, table, tmp_path, monkeypatch):
    paper = ("--tau", "0.05") if stage in ("grow", "refine") else ()
    (tmp_path / "labels.csv").write_text("precious")

    def interrupt(bars, progress):
        if progress.stage == stage:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Bars, "of_fit", interrupt)
    line = command.refused(130, "fit", table, "-o", "labels.csv", "--force", *paper)
    assert line == "interrupted. No incomplete file was left behind."
    assert (tmp_path / "labels.csv").read_text() == "precious"


def test_an_interrupt_that_python_discards_comes_again():
    """In a finaliser or the callback of a weak reference, Python prints and discards it."""
    code = (
        "import signal, sys, time; from pskclust.__main__ import interrupt_again\n"
        # A process in the background inherits that interrupts are ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.unraisablehook = interrupt_again\n"
        "class Interrupted:\n"
        "    def __del__(self): raise KeyboardInterrupt\n"
        "try:\n"
        "    Interrupted(); time.sleep(60)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
        "class Failing:\n"
        "    def __del__(self): raise ValueError('of a finaliser')\n"
        "Failing()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=50
    )
    assert answer.stdout == "interrupted\n"
    assert "KeyboardInterrupt" not in answer.stderr
    assert "ValueError: of a finaliser" in answer.stderr


@pytest.mark.slow
def test_termination_cleans_up(tmp_path, model):
    """As `kill` and a shutdown do it, in the middle of a file that is being written."""
    code = (
        "import os, signal, sys; from pskclust.__main__ import main\n"
        "os.fsync = lambda descriptor: signal.raise_signal(signal.SIGTERM)\n"
        "sys.argv[1:] = ['predict', 'model.npz', 'table.csv', '-o', 'out.csv']; main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, timeout=300
    )
    assert answer.returncode == 128 + signal.SIGTERM
    assert {path.name for path in tmp_path.iterdir()} == {"model.npz", "table.csv"}


ROUNDS = """
import itertools
from pskclust.cli.app import run
for seed in itertools.cycle("01"):
    run(["fit", "table.csv", "--psi", "8", "--n-partitions", "10", "--seed", seed, "--force",
         "-o", "labels.csv", "--model", "out.npz"])
    run(["predict", "out.npz", "table.csv", "-o", "predicted.parquet", "--force"])
    print("round", flush=True)
"""


@pytest.mark.slow
def test_a_kill_leaves_the_old_file_or_the_complete_new_one(command, table, tmp_path):
    names = ("labels.csv", "out.npz", "predicted.parquet")
    complete = {name: set() for name in names}
    for seed in "01":
        command.ok(
            "fit", table, *FAST, "--seed", seed, "--force", *("-o", names[0]), "--model", names[1]
        )
        command.ok("predict", names[1], table, "-o", names[2], "--force")
        for name in names:
            complete[name].add((tmp_path / name).read_bytes())
    assert all(len(versions) == 2 for versions in complete.values())
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    waits = np.random.RandomState(0).uniform(0, 0.5, 5)
    for wait in waits:
        process = subprocess.Popen(
            [sys.executable, "-c", ROUNDS], cwd=tmp_path, env=environment, stdout=subprocess.PIPE
        )
        # It is under way when the first round is printed; then any moment will do.
        while b"round" not in process.stdout.readline():
            assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(wait)
        process.kill()
        process.communicate(timeout=60)
        for name in names:
            assert (tmp_path / name).read_bytes() in complete[name]


def test_parameters_that_cannot_be(command, table):
    assert "--psi 1 is not allowed" in command.refused(2, "fit", table, "--psi", "1")
    assert "'many' is neither a whole number nor 'auto'" in command.refused(
        2, "fit", table, "--psi", "many"
    )
    assert "See: pskclust fit --help" in command.refused(2, "fit", table, "--nonsense")
    line = command.refused(3, "fit", table, "--psi", "1000")
    assert "--psi 1000 is more than the " in line
    assert "rows that the choice is made on" in line
    grown = command.refused(3, "fit", table, "--psi", "1000", "--tau", "0.1")
    assert "or --replace to draw centres with replacement" in grown
    assert "must be whole numbers separated by" in command.refused(
        2, "sweep", table, "--psi", "a,b"
    )


def test_the_model_comes_before_the_data(command, table, model):
    line = command.refused(2, "predict", table, model)
    # The line ends in the command, so that it can be copied to its end.
    assert line == f"the model comes before the data: pskclust predict {model} {table}"
    assert "is not a model file" in command.refused(3, "predict", table, table)


def test_images_with_one_name_are_named(command, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "flag.png").write_bytes(b"")
    line = command.refused(3, "segment", "one", "two", "-o", "out")
    assert line == "2 images have the name flag.png. Segment each into a different folder."


@pytest.mark.parametrize("name", ["photo.png", "photo.csv", "photo.npz"])
def test_images_and_tables_have_commands_of_their_own(command, table, name):
    Image.new("RGB", (4, 4)).save(name, "png")
    line = command.refused(3, "fit", name)
    assert line == (
        f"{name} is a PNG image, not a table. Segment images with: pskclust segment {name} -o parts"
    )
    line = command.refused(3, "segment", table, "-o", "parts")
    assert line.endswith(f"Cluster tables with: pskclust fit {table}")


def test_a_model_is_no_table(command, model):
    line = command.refused(3, "fit", model)
    assert (
        line
        == f"{model} is a model. Find the clusters of new rows with: pskclust predict {model} DATA"
    )


def test_a_spreadsheet_is_to_be_saved_as_text(command):
    Path("t.xlsx").write_bytes(b"PK\x03\x04")
    line = command.refused(3, "fit", "t.xlsx")
    assert line == "t.xlsx is a spreadsheet. Save the sheet as CSV, and use that."


def test_text_of_another_encoding(command):
    rows = "".join(f"{i},{i % 7}\n" for i in range(60))
    Path("old.csv").write_bytes(f"caf\xe9,b\n{rows}".encode("cp1252"))
    line = command.refused(3, "fit", "old.csv", *FAST)
    assert line == (
        "old.csv is not UTF-8 text. Name its encoding, such as: "
        "pskclust fit old.csv --encoding cp1252 --psi 8 --n-partitions 10"
    )
    answer = command("fit", "old.csv", "--encoding", "cp1252", *FAST)
    assert answer.code == 0
    assert "caf\xe9, b" in answer.out
    for unknown in ("klingon", "base64"):
        line = command.refused(3, "fit", "old.csv", "--encoding", unknown)
        assert f"the encoding '{unknown}' is not known" in line


def test_columns_that_are_not_there(command, table, model):
    assert 'table.csv has no column "z". It has "x", "y".' in command.refused(
        3, "fit", table, "--drop", "z"
    )
    pd.DataFrame({"x": [1.0, 2], "z": [1.0, 2]}).to_csv("other.csv", index=False)
    line = command.refused(3, "predict", model, "other.csv")
    assert line.startswith('other.csv lacks "y", which the model was fitted to.')


def test_too_little_memory(command, table, monkeypatch):
    from pskclust._utils import memory as _memory

    monkeypatch.setattr(_memory, "available_bytes", lambda: 10)
    assert "of memory is available" in command.refused(5, "fit", table)


def test_debug_shows_where(command, tmp_path):
    answer = command("fit", "no.csv", "--debug")
    assert answer.code == 3
    assert "Traceback" in answer.err
    assert answer.err.endswith("Error: there is no file no.csv.\n")


@pytest.mark.slow
def test_a_reader_that_has_had_enough(tmp_path, model):
    pd.DataFrame(np.zeros((200_000, 2)), columns=["x", "y"]).to_parquet(tmp_path / "many.parquet")
    process = start("predict", "model.npz", "many.parquet", folder=tmp_path)
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=300)
    process.stderr.close()
    assert err == ""


def test_a_title_is_named_and_skipped(command):
    rows = "\n".join(f"{a},{a * 7 % 11},{a % 5}" for a in range(40))
    Path("t.csv").write_text(f"Exported by Ann\n\nx,y,z\n{rows}\n")
    text = command.ok("fit", "t.csv", "--columns", "y,z")
    assert '"Exported by Ann" looks like a title, so the table starts in line 3.' in text
    assert "40 rows" in text


def test_a_sweep_of_few_rows_leaves_out_larger_psi(command):
    rows = np.random.RandomState(0).randn(30, 2)
    pd.DataFrame(rows, columns=["x", "y"]).to_csv("t.csv", index=False)
    fast = ("--seeds", "2", "--n-partitions", "10")
    out = command.ok("sweep", "t.csv", *fast)
    assert "Not tried: psi 32, 64, 128, which is more than the 30 rows." in out
    content = json.loads(command.ok("sweep", "t.csv", *fast, "--json"))
    assert {pair["psi"] for pair in content["pairs"]} == {16}
    assert content["psi_left_out"] == [32, 64, 128]
    # What the user asks for is refused.
    assert "--psi 64 is more" in command.refused(3, "sweep", "t.csv", *fast, "--psi", "16,64")


def test_a_folder_says_which_files_are_read(command):
    rows = pd.DataFrame(np.random.RandomState(0).randn(60, 2), columns=["x", "y"])
    os.mkdir("d")
    rows.to_parquet("d/part.parquet")
    assert "is a folder" not in command.ok("fit", "d")
    for number in range(3):
        rows.to_csv(f"d/{number}.csv")
    text = command.ok("fit", "d")
    assert "d is a folder: 1 Parquet file is read (part.parquet), 3 other files are not." in text
    rows.to_parquet("d/part2.parquet")
    text = command.ok("fit", "d")
    assert "d is a folder: 2 Parquet files are read (part.parquet to part2.parquet)" in text
