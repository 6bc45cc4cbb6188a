"""The small results of the reproduction, against what is expected of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.metrics import adjusted_rand_score, pairwise_distances

FOLDER = Path(__file__).parents[2] / "reproduction"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
# Those that generate their data and take seconds.
SMALL = ["figure1", "figure2", "figure3", "contours"]

sys.path.append(str(FOLDER))
import page  # noqa: E402
from dbscan_path import dbscan_path  # noqa: E402
from framework import unexpected  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """All small results, made as a user makes them, and one whose data is not there."""
    folder = tmp_path_factory.mktemp("reproduction")
    environment = {**os.environ, "MPLCONFIGDIR": str(folder / "matplotlib")}
    environment.pop("PSKCLUST_DATA", None)
    answer = subprocess.run(
        [
            sys.executable,
            FOLDER / "run.py",
            "--fast",
            "--output",
            folder,
            "--only",
            *SMALL,
            "table3",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert answer.returncode == 0, answer.stderr
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_small_results_are_as_expected(output, name):
    result = json.loads((output / "results.json").read_text())[name]
    assert result["values"].keys() == EXPECTED[name].keys()
    assert unexpected(result["values"], EXPECTED[name]) == []
    assert result["pictures"]
    for picture in result["pictures"]:
        assert (output / picture["file"]).read_bytes().startswith(b"\x89PNG")


def test_a_result_without_data_is_left_out_and_says_so(output):
    result = json.loads((output / "results.json").read_text())["table3"]
    assert "PSKCLUST_DATA" in result["left_out"]
    assert "Left out" in (output / "index.html").read_text()


def test_the_page_shows_what_differs_first(tmp_path):
    comparison = {
        "what": "S3 <objective>",
        "paper": "1,492",
        "ours": "7",
        "agrees": False,
        "reason": "Because.",
    }
    result = {
        "title": "Table 6",
        "fast": False,
        "seconds": 1.0,
        "comparisons": [comparison],
        "tables": ["| a | b |\n|---|---|\n| 1 | 2 |"],
        "pictures": [],
        "notes": ["A note."],
    }
    page.write_page(tmp_path, ["table6"], {"table6": result})
    text = (tmp_path / "index.html").read_text()
    assert "1 of 1 comparisons" in text
    assert "S3 &lt;objective&gt;: paper 1,492, ours 7. Because." in text
    assert "<td>2</td>" in text


@pytest.mark.parametrize("decimals", [1, 6])
def test_all_dbscans_at_once_are_those_of_scikit_learn(decimals):
    """The same noise, and the same clusters but for rows at the border of two."""
    X = np.random.default_rng(0).normal(size=(120, 2)).round(decimals)
    distances = pairwise_distances(X)
    epsilons = np.linspace(0.0501, 1.5501, 16)
    n_seen = 0
    for min_samples, eps, labels in dbscan_path(distances, epsilons, (1, 2, 5, 9)):
        peer = DBSCAN(eps=eps, min_samples=min_samples, metric="precomputed").fit(distances)
        core = peer.core_sample_indices_
        assert adjusted_rand_score(labels[core], peer.labels_[core]) == 1
        np.testing.assert_array_equal(labels < 0, peer.labels_ < 0)
        n_seen += 1
    assert n_seen > 30


def test_what_is_not_expected_is_told():
    expected = {"same": (1.0, 0.1), "other": (2.0, 0.1), "gone": (3.0, 0.1)}
    assert unexpected({"same": 1.05, "other": 2.5}, expected) == [
        "other is 2.5, expected was 2.0 to within 0.1",
        "gone is None, expected was 3.0 to within 0.1",
    ]
