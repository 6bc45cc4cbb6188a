"""The command that an error proposes keeps what was typed, can be pasted, and works."""

from __future__ import annotations

import io
import json
import os
import shlex

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.helpers.cli import in_python

MOST_STEPS = 2
FAST = ("--psi", "8", "--n-partitions", "10", "--seed", "3")
N_ROWS = 60


def columns():
    """Return columns of every kind by name; all of them together are a hard table."""
    numbers = np.random.RandomState(0).randn(N_ROWS, 3)
    gaps = np.abs(numbers[:, 2])
    gaps[::9] = np.nan
    mostly_gaps = gaps.copy()
    mostly_gaps[5:] = np.nan
    kinds = pd.Series(["oak", "elm", "ash"] * (N_ROWS // 3))
    return {
        "x": numbers[:, 0],
        "y": numbers[:, 1],
        "gaps": gaps,
        "mostly gaps": mostly_gaps,
        "staggered": np.where(np.arange(N_ROWS) % 9, np.nan, gaps[1]),
        "empty": np.full(N_ROWS, np.nan),
        "also, empty": np.full(N_ROWS, np.nan),
        "name": [f"tree {i}" for i in range(N_ROWS)],
        'the "kind"': kinds,
        "class": pd.Series([0, 1, None] * (N_ROWS // 3)),
        "constant": np.ones(N_ROWS),
        "number": np.arange(N_ROWS),
        "weight": 1.0 + np.arange(N_ROWS) % 2,
    }


# The columns of a table, and what is typed beside its name.
SITUATIONS = [
    (("x", "y", "name"), ()),
    (("x", "y", "name"), ("--id", "name")),
    (("x", "y", "name", 'the "kind"'), ("--id", "name")),
    (("x", "y", "name", 'the "kind"'), ("--label", 'the "kind"')),
    (("x", "y", "name", 'the "kind"'), ("--drop", "name")),
    (("x", "y", 'the "kind"'), ()),
    (("x", "y", "gaps"), ()),
    (("x", "y", "gaps", "name"), ("--scale", "standard")),
    (("x", "y", "gaps", "name", 'the "kind"'), ()),
    (("x", "y", "gaps", "class"), ("--id", "y")),
    (("x", "y", "class"), ()),
    (("x", "y", "class", "name"), ()),
    (("x", "y", "class", "name"), ("--id", "name")),
    (("x", "y", "mostly gaps"), ()),
    (("x", "gaps", "staggered"), ("--missing", "drop")),
    (("x", "gaps", "weight"), ("--weight", "weight")),
    (("x", "y", "empty"), ()),
    (("x", "y", "empty", "also, empty"), ()),
    (("x", "y", "empty", "also, empty"), ("--missing", "mean")),
    (("x", "y", "empty", "gaps"), ("--missing", "drop")),
    (("x", "y", "empty", "gaps", "name"), ("--drop", "y")),
    (("x", "y", "constant", "number"), ("--id", "number")),
    (("x", "constant", "number", "name"), ("--scale", "minmax")),
    (("x", "y", "name"), ("--columns", "x,name")),
    (("x", "y", "name"), ("--columns", "name")),
    (("x", "y", "gaps"), ("--columns", "gaps,x")),
    (("x", "y", "gaps", "empty"), ("--columns", "gaps,empty")),
    (("x", "y", "empty"), ("--columns", "empty")),
    (("x", "y", "gaps", "name"), ("--columns", "gaps,name,x", "--id", "y")),
    (("x", "y", "name"), ("--weight", "name")),
    (("x", "y", "gaps"), ("--weight", "gaps", "--missing", "mean")),
    (("x", "y", "empty"), ("--weight", "empty")),
    (("x", "y", "staggered", "gaps"), ("--weight", "staggered", "--missing", "drop")),
    (("x", "y", "empty"), ("--label", "empty")),
    (("x", "y", "empty", "name"), ("--label", "empty")),
]


def written(names, ending="csv"):
    name = f"my table.{ending}"
    frame = pd.DataFrame({name: values for name, values in columns().items() if name in names})
    frame = frame[list(names)]
    if ending == "csv":
        frame.to_csv(name, index=False)
    else:
        frame.to_parquet(name)
    return name


def proposed(line):
    """Return the words of the command at the end of an error."""
    assert ": pskclust " in line, line
    command = line.rpartition(": pskclust ")[2]
    return shlex.split(command.partition(" (otherwise")[0].partition(" (if ")[0])


def followed(command, words):
    """Return all commands up to the one that works, each proposed by the one before."""
    tried = [words]
    while True:
        answer = command(*tried[-1])
        if answer.code == 0:
            return tried
        assert len(tried) <= MOST_STEPS, (answer.err, tried)
        tried.append(proposed(answer.err))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("names", "typed"), SITUATIONS, ids=lambda words: " ".join(words))
def test_proposals_lead_to_a_fit_and_keep_what_was_typed(command, names, typed, ending):
    words = ["fit", written(names, ending), *typed, *FAST, "-o", "labels.csv", "--keep-columns"]
    last = followed(command, words)[-1]
    assert os.path.exists("labels.csv")
    assert last[:2] == words[:2]
    kept = {*FAST, "-o", "labels.csv", "--keep-columns"}
    assert kept <= set(last)
    for flag, value in zip(typed[::2], typed[1::2], strict=True):
        if flag in ("--id", "--drop", "--scale"):
            assert value in last[last.index(flag) + 1]
    if "--columns" in typed:
        assert "--columns" in last
        assert "--drop" not in last


@pytest.mark.slow
@pytest.mark.parametrize(("names", "typed"), SITUATIONS[::6], ids=lambda words: " ".join(words))
def test_proposals_lead_to_a_sweep(command, names, typed):
    grid = ("--psi", "4,8", "--tau", "0.05,0.1", "--n-partitions", "5", "--seeds", "2")
    last = followed(command, ["sweep", written(names), *typed, *grid])[-1]
    assert set(grid) <= set(last)


def test_the_demo_proposes_its_label(command):
    command.ok("demo", "--rows", "2000")
    line = command.refused(3, "fit", "demo.csv")
    assert 'If "shape" holds known classes, use: pskclust fit demo.csv --label shape (' in line
    assert line.index("--label shape") < line.index("--missing drop")
    assert "ARI" in command.ok(*proposed(line), *FAST)


def test_stray_values_are_counted_and_found(command):
    ages = [str(20 + number % 60) for number in range(400)]
    ages[300], ages[301] = "n/k", "?"
    pd.DataFrame({"age": ages, "x": range(400)}).to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv")
    assert line == (
        'column "age" holds 1 value that is not a number among 399 values (line 302: "n/k"). '
        "Correct it, or, if it stands for a missing value, use: pskclust fit t.csv --missing drop "
        "--missing-values n/k"
    )
    command.ok(*proposed(line), *FAST)
    # Seen at the beginning or while reading, the message is the same.
    ages[3], ages[300] = "n/k", "unknown"
    pd.DataFrame({"age": ages, "x": range(400)}).to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv")
    assert (
        'holds 2 values that are not numbers among 399 values (the first in line 5: "n/k")' in line
    )
    assert "Correct them, or, if they stand for missing values" in line
    assert line.endswith("--missing drop --missing-values n/k,unknown")
    assert "3 rows with missing values" in command.ok(*proposed(line), *FAST)
    line = command.refused(3, "fit", "t.csv", "--missing", "mean")
    assert line.endswith("--missing mean --missing-values n/k,unknown")
    assert "filled in" in command.ok(*proposed(line), *FAST)


def test_words_for_missing_values_are_missing_in_predict_and_among_classes(command):
    rows = np.random.RandomState(0).randn(60, 2)
    table = pd.DataFrame(rows, columns=["x", "y"]).assign(kind=["oak", "elm", "unknown"] * 20)
    table.to_csv("t.csv", index=False)
    words = ("--label", "kind", "--missing-values", "unknown", "--json", *FAST)
    with_words = json.loads(command.ok("fit", "t.csv", "--model", "m.npz", *words))
    table.replace("unknown", "").to_csv("empty.csv", index=False)
    without = json.loads(command.ok("fit", "empty.csv", "--label", "kind", "--json", *FAST))
    assert with_words["scores"] == without["scores"]
    table.astype(object).assign(x=["unknown", *rows[1:, 0]]).to_csv("new.csv", index=False)
    line = command.refused(3, "predict", "m.npz", "new.csv", "-o", "p.csv")
    assert "1 row with missing values" in command.ok(*proposed(line))


@pytest.mark.parametrize("cell", ["59,588.56", "$59588.56", "12 %", "1 234 567", "5.257,36"])
def test_numbers_with_signs_and_separators_are_named(command, cell):
    pd.DataFrame({"x": range(20), "income": [cell] * 20}).to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv")
    assert f'column "income" is text ("{cell}": remove thousands separators' in line
    # The column is to be corrected, so no command without it is proposed.
    assert "--drop" not in line


def test_a_column_of_decorated_numbers_is_not_dropped_with_those_of_text(command):
    table = pd.DataFrame({"x": range(20), "income": ["5.257,36"] * 20, "name": ["Ann"] * 20})
    table.to_csv("t.csv", index=False, sep=";")
    line = command.refused(3, "fit", "t.csv")
    assert "remove thousands separators" in line
    assert line.endswith("Then use: pskclust fit t_numbers.csv --drop name")
    table["income"] = ["5.257,36"] * 3 + [str(number) for number in range(17)]
    table.drop(columns="name").to_csv("t.csv", index=False, sep=";")
    line = command.refused(3, "fit", "t.csv")
    assert '"5.257,36": remove thousands separators, currency signs and the like). ' in line
    assert "--drop" not in line


@pytest.mark.parametrize(
    ("cells", "values", "sep"),
    [
        (["5.257,36", "57,5", "-1.000.000"], [5257.36, 57.5, -1e6], ";"),
        (["5,257.36", "57.5", ""], [5257.36, 57.5, np.nan], ","),
        (["$5257.36", "$57", "$ -2"], [5257.36, 57, -2], "\t"),
        (["12 %", "7 %", "3.5 %"], [12, 7, 3.5], ","),
        (["1 234 567", "12", "5"], [1234567, 12, 5], "|"),
    ],
)
def test_a_command_converts_numbers_with_signs_and_separators(command, cells, values, sep):
    table = pd.DataFrame({"x": np.arange(21) / 2, "the income": cells * 7, "name": ["Ann"] * 21})
    with open("my t.csv", "w") as stream:
        stream.write("Incomes\n\n")
        table.to_csv(stream, index=False, sep=sep, decimal="," if sep == ";" else ".")
    line = command.refused(3, "fit", "my t.csv", "--missing", "mean", *FAST)
    code = shlex.split(line.partition(" with: ")[2].partition(" Then use: ")[0])
    assert code[:2] == ["python", "-c"]
    in_python(code[2])
    found = pd.read_csv("my t_numbers.csv")
    assert found["the income"].tolist() == pytest.approx(values * 7, nan_ok=True)
    assert found["x"].tolist() == table["x"].tolist()
    assert proposed(line)[:2] == ["fit", "my t_numbers.csv"]
    command.ok(*proposed(line))


def test_words_for_missing_values_are_found_beside_a_column_of_text(command):
    frame = pd.DataFrame({"x": range(200), "w": np.arange(200) % 7}).astype(object)
    frame.loc[::10, "w"] = "-"
    frame["group"] = list("abcd") * 50
    frame.to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv", *FAST)
    assert 'Leave "group" out, and correct the values. Or, if they stand for missing' in line
    words = proposed(line)
    assert words[words.index("--drop") + 1] == "group"
    assert words[words.index("--missing-values") + 1] == "-"
    assert "20 rows with missing values" in command.ok(*words)
    # Values that are no words for missing values are to be corrected: only text is left out.
    frame.loc[::10, "w"] = [f"{number}a" for number in range(20)]
    frame.to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv")
    assert line.endswith(
        'Correct them, then leave "group" out with: pskclust fit t.csv --drop group'
    )


def test_a_column_with_points_is_named_beside_one_with_commas(command):
    with open("t.csv", "w") as stream:
        stream.write("a;b\n" + "180,8;56626.06\n" * 20)
    line = command.refused(3, "fit", "t.csv")
    assert 'column "a" is text ("180,8", but column "b" has points, such as 56626.06: ' in line
    assert "If the points are decimal points, convert the commas with: python" in line


def test_all_columns_that_may_hold_classes_are_named(command):
    rows = {"x": range(60), "first": list("abc") * 20, "second": list("de") * 30}
    pd.DataFrame(rows).to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv")
    assert "Leave them out with: pskclust fit t.csv --drop first,second (if" in line
    assert 'if "first" or "second" holds known classes, name that column with --label' in line


def test_of_several_columns_of_text_one_may_hold_classes(command):
    line = command.refused(3, "fit", written(("x", "y", "name", 'the "kind"')))
    assert line.endswith(
        '(if "the "kind"" holds known classes, name that column with --label instead of --drop)'
    )
    words = proposed(line)
    assert words[words.index("--drop") + 1] == 'name,"the ""kind"""'
    command.ok(*words, *FAST)


def test_a_column_that_may_hold_classes_is_left_out_by_the_command_to_copy(command):
    table = written(("x", "y", 'the "kind"'))
    line = command.refused(3, "fit", table)
    assert "Leave it out with: pskclust fit 'my table.csv' --drop " in line
    assert "holds known classes, name that column with --label" in line


def test_a_wrong_delimiter_is_taken_back(command):
    with open("g.csv", "w") as stream:
        stream.write("a;b;c\n" + "".join(f"{n};{n % 7},5;6.4{n}\n" for n in range(40)))
    line = command.refused(3, "fit", "g.csv", "--delimiter", ",")
    assert line.endswith("Rows look separated by ';'. Leave --delimiter out: pskclust fit g.csv")
    written(("x", "y"))
    words = ("fit", "my table.csv", "--columns", "x,y", "--delimiter", ";", *FAST)
    line = command.refused(3, *words)
    assert "Rows look separated by ','. Leave --delimiter out: " in line
    command.ok(*proposed(line))
    # A name that does not exist is not blamed on a delimiter that fits.
    line = command.refused(3, "fit", "my table.csv", "--columns", "u", "--delimiter", ",")
    assert "--delimiter" not in line


def test_proposals_for_standard_input_say_what_to_pass(command, monkeypatch):
    content = b"x;y;name\n" + b"".join(b"%d;%d;tree\n" % (n, n % 7) for n in range(40))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    line = command.refused(3, "fit", "-")
    assert line.partition(" (if ")[0].endswith("pskclust fit - --drop name < yourfile")
    content = b"x;y\n" + b"".join(b"%d;1.234,5%d\n" % (n, n) for n in range(40))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    line = command.refused(3, "fit", "-")
    assert "Save the table to a file first" in line


def test_degrees_are_not_scaled(command):
    table = written(("x", "y"))
    for name in ("fit", "sweep"):
        line = command.refused(2, name, table, "--metric", "haversine", "--scale", "standard")
        assert line.startswith(
            "--metric haversine needs degrees, which --scale standard changes. Leave --scale out."
        )


def test_latitude_and_longitude_are_found_for_haversine(command):
    rows = np.random.RandomState(0).randn(60, 3)
    pd.DataFrame(rows, columns=["lon", "lat", "height"]).to_csv("t.csv", index=False)
    words = ("fit", "t.csv", "--metric", "haversine", *FAST)
    line = command.refused(3, *words)
    assert 'but 3 of t.csv are to be clustered: "lon", "lat", "height". Choose them' in line
    assert proposed(line)[:4] == ["fit", "t.csv", "--columns", "lat,lon"]
    line = command.refused(3, *words, "--drop", "height")
    assert 'takes the latitude first, but t.csv has the columns in the order "lon", "lat"' in line
    assert proposed(line)[:4] == ["fit", "t.csv", "--columns", "lat,lon"]
    assert command(*proposed(line)).code == 0
    line = command.refused(3, *words[:2], "--columns", "height", *words[2:])
    assert line.endswith("Choose them with --columns, the latitude first.")


@pytest.mark.parametrize("flag", ["--columns", "--drop", "--id"])
def test_a_name_with_a_comma_is_quoted_for_the_user(command, flag):
    frame = pd.DataFrame(
        np.random.RandomState(0).randn(30, 3), columns=["x", "yearly, income", "z"]
    )
    frame.to_csv("t.csv", index=False)
    line = command.refused(3, "fit", "t.csv", flag, "yearly, income")
    assert line.endswith(f"""needs quotes: pskclust fit t.csv {flag} '"yearly, income"'""")
    command.ok(*proposed(line), *FAST)


def test_a_column_that_was_asked_for_is_not_proposed_to_be_dropped(command):
    table = written(("x", "y", "name", "gaps"))
    line = command.refused(3, "fit", table, "--columns", "x,name,gaps")
    assert proposed(line) == ["fit", table, "--columns", "x,gaps"]
    line = command.refused(3, *proposed(line))
    assert proposed(line) == ["fit", table, "--columns", "x,gaps", "--missing", "drop"]


def test_without_a_column_of_numbers_nothing_is_proposed(command):
    line = command.refused(3, "fit", written(("name",)))
    assert line.endswith("There is no column of numbers to cluster.")
    assert "pskclust" not in command.refused(3, "fit", written(("empty",), "parquet"))


def test_a_proposal_for_predict_keeps_what_was_typed(command):
    written(("x", "y"))
    command.ok("fit", "my table.csv", *FAST, "--model", "model.npz")
    pd.DataFrame({"n": [1, 2], "x": [1.0, None], "y": [1.0, 2]}).to_csv("new.csv", index=False)
    words = ["predict", "model.npz", "new.csv", "--id", "n", "-o", "labels.csv"]
    last = followed(command, words)[-1]
    assert last == [*words[:3], "-o", "labels.csv", "--id", "n", "--missing", "drop"]
    swapped = command.refused(2, "predict", "new.csv", "model.npz", "--similarity")
    assert "pskclust predict model.npz new.csv --similarity" in swapped


def test_a_proposal_of_another_command_keeps_what_both_know(command):
    pixels = np.zeros((20, 20, 3), dtype=np.uint8)
    pixels[:10] = 255
    Image.fromarray(pixels).save("flag.png")
    line = command.refused(3, "fit", "flag.png", *FAST, "--scale", "standard", "-o", "labels.csv")
    assert proposed(line) == ["segment", "flag.png", "-o", "parts", *FAST[:2], *FAST[2:]]
    command.ok(*proposed(line))
    table = written(("x", "y"))
    line = command.refused(3, "segment", table, "-o", "other", "--tau", "0.05", *FAST)
    command.ok(*proposed(line))
    assert proposed(line)[:2] == ["fit", table]
    assert {"--tau", "0.05", *FAST} <= set(proposed(line))


def test_a_format_and_an_encoding_are_named(command):
    rows = np.random.RandomState(0).randn(50, 2)
    with open("numbers.csv", "wb") as stream:
        np.save(stream, rows)
    assert followed(command, ["fit", "numbers.csv", *FAST])[-1][2:4] == ["--format", "npy"]
    text = "caf\xe9 \x81,b\n" + "\n".join(f"{a},{b}" for a, b in rows)
    with open("old.csv", "wb") as stream:
        stream.write(text.encode("latin-1"))
    tried = followed(command, ["fit", "old.csv", *FAST])
    assert [words[2:4] for words in tried[1:]][-1] == ["--encoding", "latin-1"]


def test_a_pipe_is_read_as_standard_input(command):
    os.mkfifo("pipe.csv")
    line = command.refused(3, "fit", "pipe.csv", "--id", "n", *FAST)
    assert line.endswith("pskclust fit - --id n --psi 8 --n-partitions 10 --seed 3 < pipe.csv")


def test_the_explorer_proposes_commands_in_the_same_way(command):
    pytest.importorskip("starlette")
    table = written(("x", "y", "name"))
    line = command.refused(3, "explore", table, "--no-browser", "--n-clusters", "3")
    last = proposed(line)
    assert last == ["explore", table, "--no-browser", "--drop", "name", "--n-clusters", "3"]


def test_names_that_look_like_options_are_kept_apart(command):
    frame = pd.DataFrame(np.random.RandomState(0).randn(30, 2), columns=["x", "y"])
    frame["--force"] = "text"
    frame.to_csv("-t.csv", index=False)
    last = followed(command, ["fit", *FAST, "--json", "--", "-t.csv"])[-1]
    assert last[-2:] == ["--", "-t.csv"]
    assert json.loads(command.ok(*last))["columns"] == ["x", "y"]


def test_guessing_classes_reads_no_more_than_a_batch():
    code = """
import pyarrow as pa
from pskclust.tables.base import Batch, NamedColumns
from pskclust.tables.classes import looks_like_classes
class Endless(NamedColumns):
    def batches(self, numbers, others=()):
        yield Batch(None, [pa.array(["a", "b"] * 50)], 0.0)
        raise AssertionError("read on")
print(looks_like_classes(Endless("endless", ("a",)), "a"))
"""
    assert in_python(code).stdout == "True\n"
