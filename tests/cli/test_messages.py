"""Messages of commands: in words of the command line, with the way out."""

from __future__ import annotations

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
    assert refused.endswith("takes the latitude first. Pass the columns in the order 'lat', 'lon'.")
    command.ok("fit", "t.csv", "--metric", "haversine", "--columns", "lat,lon")
    Path("r.csv").write_text("lat,lon\n" + "".join(f"{k % 7 / 9},{k % 5}\n" for k in range(40)))
    Path("r.csv").write_text(Path("r.csv").read_text().replace(",4", ",3"))
    answer = command("fit", "r.csv", "--metric", "haversine")
    assert "Warning: All values of X are within the range of radians" in answer.err
