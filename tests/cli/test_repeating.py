"""The command and the call that a command prints give the same labels."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from pskclust import PSKC
from pskclust.image import read_image, segment
from tests.helpers.cli import read_csv


@pytest.fixture
def table(blobs):
    frame = pd.DataFrame(blobs[::2], columns=["x", "y, in m"])
    frame["kind of row"] = np.arange(len(frame)) % 3
    frame["weight"] = 1 + np.arange(len(frame)) % 2
    frame.to_csv("my table.csv", index=False)
    return frame


def printed(out):
    """Return the command and the call below "Same labels:"."""
    lines = out.split("Same labels:\n")[1].splitlines()
    imported = ["  from pskclust import PSKC", "  from pskclust.image import read_image, segment"]
    assert lines[1] in imported
    return lines[0].strip(), lines[2].split("  # ")[0].strip()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--psi", "16", "--tau", "0.05"),
        ("--n-clusters", "4", "--seed", "7"),
        ("--psi", "32", "--refine", "--noise", "nearest", "--n-jobs", "1"),
        ("--tau", "0.05", "--no-refine", "--n-jobs", "1"),
    ],
    ids=" ".join,
)
def test_the_printed_command_and_call_give_the_same_labels(command, table, options):
    columns = ("--drop", "kind of row,weight")
    out = command.ok("fit", "my table.csv", *columns, *options, "-o", "first.csv")
    line, call = printed(out)
    words = shlex.split(line)
    assert words[:3] == ["pskclust", "fit", "my table.csv"]
    assert "-o" not in words
    assert "--n-jobs" not in words
    command.ok(*words[1:], "-o", "second.csv")
    labels = read_csv("first.csv")["cluster"]
    assert_array_equal(read_csv("second.csv")["cluster"], labels)
    rows = table[["x", "y, in m"]].to_numpy()
    assert_array_equal(eval(call, {"PSKC": PSKC}).fit(rows).labels_, labels)


def test_options_with_spaces_commas_and_weights_are_printed_as_they_are_typed(command, table):
    options = ("--columns", '"y, in m",x', "--weight", "weight", "--scale", "standard")
    found = json.loads(command.ok("fit", "my table.csv", *options, "--header", "--json"))
    words = shlex.split(found["command"])
    assert words[-2:] == ["--seed", "0"]
    assert "--header" in words
    again = json.loads(command.ok(*words[1:], "--json"))
    assert again["clusters"] == found["clusters"]
    assert again["command"] == found["command"]
    out = command.ok(*words[1:])
    assert 'after standard scaling, with the weights in "weight"' in out


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("mean", "with missing values replaced by column means"),
        ("drop", "without rows that have missing values"),
    ],
)
def test_the_call_mentions_missing_values_if_there_were_any(command, table, missing, words):
    gaps = table.copy()
    gaps.loc[3, "x"] = np.nan
    gaps.to_csv("gaps.csv", index=False)
    options = ("--columns", '"y, in m",x', "--missing", missing)
    out = command.ok("fit", "gaps.csv", *options)
    assert out.splitlines()[-1].endswith(f"  # in Python, for the same columns {words}")
    out = command.ok("fit", "gaps.csv", *options, "--scale", "standard", "--model", "m.npz")
    assert out.splitlines()[-1].endswith(f"columns {words}, after standard scaling")
    assert f"columns {words}, after standard scaling" in command.ok("info", "m.npz")
    assert words not in command.ok("fit", "my table.csv", *options)


def test_given_is_told_apart_from_chosen(command, table):
    data = ("fit", "my table.csv", "--columns", "x,weight")
    chosen = json.loads(command.ok(*data, "--json"))
    assert chosen["given"] == {"random_state": 0}
    assert chosen["chosen"] == {"n_clusters": chosen["n_clusters"]}
    assert chosen["psi"] is None
    assert chosen["objective_before_refinement"] is None
    given = json.loads(command.ok(*data, "--psi", "8", "--tau", "0.1", "--json"))
    assert given["given"] == {"psi": 8, "tau": 0.1, "random_state": 0}
    assert given["chosen"] == {}
    assert given["choice"] is None
    assert given["n_reassigned"] >= 0
    out = command.ok(*data, "--model", "model.npz")
    assert "before refinement" not in out
    assert chosen["choice"].split(";")[0][:60] in out
    told = command.ok("info", "model.npz")
    assert "chosen" in told
    assert "  PSKC(random_state=0)  # in Python" in told
    assert "before refinement" not in told


def test_the_candidates_of_a_choice_are_told(command, table):
    data = ("fit", "my table.csv", "--columns", "x,weight")
    found = json.loads(command.ok(*data, "--json"))
    candidates = found["candidates"]
    assert [one["chosen"] for one in candidates].count(True) == 1
    assert {"n_clusters", "odds", "stability", "agreement", "overlap"} <= set(candidates[0])
    assert all(0 <= cluster["confidence"] <= 1 for cluster in found["clusters"])
    lines = command.ok(*data, "--model", "model.npz").splitlines()
    header = next(n for n, line in enumerate(lines) if line.split()[:2] == ["candidate", "odds"])
    told = lines[header + 2].split()
    assert told[0] == str(found["numbers"][0]["n_clusters"])
    assert told[3] == f"{found['numbers'][0]['stability']:.1%}"
    assert "candidate" in command.ok("info", "model.npz")
    for options in (("--n-clusters", "3"), ("--psi", "8", "--tau", "0.1")):
        assert "candidate" not in command.ok(*data, *options)
    asked = json.loads(command.ok(*data, "--n-clusters", "30", "--json"))
    assert len(asked["candidates"]) == 1
    assert all(cluster["confidence"] is None for cluster in asked["clusters"])
    grown = json.loads(command.ok(*data, "--psi", "8", "--tau", "0.1", "--json"))
    assert grown["candidates"] == grown["numbers"] == []


def test_a_sweep_tells_what_is_chosen_without_psi_and_tau(command, table):
    grid = ("--psi", "8,16", "--tau", "0.05,0.1", "--seeds", "2")
    data = ("sweep", "my table.csv", "--columns", "x,weight", "--scale", "standard", *grid)
    chosen = json.loads(command.ok(*data, "--json"))["chosen"]
    words = shlex.split(chosen["command"])
    assert words[:2] == ["pskclust", "fit"]
    again = json.loads(command.ok(*words[1:], "--json"))
    assert again["n_clusters"] == chosen["n_clusters"]
    assert again["choice"] == chosen["reason"]
    out = command.ok(*data)
    lines = out[out.index("Chosen without psi and tau: ") :].splitlines()
    assert lines[1].strip() == chosen["command"]
    # The most stable pair is often too coarse, so it comes last.
    assert lines[3].startswith("Most stable: psi ")


def test_info_says_that_a_model_without_a_seed_may_not_be_repeated(command, blobs):
    PSKC(psi=8, tau=0.1).fit(blobs).save("model.npz")
    assert "another fit may give other labels" in command.ok("info", "model.npz")


@pytest.mark.parametrize(
    "options",
    [
        (),
        pytest.param(("--psi", "auto", "--tau", "auto"), marks=pytest.mark.slow),
        ("--psi", "auto", "--tau", "auto", "--n-clusters", "2"),
    ],
)
def test_segmenting_prints_what_gives_the_same_segments(command, tmp_path, options):
    pixels = np.random.RandomState(0).randint(0, 60, (20, 30, 3)).astype(np.uint8)
    pixels[:, 15:] += 150
    Image.fromarray(pixels).save("two.png")
    out = command.ok("segment", "two.png", "-o", "parts", *options)
    line, call = printed(out)
    assert "--force" not in line
    labels = np.load("parts/labels.npy")
    command.ok(*shlex.split(line)[1:], "--force")
    assert_array_equal(np.load("parts/labels.npy"), labels)
    found = eval(call, {"segment": segment, "image": read_image("two.png")})
    assert_array_equal(found.labels, labels)
    assert ("Chosen for two.png: 2 clusters, stable" in out) == (len(options) == 4)
