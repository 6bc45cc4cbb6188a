"""What the benchmarks report is what they measured."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from pskclust._choice import draws
from tests.helpers.pages import PAGES

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import embeddings  # noqa: E402
import figures  # noqa: E402
import outliers  # noqa: E402
import quality  # noqa: E402
import quality_methods  # noqa: E402
import quality_page  # noqa: E402
import report  # noqa: E402
import speed_page  # noqa: E402
import timing  # noqa: E402

RESULTS = {
    "machine": "two processors",
    "rows": {
        "1000": {
            "pskclust": {"seconds": 0.01, "megabytes": 1, "clusters": 3, "ari": 0.5},
            "KMeans": {"seconds": 0.02, "megabytes": 1, "clusters": 15, "ari": 0.25},
            "HDBSCAN": {"seconds": 4.0, "megabytes": 1, "clusters": 4, "ari": 0.75},
        },
        "100000": {
            "pskclust": {"seconds": 1.0, "megabytes": 5, "clusters": 3, "ari": 0.9},
            "KMeans": {"seconds": 2.0, "megabytes": 1, "clusters": 15, "ari": 0.3},
            "HDBSCAN": {"failure": "stopped after 8 s"},
        },
    },
}


@pytest.mark.parametrize(("place", "table"), report.tables().items())
def test_pages_show_the_results_files(place, table):
    file, name = place
    page = (ROOT / file).read_text()
    assert report.with_table(page, name, table) == page


WRITTEN_BY_A_COMMAND = {"quality", "reproduction"}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem not in WRITTEN_BY_A_COMMAND],
    ids=lambda page: page.stem,
)
def test_scores_stand_in_tables_that_a_command_wrote(page):
    text = re.sub(r"<!-- (.+?) -->\n.*?<!-- end of \1 -->", "", page.read_text(), flags=re.DOTALL)
    assert not re.findall(r"^\|.*\| -?0\.\d{2,} \|", text, flags=re.MULTILINE)


def test_figures_name_the_command_that_printed_them():
    for name, kept in json.loads(figures.FILE.read_text()).items():
        script = kept["command"].split()[1]
        assert (ROOT / script).exists(), name
        assert f'"{name}"' in (ROOT / script).read_text()


def test_a_table_that_is_kept_is_the_one_that_was_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(figures, "FILE", tmp_path / "kept.json")
    monkeypatch.setattr(sys, "argv", [str(figures.FILE.parent / "some.py"), "--data", "."])
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    figures.show("one", ["a", "b"], [["1", "2"]], keep=True)
    assert capsys.readouterr().out == figures.table("one") == "| a | b |\n|---|---|\n| 1 | 2 |\n"
    kept = json.loads(figures.FILE.read_text())["one"]
    assert kept["command"] == "python some.py --data DIR"


def test_a_place_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no place for the other table"):
        report.with_table("text", "other table", "")


def test_tables_name_times_ratios_and_failures():
    table = speed_page.case_table("title", RESULTS["rows"]["100000"])
    assert "| pskclust | 1.00 | 0.50 | 5 | 3 | 0.90 |" in table
    assert "| HDBSCAN | stopped after 8 s | | | | |" in table
    summary = speed_page.rows_table(RESULTS)
    assert "| PSKC(psi, tau) | 0.010 | 1.00 | 0.90 |" in summary
    assert "| HDBSCAN | 4.00 | stopped after 8 s | 0.75 |" in summary


def test_slopes_are_those_of_the_last_two_sizes():
    assert speed_page.slope(RESULTS["rows"], "pskclust") == pytest.approx(1)
    assert speed_page.slope(RESULTS["rows"], "HDBSCAN") is None


def test_the_plot_is_drawn(tmp_path):
    speed_page.draw(RESULTS | {"columns": RESULTS["rows"]}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


class Model:
    def __init__(self, X):
        self.labels_ = np.zeros(len(X), dtype=int)


def too_slow(X):
    while True:
        pass


def too_large(X):
    raise MemoryError


def test_methods_are_timed_and_those_that_blow_up_are_stopped(monkeypatch):
    monkeypatch.setattr(timing, "SECONDS_TO_WARM_UP", 1)
    methods = {"quick": Model, "slow": too_slow, "large": too_large}
    answer = timing.compare(np.zeros((10, 2)), methods, seconds_allowed=1, repeats=2)
    assert answer["quick"]["clusters"] == 1
    assert answer["quick"]["runs"] == 2
    assert answer["slow"] == {"failure": "stopped after 1 s"}
    assert answer["large"] == {"failure": "out of memory"}


QUALITY = {
    "one": {
        **{"family": "fcps", "n": 100, "ks": [3, 2]},
        "PSKC()": {"ari": [0.8, 1.0], "clusters": [3, 4], "clustered": 1.0, "agreement": 0.9},
        "HDBSCAN()": {"ari": [0.5], "clusters": [9], "clustered": 0.5},
    },
    "two": {
        **{"family": "sipu", "n": 200, "ks": [2]},
        "PSKC()": {"ari": [0.6, 0.4], "clusters": [2, 2], "clustered": 0.9, "agreement": 0.7},
        "HDBSCAN()": {"failure": "stopped after 60 s"},
    },
    "three": {
        **{"family": "sipu", "n": 200, "ks": [9]},
        "PSKC()": {"ari": [0.1, 0.1], "clusters": [4, 9], "clustered": 0.8, "agreement": 0.8},
        "HDBSCAN()": {"ari": [0.2], "clusters": [9], "clustered": 1.0},
    },
}


def test_the_page_of_quality_shows_means_families_and_sets():
    page = quality_page.page(QUALITY)
    assert "| PSKC() | 0.600 | 0.500 | 90% | 33% | 0 |" in page
    assert "| HDBSCAN() | 0.300 | 0.233 | 75% | 67% | 1 |" in page
    assert "| sipu | 2 | 0.30 | 0.10 |" in page
    assert "| one | 100 | 3 or 2 | 3, 4 | 0.90 | 0.50 |" in page
    assert "| two | 200 | 2 | 2 | 0.50 | - |" in page
    assert "with an ARI of 0.800 on average." in page


def test_the_page_of_quality_is_that_of_its_results():
    results = json.loads((ROOT / "benchmarks/quality.json").read_text())
    assert quality_page.page(results) == (ROOT / "docs/quality.md").read_text()


def test_the_best_of_several_references_counts():
    coarse, fine = np.array([1, 1, 2, 2, 0]), np.array([1, 2, 3, 4, 0])
    task = quality_methods.Task(np.zeros((5, 2)), [coarse, fine], "fcps")
    assert task.numbers == [2, 4]
    for labels in (coarse, fine, np.array([5, 6, 7, 8, 8])):
        assert task.score(labels) == 1
    assert quality_methods.Task(np.zeros((5, 2)), [coarse], "fcps").score(fine) < 1


class Dealt:
    """Deals rows out to k clusters."""

    def __init__(self, k, seed):
        self.k = k

    def fit_predict(self, X):
        return np.arange(len(X)) % self.k


def test_with_k_given_the_best_of_the_numbers_counts():
    method = quality_methods.with_k_given(Dealt)
    coarse, fine = 1 + np.arange(8) % 2, 1 + np.arange(8) // 2
    task = quality_methods.Task(np.zeros((8, 2)), [fine, coarse], "fcps")
    assert task.numbers == [4, 2]
    assert np.array_equal(method(task, 0), coarse - 1)


def test_numbers_that_were_fitted_without_a_family_are_those_in_use():
    usual = draws.fitted_weights
    with quality_methods.fitted_without("fcps"):
        assert draws.fitted_weights is not usual
        assert len(draws.fitted_weights().score.values)
    assert draws.fitted_weights is usual


def test_a_method_that_takes_too_long_is_stopped():
    with pytest.raises(TimeoutError), quality.stopped_after(1):
        too_slow(None)


@pytest.mark.slow
def test_outlier_scores_are_as_good_as_those_of_an_isolation_forest():
    data = [
        (seed, *outliers.with_outliers(make, seed))
        for make in outliers.SETS.values()
        for seed in (0, 1)
    ]
    means = {
        method: np.mean([roc_auc_score(y, score(X, seed)) for seed, X, y in data])
        for method, score in outliers.METHODS.items()
    }
    assert means["`PSKC()`"] >= means["IsolationForest"]
    assert means["`PSKC(psi=128, tau=0.01)`"] >= means["IsolationForest"]


def test_the_table_of_embeddings_scales_what_was_measured():
    found = json.loads(embeddings.RESULTS.read_text())
    table = embeddings.table()
    assert "Times for 10,000,000 rows are scaled in proportion, not measured" in table
    predicting = found["seconds"]["predict"]
    minutes = predicting * embeddings.SCALED_TO / found["rows"] / 60
    assert f"| `predict` in 64 columns | {predicting:.1f} s | {minutes:.0f} min |" in table
