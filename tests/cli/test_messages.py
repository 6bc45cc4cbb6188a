"""Messages of commands: in words of the command line, with the way out."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from pskclust.cli.failures import end_of


@pytest.fixture
def table(scattered, tmp_path):
    np.savetxt(tmp_path / "t.csv", scattered, delimiter=",", header="x,y", comments="")
    return "t.csv"


def test_a_file_in_place_of_a_command(command, table):
    line = command.refused(2, table)
    assert line == f"{table} is a file, not a command. Cluster its rows with: pskclust fit {table}"
    line = command.refused(2, "dem")
    assert "?." not in line
    assert line.endswith("See: pskclust --help")


def test_messages_speak_of_options(command, table):
    line = command.refused(3, "fit", table, "--psi", "1000", "--tau", "0.1")
    assert line.startswith("--psi 1000 is more than the 420 rows. Use --psi 420 or less")
    line = command.refused(3, "fit", table, "--n-clusters", "5000")
    assert "Use --n-clusters" in line
    assert line.endswith("or less.")
    assert " X " not in line
    line = command.refused(2, "demo", "--rows", "1e9")
    assert "'1e9' is not a valid whole number" in line


def test_a_table_in_place_of_a_model(command, table):
    line = command.refused(3, "info", table)
    assert line.startswith(f"{table} is not a model file")
    assert "pskclust fit --model" in line
    assert "PSKC" not in line


def test_errors_of_the_system_have_words_and_no_number():
    line, _ = end_of(OSError(98, "port 8765 cannot be used"))
    assert line == "port 8765 cannot be used"
    assert end_of(OSError(5, "Input/output error", "t.csv"))[0] == "t.csv: Input/output error"


def test_an_option_of_other_commands_is_not_taken_for_help(command, table):
    line = command.refused(2, "predict", "m.npz", table, "--label", "x")
    assert "Did you mean" not in line
    assert "No such option '--label'. It is an option of fit, sweep and explore." in line
    assert "'--similarity'" in command.refused(2, "predict", "m", "t", "--similar")


def test_several_files_are_not_all_listed(command):
    line = command.refused(2, "fit", *(f"part {number}.csv" for number in range(30)))
    assert line.startswith("one file at a time: leave out part 1.csv and ")
    assert len(line) < 150


def test_values_separated_by_spaces_are_told_from_files(command):
    line = command.refused(2, "fit", "t.csv", "--columns", "age,", "income")
    assert line.startswith(
        "one file at a time: leave out income. Separate the values of --columns by "
        "commas, without spaces: --columns a,b."
    )


def test_columns_beside_labels_need_a_file_for_the_labels(command, table):
    line = command.refused(2, "fit", table, "--keep-columns")
    assert "Name the file for the labels with -o" in line
    command.ok("fit", table, "--keep-columns", "-o", "labels.csv")


def test_addresses_are_not_read(command):
    line = command.refused(3, "fit", "https://example.org/t.csv")
    assert line == (
        "https://example.org/t.csv is an address, and addresses are not read. Download the file "
        "first."
    )


def test_a_delimiter_may_be_a_word(command):
    Path("t.csv").write_text("a\tb\n" + "1\t2\n2\t3\n5\t1\n" * 5)
    for word in ("tab", "TAB", "\\t", "\t"):
        assert "--delimiter tab --seed" in command.ok("fit", "t.csv", "--delimiter", word)
    line = command.refused(2, "fit", "t.csv", "--delimiter", "tabs")
    assert "Invalid value for '--delimiter': 'tabs' is not a delimiter." in line


def test_limits_are_in_words(command):
    assert "0 to 4,294,967,295" in " ".join(command.ok("fit", "--help").split())
    assert "<=x" not in command.ok("fit", "--help")
    assert "INTEGER" not in command.ok("fit", "--help") + command.ok("plan", "--help")
    assert "is not in the range 1 or more" in command.refused(
        2, "plan", "--rows", "0", "--columns", "2", "--workers", "3"
    )


def test_rows_of_a_plan_may_have_an_exponent(command):
    words = ("--columns", "8", "--workers", "100", "--json")
    billion = command.ok("plan", "--rows", "1e9", *words)
    assert billion == command.ok("plan", "--rows", "1000000000", *words)
    assert "not a valid whole number" in command.refused(2, "plan", "--rows", "1.5", *words)


def test_standard_input_is_to_be_passed_again(command, table, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(table).read_bytes())))
    out = command.ok("fit", "-")
    assert "  pskclust fit - --seed 0 < yourfile\n  from pskclust import PSKC\n" in out


def test_no_confidence_is_printed_where_nothing_was_compared(command):
    Path("two.csv").write_text("a,b\n1,2.5\n2,3.5\n")
    assert "confidence" not in command.ok("fit", "two.csv")
    Path("same.csv").write_text("a,b\n" + "1,2\n" * 50)
    assert "confidence" not in command.ok("fit", "same.csv")


def test_two_rows_are_not_numbered(command):
    Path("two.csv").write_text("a,b\n1,2.5\n2,3.5\n")
    assert "row number" not in command.ok("fit", "two.csv")


def test_a_default_seed_is_not_given(command, table):
    assert "seed 0 (default)" in command.ok("fit", table)
    assert "seed 7\n" in command.ok("fit", table, "--seed", "7")


@pytest.mark.filterwarnings("default:No cluster was found")
def test_a_fit_without_clusters_and_swapped_degrees_are_pointed_out(command):
    Path("t.csv").write_text("lon,lat\n" + "".join(f"{k % 7},{40 + k % 5}\n" for k in range(40)))
    answer = command("fit", "t.csv", "--tau", "0.999", "--psi", "8")
    assert answer.code == 0
    assert answer.err == (
        "Warning: No cluster was found: no pair of rows is similar enough to start one. Lower "
        "--tau 0.999.\n"
    )
    refused = command.refused(3, "fit", "t.csv", "--metric", "haversine")
    assert "takes the latitude first" in refused
    command.ok("fit", "t.csv", "--metric", "haversine", "--columns", "lat,lon")
    Path("r.csv").write_text("lat,lon\n" + "".join(f"{k % 7 / 9},{k % 5}\n" for k in range(40)))
    Path("r.csv").write_text(Path("r.csv").read_text().replace(",4", ",3"))
    answer = command("fit", "r.csv", "--metric", "haversine")
    assert "Warning: All values of X are within the range of radians" in answer.err
