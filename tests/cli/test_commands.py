"""The command line: each command does what the library does, and says so."""

from __future__ import annotations

import inspect
import io
import json
import re
import shlex
import sys
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import pskclust
from pskclust import PSKC
from pskclust._data.parameters import CLUSTERING_RULES, check_parameters
from pskclust.cli.app import cli, run
from pskclust.cli.fit import STORAGE
from pskclust.cli.models import loaded_model
from pskclust.cli.options import PARAMETERS
from tests.helpers.cli import in_python, read_csv, start

FAST = ("--psi", "32", "--tau", "0.05", "--n-partitions", "50")
LIKE_FAST = {"psi": 32, "tau": 0.05, "n_partitions": 50, "random_state": 0}


@pytest.fixture
def frame(scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    frame["name"] = [f"row, {number}" for number in range(len(frame))]
    frame["group"] = np.repeat(["a", "b", "c", ""], (200, 120, 60, 40))
    frame["count"] = 1 + np.arange(len(frame)) % 3
    return frame


@pytest.fixture
def table(frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    return "table.csv"


PARTS = ("--id", "name", "--label", "group", "--weight", "count")


def test_hints_on_columns_that_nobody_has_chosen(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"]).assign(number=range(420))
    frame["y"] *= 1000
    frame.to_csv("t.csv", index=False)
    out = " ".join(command.ok("fit", "t.csv", *FAST).split())
    assert '"number" looks like a row number.' in out
    assert "To leave it out, add: --id number" in out
    assert '"y" varies' in out
    assert "If only their units differ, add: --scale standard" in out
    out = command.ok("fit", "t.csv", *FAST, "--id", "number", "--scale", "standard")
    assert "Hints" not in out


def test_hints_come_last_and_one_command_has_all_their_options(command, scattered):
    frame = pd.DataFrame(scattered * [1, 1000], columns=["x", "y"])
    frame = frame.assign(number=range(420), species=np.arange(420) % 3)
    frame.to_csv("t.csv", index=False)
    out = command.ok("fit", "t.csv", *FAST, "-o", "o.csv")
    before, hints = out.split("\nHints:\n")
    assert "written" in before
    hints, _ = hints.split("\nSame labels:\n")
    together = hints.splitlines()[-1]
    assert together.startswith(
        "  With all options for columns: pskclust fit t.csv -o o.csv --force "
    )
    better = command.ok(*shlex.split(together.partition(": pskclust ")[2]))
    assert "Hints" not in better
    assert 'with column "species"' in better


@pytest.mark.parametrize("streamed", [False, True])
def test_a_flag_that_splits_the_clusters_is_to_be_left_out(command, monkeypatch, streamed):
    if streamed:
        monkeypatch.setattr("pskclust.tables.reading.MOST_BYTES_IN_MEMORY", 0)
    rng = np.random.RandomState(0)
    rows = np.repeat([[0, 0], [10, 0], [5, 9]], 100, axis=0) + rng.normal(size=(300, 2))
    frame = pd.DataFrame(rows, columns=["x", "y"]).assign(flag=20 * rng.randint(0, 2, 300))
    frame.assign(number=range(300)).to_csv("t.csv", index=False)
    hints = json.loads(command.ok("fit", "t.csv", "--id", "number", "--json"))["hints"]
    (hint,) = hints
    assert hint.startswith('"flag" has 2 distinct values and splits the clusters: ')
    assert hint.endswith("To leave it out, add: --drop flag")
    together = command.ok("fit", "t.csv", "--scale", "standard").splitlines()
    (line,) = [line for line in together if "With all options" in line]
    assert line.endswith("--drop flag --id number --scale standard")
    columns = json.loads(command.ok("fit", "t.csv", "--columns", "x,y,flag", "--json"))["hints"]
    assert columns[0].endswith("whatever the other columns hold.")


def test_few_rows_are_pointed_out(command, scattered):
    pd.DataFrame(scattered[:99], columns=["x", "y"]).to_csv("t.csv", index=False)
    hint = "There are only 99 rows. With fewer than 100, clusters are uncertain."
    assert hint in json.loads(command.ok("fit", "t.csv", "--json"))["hints"]
    pd.DataFrame(scattered[:100], columns=["x", "y"]).to_csv("t.csv", index=False)
    assert "uncertain" not in command.ok("fit", "t.csv")


@pytest.mark.parametrize(
    ("number", "shown"), [(7, "a, b, c, d, e, f, g"), (8, "a, b, c, d, e, f, ...")]
)
def test_columns_are_left_out_of_the_summary_only_if_there_are_several(command, number, shown):
    rows = np.random.RandomState(0).rand(120, number)
    pd.DataFrame(rows, columns=list("abcdefgh")[:number]).to_csv("t.csv", index=False)
    assert f"{shown} (scaling: none)" in command.ok("fit", "t.csv", *FAST)


def test_segment_offers_the_metrics_of_colours(command):
    assert "[euclidean|cosine]" in command.ok("segment", "--help")
    assert "haversine" in command.ok("fit", "--help")


@pytest.mark.slow
def test_a_tiny_segment_gets_a_hint_with_the_option(command):
    from PIL import Image

    image = np.random.RandomState(0).randint(0, 20, (60, 60, 3)).astype(np.uint8)
    image[:, 30:] += 220
    image[:10, :10, 0] += 200
    Image.fromarray(image).save("flag.png")
    out = command.ok("segment", "flag.png", "-o", "parts", "--psi", "auto", "--tau", "auto")
    assert "Hint on flag.png: 1 cluster has fewer than 180 pixels" in out
    assert "--min-cluster-size 180 dissolves it" in out


def test_grown_clusters_are_numbered_in_the_order_of_growth(command, table):
    columns = ("--columns", "x,y")
    grown = command.ok("fit", table, *columns, "--psi", "32", "--tau", "0.02")
    assert "numbered" in grown
    assert "in the order of growth, not by size" in grown
    assert "order of growth" not in command.ok("fit", table, *columns)


def test_segment_says_where_the_number_of_clusters_comes_from(command):
    words = " ".join(command.ok("segment", "--help").split())
    assert (
        "Exact number of clusters. By default, growth with --psi and --tau gives the number"
        in words
    )


def test_columns_that_the_user_names_are_not_called_ids(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"]).assign(number=range(420))
    frame.to_csv("t.csv", index=False)
    assert "row number" not in command.ok("fit", "t.csv", *FAST, "--columns", "x,y,number")


def test_a_header_that_looks_like_data_is_pointed_out(command, scattered):
    frame = pd.DataFrame(scattered, columns=["2020", "2021"])
    frame.to_csv("years.csv", index=False)
    hint = "No header was found, so the first line counts as data."
    assert f"{hint} If it names the columns, add: --header" in command.ok("fit", "years.csv", *FAST)
    assert hint not in command.ok("fit", "years.csv", *FAST, "--no-header")
    found = command.ok("fit", "years.csv", *FAST, "--header")
    assert hint not in found
    assert "2020, 2021" in found
    np.save("rows.npy", scattered)
    assert hint not in command.ok("fit", "rows.npy", *FAST)


def test_a_hint_names_columns_with_one_value(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"]).assign(country=7.5)
    frame.to_csv("t.csv", index=False)
    out = " ".join(command.ok("fit", "t.csv", *FAST, "--scale", "standard").split())
    assert '"country" has the same value in all rows, so it does not affect the clusters.' in out


def test_no_line_of_labels_is_empty(command, table, frame):
    """Readers skip empty lines, so that labels would belong to other rows."""
    command.ok("fit", table, *PARTS, *FAST, "--model", "m.npz")
    frame.loc[[2, 5], "x"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    command.ok("predict", "m.npz", "gaps.csv", "--missing", "drop", "-o", "p.csv")
    labels = pd.read_csv("p.csv")
    assert list(labels.columns) == ["cluster"]
    assert list(np.flatnonzero(labels["cluster"].isna())) == [2, 5]
    assert len(labels) == len(frame)


def test_fit_is_the_fit_of_the_library(command, table, frame):
    command.ok("fit", table, *PARTS, *FAST, "-o", "labels.csv")
    model = PSKC(**LIKE_FAST).fit(frame[["x", "y"]].to_numpy(), sample_weight=frame["count"])
    labels = read_csv("labels.csv")
    assert list(labels) == ["name", "cluster", "similarity"]
    assert_array_equal(labels["name"], frame["name"])
    assert_array_equal(labels["cluster"], model.labels_)
    assert_array_equal(labels["similarity"], model.similarities_)


def test_the_summary_tells_what_was_found(command, table):
    out = command.ok("fit", table, *PARTS, *FAST, "-o", "labels.csv", "--model", "m.npz")
    for words in (
        "cluster   rows",
        "median",
        "noise",
        "clusters in 420 rows",
        "objective",
        "before refinement",
        "agreement  F1",
        'with column "group"',
        "seconds",
        "memory",
        "labels.csv, m.npz",
    ):
        assert words in out


def test_json_is_for_machines(command, table, frame):
    content = json.loads(command.ok("fit", table, *PARTS, *FAST, "--json"))
    model = PSKC(**LIKE_FAST).fit(frame[["x", "y"]].to_numpy(), sample_weight=frame["count"])
    assert content["n_clusters"] == model.n_clusters_
    assert [c["size"] for c in content["clusters"]] == model.cluster_sizes_.tolist()
    assert content["objective"] == model.objective_
    assert content["n_noise"] == np.count_nonzero(model.labels_ < 0)
    assert set(content["scores"]) == {"F1", "ARI", "NMI"}
    assert content["scores"]["ARI"] > 0.5
    assert content["columns"] == ["x", "y"]
    first = model.similarities_[model.labels_ == 0]
    expected = np.quantile(first, [0, 0.25, 0.5, 0.75, 1])
    assert_array_equal(content["clusters"][0]["similarity_quartiles"], expected)


@pytest.mark.parametrize("scaling", ["none", "standard", "minmax"])
@pytest.mark.parametrize("name", ["labels.csv", "labels.parquet"])
def test_predict_does_to_new_rows_what_fit_did(command, table, frame, scaling, name):
    frame.assign(x=frame["x"] * 100).to_csv(table, index=False)
    command.ok("fit", table, *PARTS, *FAST, "--scale", scaling, "--model", "model.npz")
    model = PSKC(**LIKE_FAST)
    rows = loaded_model("model.npz").preparation_.apply(read_csv(table))
    model.fit(rows, sample_weight=frame["count"])
    # Columns in another order, and others beside them.
    frame[["count", "y", "name"]].assign(x=frame["x"] * 100).to_csv("new.csv", index=False)
    command.ok("predict", "model.npz", "new.csv", "--id", "name", "--similarity", "-o", name)
    read = read_csv if name.endswith("csv") else pd.read_parquet
    labels = read(name)
    assert list(labels) == ["name", "cluster", "similarity"]
    assert_array_equal(labels["cluster"], model.predict(rows))
    best = model.similarity(rows).max(axis=1)
    assert_array_equal(labels["similarity"], np.where(labels["cluster"] < 0, 0, best))


@pytest.mark.parametrize("batch", [17, 1 << 18])
def test_predict_does_not_depend_on_batches(command, table, frame, batch, monkeypatch):
    from pskclust.tables import base

    command.ok("fit", table, *PARTS, *FAST, "--scale", "standard", "--model", "model.npz")
    whole = command.ok("predict", "model.npz", table, "--id", "name")
    monkeypatch.setattr(base, "MAX_BATCH_ROWS", batch)
    assert command.ok("predict", "model.npz", table, "--id", "name") == whole


def test_predict_takes_a_model_that_python_saved(command, frame, tmp_path):
    PSKC(**LIKE_FAST).fit(frame[["x", "y"]]).save("named.npz")
    model = PSKC(**LIKE_FAST).fit(frame[["x", "y"]].to_numpy())
    model.save("unnamed.npz")
    frame[["name", "y", "x"]].to_csv("new.csv", index=False)
    np.save("new.npy", frame[["x", "y"]].to_numpy())
    expected = "cluster\n" + "".join(
        f"{label}\n" for label in model.predict(frame[["x", "y"]].to_numpy())
    )
    assert command.ok("predict", "named.npz", "new.csv") == expected
    assert command.ok("predict", "unnamed.npz", "new.npy") == expected
    assert command.ok("predict", "unnamed.npz", "new.csv", "--columns", "x,y") == expected
    message = command.refused(3, "predict", "unnamed.npz", "new.csv", "--id", "name,x")
    assert "1 column of new.csv is chosen, but the model was fitted to 2" in message


@pytest.mark.parametrize("options", [("--columns", "y,x"), ("--drop", "name")])
def test_predict_finds_the_columns_of_a_model_by_name_in_any_order(command, frame, options):
    model = PSKC(**LIKE_FAST).fit(frame[["x", "y"]])
    model.save("named.npz")
    frame[["name", "y", "x"]].to_csv("new.csv", index=False)
    found = command.ok("predict", "named.npz", "new.csv", *options).split()[1:]
    assert_array_equal(np.array(found, dtype=int), model.predict(frame[["x", "y"]]))


def test_rows_with_missing_values_keep_their_place(command, frame):
    frame.loc[[3, 5], "x"] = np.nan
    frame[["x", "y"]].to_csv("gaps.csv", index=False)
    command.ok("fit", "gaps.csv", *FAST, "--missing", "drop", "-o", "l.csv", "--model", "m.npz")
    labels = read_csv("l.csv")
    complete = frame[["x", "y"]].dropna().to_numpy()
    assert_array_equal(np.flatnonzero(labels["cluster"].isna()), [3, 5])
    assert_array_equal(labels["cluster"].dropna(), PSKC(**LIKE_FAST).fit(complete).labels_)
    out = command.ok("predict", "m.npz", "gaps.csv", "--missing", "drop", "-o", "p.parquet")
    assert "2 rows with missing values" in out
    assert_array_equal(np.flatnonzero(pd.read_parquet("p.parquet")["cluster"].isna()), [3, 5])
    assert "missing in 2 rows" in command.refused(3, "predict", "m.npz", "gaps.csv", "-o", "q.csv")


def test_predict_counts_as_placed_only_rows_that_have_a_cluster(command, frame):
    frame[["x", "y"]].to_csv("full.csv", index=False)
    command.ok("fit", "full.csv", *FAST, "--model", "m.npz", "--noise", "nearest")
    frame.loc[[3, 5], "x"] = np.nan
    frame[["x", "y"]].to_csv("gaps.csv", index=False)
    words = "m.npz", "gaps.csv", "--missing", "drop"
    out = command.ok("predict", *words, "-o", "p.csv")
    summary = json.loads(command.ok("predict", *words, "-o", "q.csv", "--json"))
    n_placed = sum(summary["cluster_sizes"])
    assert n_placed + summary["n_noise"] == len(frame) - 2
    assert f"{n_placed:,} of {len(frame):,} rows in" in out


def test_missing_values_of_new_rows_take_the_means_of_the_fit(command, frame):
    frame[["x", "y"]].to_csv("full.csv", index=False)
    command.ok("fit", "full.csv", *FAST, "--model", "m.npz")
    mean = float(json.loads(json.dumps(frame["x"].mean())))
    pd.DataFrame({"x": [None, 0.0], "y": [0.0, 0.0]}).to_csv("gap.csv", index=False)
    pd.DataFrame({"x": [mean, 0.0], "y": [0.0, 0.0]}).to_csv("filled.csv", index=False)
    answers = [
        command("predict", "m.npz", name, "--missing", "mean", "--similarity").out
        for name in ("gap.csv", "filled.csv")
    ]
    assert answers[0] == answers[1]


def test_a_model_fitted_with_means_fills_in_the_missing_values_of_new_rows(command, frame):
    frame.loc[[3, 5], "x"] = np.nan
    frame[["x", "y"]].to_csv("gaps.csv", index=False)
    command.ok("fit", "gaps.csv", *FAST, "--missing", "mean", "--model", "m.npz")
    out = command.ok("predict", "m.npz", "gaps.csv", "-o", "p.csv")
    assert "filled in 2 missing values with column means of the fit" in " ".join(out.split())
    command.ok("predict", "m.npz", "gaps.csv", "--missing", "mean", "-o", "q.csv")
    assert Path("p.csv").read_bytes() == Path("q.csv").read_bytes()
    answer = command("predict", "m.npz", "gaps.csv")
    assert answer.err == "Note: filled in 2 missing values with column means of the fit.\n"
    words = "predict", "m.npz", "gaps.csv", "--missing", "refuse"
    assert "missing in 2 rows" in command.refused(3, *words, "-o", "r.csv")


def test_columns_are_kept_if_asked_for(command, table, frame):
    command.ok("fit", table, *PARTS, *FAST, "--keep-columns", "-o", "all.csv")
    command.ok("fit", table, *PARTS, *FAST, "--keep-columns", "-o", "all.parquet")
    for labels in (read_csv("all.csv"), pd.read_parquet("all.parquet")):
        assert list(labels) == [*frame, "cluster", "similarity"]
        assert_array_equal(labels["x"], frame["x"])
        assert_array_equal(labels["name"], frame["name"])


def test_a_column_called_cluster_stays(command, frame):
    frame[["x", "y"]].assign(cluster=7).to_csv("table.csv", index=False)
    out = command("fit", "table.csv", "--id", "cluster", *FAST, "-o", "-").out
    assert out.startswith("cluster,pskc_cluster,similarity\n7,")


def test_standard_input_and_output(command, table, frame, monkeypatch):
    command.ok("fit", table, *PARTS, *FAST, "-o", "labels.csv", "--model", "m.npz")
    for name in ("table.csv", "table.parquet"):
        frame.to_parquet("table.parquet")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
        answer = command("fit", "-", *PARTS, *FAST, "-o", "-")
        assert answer.code == 0
        assert answer.out == Path("labels.csv").read_text()
        assert "clusters in 420 rows" in answer.err


def test_sweep_is_the_sweep_of_the_library(command, table, frame):
    grid = ("--psi", "16,32", "--tau", "0.02,0.05,0.1", "--n-partitions", "20")
    parts = ("--columns", "x,y", "--weight", "count")
    content = json.loads(command.ok("sweep", table, *parts, *grid, "--json", "-o", "sweep.csv"))
    expected = pskclust.sweep(
        frame[["x", "y"]].to_numpy(),
        psi=[16, 32],
        tau=[0.02, 0.05, 0.1],
        n_partitions=20,
        random_state=0,
        sample_weight=frame["count"],
    )
    rows = read_csv("sweep.csv")
    assert content["best"] == expected.best()
    assert_array_equal(rows["psi"], np.repeat([16, 32], 3))
    for name, values in (
        ("clusters", expected.n_clusters),
        ("noise", expected.noise),
        ("stability", expected.stability),
        ("objective", expected.objective),
    ):
        assert_array_equal(rows[name], values.ravel())
        assert_array_equal([pair[name] for pair in content["pairs"]], values.ravel())


def test_sweep_compares_with_known_classes(command, table, frame):
    grid = ("--psi", "8,32", "--tau", "0.05", "--n-partitions", "20", "--seeds", "2")
    columns = ("--id", "name,count", "--label", "group")
    found = json.loads(command.ok("sweep", table, *columns, *grid, "--json"))
    classes = frame["group"].map({"a": 0, "b": 1, "c": 2, "": -1})
    result = pskclust.sweep(
        frame[["x", "y"]].to_numpy(),
        psi=[8, 32],
        tau=[0.05],
        n_partitions=20,
        n_seeds=2,
        random_state=0,
        y=classes,
    )
    assert [pair["ARI"] for pair in found["pairs"]] == result.agreement.ravel().tolist()
    assert 0 < found["chosen"]["agreement"] <= 1
    out = command.ok("sweep", table, *columns, *grid)
    assert "ARI" in out.splitlines()[1]
    best = max(found["pairs"], key=lambda pair: pair["ARI"])
    assert found["best_ari"] == {name: best[name] for name in ("psi", "tau", "ARI")}
    assert f"Best ARI: psi {best['psi']}, tau {best['tau']:g} (ARI {best['ARI']:.3f})" in out
    assert f", ARI {found['chosen']['agreement']:.3f}" in out
    without = command.ok("sweep", table, "--drop", "name,count,group", *grid)
    assert "ARI" not in without


def test_sweep_prints_a_table_and_draws_heat_maps(command, table):
    grid = ("--psi", "16,32", "--tau", "0.02,0.05", "--n-partitions", "10")
    out = command.ok("sweep", table, "--columns", "x,y", *grid, "--plot", "sweep.png")
    assert "stability" in out
    pair = re.search(r"Most stable: psi (\d+), tau (\S+)\n  (pskclust .*)\n  Coarse clusters", out)
    assert pair is not None
    words = shlex.split(pair[3])[1:]
    expected = ["--columns", "x,y", "--psi", pair[1], "--tau", pair[2], "--n-partitions", "10"]
    assert words == ["fit", table, *expected, "--seed", "0"]
    command.ok(*words)
    assert Path("sweep.png").read_bytes().startswith(b"\x89PNG")


def picture():
    image = np.zeros((40, 60, 3), dtype=np.uint8)
    image[:, :30], image[:20, 30:] = (200, 30, 30), (30, 200, 30)
    return image


@pytest.mark.slow
def test_segment_is_the_segmentation_of_the_library(command):
    from PIL import Image

    from pskclust.image import segment

    Image.fromarray(picture()).save("flag.png")
    options = ("--psi", "8", "--tau", "0.3")
    content = json.loads(command.ok("segment", "flag.png", "-o", "parts", *options, "--json"))
    expected = segment(picture(), psi=8, tau=0.3, random_state=0)
    assert content["images"][0]["n_clusters"] == expected.n_clusters == 3
    assert_array_equal(np.load("parts/labels.npy"), expected.labels)
    assert "labels.npy exists. Overwrite it with --force" in command.refused(
        4, "segment", "flag.png", "-o", "parts", *options
    )
    assert "60 x 40" in command.ok("segment", "flag.png", "-o", "parts", *options, "--force")
    chosen = ("--psi", "auto", "--tau", "auto", "--n-clusters", "2")
    command.ok("segment", "flag.png", "-o", "two", *chosen)
    expected = segment(picture(), "auto", "auto", n_clusters=2, random_state=0)
    assert_array_equal(np.load("two/labels.npy"), expected.labels)


def test_a_folder_of_images_is_done_to_its_end(command, tmp_path):
    from PIL import Image

    (tmp_path / "in").mkdir()
    for name in ("a.png", "a.webp", "b.tiff"):
        Image.fromarray(picture()).save(tmp_path / "in" / name, lossless=True)
    (tmp_path / "in" / "notes.txt").write_text("no image")
    content = (tmp_path / "in" / "b.tiff").read_bytes()
    (tmp_path / "in" / "broken.tiff").write_bytes(content[: len(content) // 2])
    answer = command("segment", "in", "-o", "out", "--psi", "8", "--tau", "0.3")
    assert answer.code == 3
    assert "broken.tiff is damaged or cut short" in answer.err
    assert answer.err.count("\n") == 1
    folders = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert folders == ["a.png", "a.webp", "b"]


def test_info_tells_what_a_model_holds(command, table):
    command.ok("fit", table, *PARTS, *FAST, "--scale", "standard", "--model", "model.npz")
    fitted = json.loads(command.ok("fit", table, *PARTS, *FAST, "--scale", "standard", "--json"))
    out = command.ok("info", "model.npz")
    assert "x, y (scaling: standard)" in out
    assert "psi 32" in out
    content = json.loads(command.ok("info", "model.npz", "--json"))
    assert content["clusters"] == fitted["clusters"]
    assert content["columns"] == ["x", "y"]


def test_demo_says_what_to_do_next(command):
    out = command.ok("demo", "--rows", "2000")
    assert out.startswith("demo.csv: 2,000 rows")
    words = out.splitlines()[-1].split()
    assert words[:2] == ["pskclust", "fit"]
    assert read_csv("demo.csv").columns.tolist() == ["x", "y", "shape"]
    assert "demo.csv exists" in command.refused(4, "demo")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(command, shell):
    assert "_PSKCLUST_COMPLETE" in command.ok("completion", shell)


def test_completion_proposes_commands_and_options(command, monkeypatch, capsys):
    for words, number, expected in (
        ("pskclust pre", "1", "predict"),
        ("pskclust fit --min", "2", "--min-cluster-size"),
    ):
        monkeypatch.setenv("_PSKCLUST_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", number)
        with pytest.raises(SystemExit):
            command()
        assert expected in capsys.readouterr().out


def test_the_version_is_told(command):
    assert command.ok("--version") == f"pskclust {pskclust.__version__}\n"


def test_every_parameter_has_an_option():
    parameters = set(inspect.signature(PSKC).parameters)
    # What they do is what the progress bars of the command line do.
    assert {*PARAMETERS, *STORAGE} == parameters - {"verbose", "callback"}
    options = {option.name: option for option in cli.commands["fit"].params}
    for name in (*PARAMETERS, *STORAGE):
        choices = getattr(options[name].type, "choices", None)
        if choices:
            with pytest.raises(ValueError, match=", ".join(repr(choice) for choice in choices)):
                check_parameters({name: "?"}, {name: CLUSTERING_RULES[name]})


def test_cells_on_disk_and_checkpoints_change_no_label(command, table, tmp_path):
    fit = ("fit", table, *PARTS, *FAST, "--json")
    plain = json.loads(command.ok(*fit))
    stored = json.loads(command.ok(*fit, "--scratch-dir", ".", "--checkpoint", "notes"))
    assert stored["clusters"] == plain["clusters"]
    assert stored["parameters"]["checkpoint"] == "notes"
    assert list(tmp_path.glob("notes/*")) == []


def test_defaults_are_those_of_the_library():
    known = inspect.signature(PSKC).parameters
    for option in cli.commands["fit"].params:
        if option.name in PARAMETERS and option.name not in ("n_jobs", "random_state"):
            context = click.Context(cli.commands["fit"])
            own = option.process_value(context, option.get_default(context))
            assert own == known[option.name].default


def test_help_answers_without_loading_scikit_learn(tmp_path):
    code = (
        "import sys; from pskclust.cli.app import run; run(['fit', '--help']);"
        "print(sorted({'sklearn', 'scipy', 'pyarrow', 'rich', 'numba'} & set(sys.modules)))"
    )
    answer = in_python(code)
    assert answer.stdout.splitlines()[-1] == "[]"


def test_nothing_is_said_where_nobody_watches(command, table):
    answer = command("fit", table, "--columns", "x,y", *FAST)
    assert answer.err == ""


def test_bars_are_shown_on_a_terminal(command, table, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert run(["fit", table, "--columns", "x,y", *FAST]) == 0
    for stage in ("Reading", "Preparing", "Clustering", "Growing", "Refining"):
        assert stage in terminal.getvalue()


@pytest.mark.slow
def test_the_module_runs_as_the_command_does(tmp_path):
    process = start("demo", "--rows", "2000", folder=tmp_path)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "pskclust fit demo.csv" in out


@pytest.mark.parametrize(
    "package", ["click", pytest.param("rich", marks=pytest.mark.slow), "pyarrow"]
)
def test_a_missing_extra_is_named(package, tmp_path, command, table):
    blocker = f"import sys; sys.modules[{package!r}] = None\n"
    arguments = f"sys.argv[1:] = ['fit', {table!r}, '--columns', 'x,y']\n"
    answer = in_python(blocker + arguments + "from pskclust.__main__ import main; main()")
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert f'needs {package}. Install it with: pip install "pskclust[cli]"' in answer.stderr


def test_tau_grows_and_a_number_links_what_grew(command, table):
    def fitted(*options):
        return json.loads(command.ok("fit", table, "--columns", "x,y", "--json", *options))

    grown = fitted("--psi", "32", "--tau", "0.1")
    linked = fitted("--psi", "32", "--tau", "0.1", "--n-clusters", "2")
    assert grown["n_clusters"] > linked["n_clusters"] == 2
    assert fitted("--n-clusters", "2")["n_clusters"] == 2


def test_a_closed_pipe_ends_a_command_as_it_ends_other_programs(command, table):
    code = (
        "import os, sys\n"
        "reading, writing = os.pipe()\n"
        "os.close(reading)\n"
        "os.dup2(writing, 1)\n"
        f"sys.argv[1:] = {['fit', table, '--columns', 'x,y', *FAST]!r}\n"
        "from pskclust.__main__ import main; main()"
    )
    answer = in_python(code)
    assert (answer.returncode, answer.stderr) == (141, "")


def test_an_option_that_is_left_out_is_not_called_none(command, table):
    line = command.refused(2, "fit", table, "--n-clusters", "0")
    assert line.startswith("--n-clusters 0 is not allowed. Use a whole number of 1 or more. See:")


def test_a_number_that_was_asked_for_has_no_odds(command, table, undrawn):
    words = ("--columns", "x,y", "--n-clusters", "3", "--report", "r.html")
    assert "odds" not in command.ok("fit", table, *words)
    report = Path("r.html").read_text("utf-8")
    assert "<th class=n>odds" not in report
    assert "<th class=n>stability" in report


def test_predict_says_that_columns_are_taken_by_position(command, scattered):
    pd.DataFrame(scattered, columns=["x", "y"]).to_csv("t.csv", index=False)
    command.ok("fit", "t.csv", *FAST, "--model", "m.npz")
    pd.DataFrame(scattered).to_csv("new.csv", index=False, header=False)
    assert command("predict", "m.npz", "new.csv", "-o", "a.csv").err == (
        "Note: new.csv has no header, so its columns are taken in the order of the fit: x, y. If "
        "it has one, add: --header\n"
    )
    command.ok("predict", "m.npz", "t.csv", "-o", "b.csv")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_predict_counts_the_values_that_it_fills_in(command, scattered):
    frame = pd.DataFrame(scattered, columns=["x", "y"])
    frame.to_csv("t.csv", index=False)
    command.ok("fit", "t.csv", *FAST, "--model", "m.npz")
    frame.iloc[:3, 0] = np.nan
    frame.to_csv("gaps.csv", index=False)
    words = ("predict", "m.npz", "gaps.csv", "--missing", "mean")
    assert "3 missing values with column means" in command.ok(*words, "-o", "p.csv")
    printed = command(*words)
    assert printed.err == "Note: filled in 3 missing values with column means of the fit.\n"
    assert printed.out == Path("p.csv").read_text()


def test_help_has_options_in_sections(command):
    out = command.ok("fit", "--help")
    titles = re.findall(r"^(\w+):$", out, re.MULTILINE)
    assert titles == ["Output", "Columns", "File", "Clustering", "Expert", "Other"]
    for option in cli.commands["fit"].params:
        if isinstance(option, click.Option):
            assert len(re.findall(rf"^  (-\w, )?{option.opts[-1]}\b(?!-)", out, re.MULTILINE)) == 1


def test_sweep_says_that_its_figures_are_means(command, table):
    words = ("--columns", "x,y", "--psi", "16", "--tau", "0.05", "--seeds", "2")
    assert "Figures are means over 2 seeds." in command.ok("sweep", table, *words)
