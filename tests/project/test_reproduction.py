"""The small results of the reproduction, against what is expected of them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.cluster import DBSCAN
from sklearn.metrics import adjusted_rand_score, pairwise_distances

FOLDER = Path(__file__).parents[2] / "reproduction"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())["fast"]
# Those that generate their data and take seconds.
SMALL = ["figure1", "figure2", "figure3", "contours", "table1"]

sys.path.append(str(FOLDER))
import docs_page  # noqa: E402
import images  # noqa: E402
import page  # noqa: E402
import run  # noqa: E402
import scaleup  # noqa: E402
import table2  # noqa: E402
from dbscan_path import dbscan_path  # noqa: E402
from framework import Outcome, Settings, accepted, unexpected  # noqa: E402
from verdicts import verdicts  # noqa: E402

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
    assert result["pictures"] or name == "table1"
    for picture in result["pictures"]:
        assert (output / picture["file"]).read_bytes().startswith(b"\x89PNG")


def test_a_result_without_data_is_left_out_and_says_so(output):
    result = json.loads((output / "results.json").read_text())["table3"]
    assert "PSKCLUST_DATA" in result["left_out"]
    assert "Left out" in (output / "index.html").read_text()


def comparison(agrees, what="S3 <objective>", reason="Because.", place=""):
    ours = {"what": what, "paper": "1,492", "ours": "7"}
    return {**ours, "agrees": agrees, "reason": reason, "place": place}


def a_result(*comparisons, **others):
    return {
        "title": "Table 6",
        "places": {"Table 6": "it gains", "Figure 9": "it is seen"},
        "findings": {"Table 6": "a gain of 7"},
        "fast": False,
        "seconds": 1.0,
        "comparisons": list(comparisons),
        "tables": ["| a | b |\n|---|---|\n| 1 | 2 |"],
        "pictures": [],
        "notes": ["A note."],
        **others,
    }


def test_verdicts_are_computed_from_the_comparisons_of_a_place():
    some = a_result(comparison(True), comparison(False), comparison(True, place="Figure 9"))
    table6, figure9 = verdicts({"postprocessing": some})
    assert (table6.word, table6.why) == ("differs, agrees in 1 of 2", "Because.")
    assert (figure9.word, figure9.why) == ("agrees", "")
    (one, _) = verdicts({"postprocessing": a_result(comparison(False))})
    assert one.word == "differs"
    (none, _) = verdicts({"postprocessing": a_result(comparison(None))})
    assert none.word == "nothing to compare"
    missing = {"title": "Table 6", "places": {"Table 6": "it gains"}, "left_out": "no data"}
    (left_out,) = verdicts({"postprocessing": missing})
    assert (left_out.word, left_out.why) == ("left out", "no data")


def test_the_page_opens_with_claims_measurements_and_verdicts(tmp_path):
    page.write_page(tmp_path, {"postprocessing": a_result(comparison(False))})
    text = (tmp_path / "index.html").read_text()
    assert "0 of 1 comparisons agree" in text
    row = text.index('<a href="#postprocessing">Table 6</a>')
    assert row < text.index("it gains") < text.index("a gain of 7") < text.index("S3 &lt;objective")
    assert "<td>2</td>" in text


def test_the_docs_page_is_the_one_of_the_results():
    results = json.loads((FOLDER / "results.json").read_text())
    written = (FOLDER.parent / "docs/reproduction.md").read_text()
    assert written == docs_page.page(results)
    assert "{{" not in written
    rows = [line for line in written.splitlines() if line.startswith("| ")]
    for place in ("Table 1", "Table 2", "Table 8", "Figure 1", "Figure 4(b)", "Proposition 2"):
        assert any(row.startswith(f"| {place} |") for row in rows)


def test_results_that_were_made_replace_those_kept_and_bring_their_pictures(tmp_path):
    made, kept, docs = tmp_path / "made", tmp_path / "results.json", tmp_path / "docs"
    made.mkdir()
    docs.mkdir()
    (made / "results.json").write_text('{"table2": {"fast": false}, "figure1": {"fast": false}}')
    Image.new("RGB", (4, 3)).save(made / "table2.png")
    kept.write_text('{"figure1": {"fast": true}, "peers": {"fast": true}}')
    docs_page.take(made, kept, docs)
    assert json.loads(kept.read_text()) == {
        "figure1": {"fast": False},
        "table2": {"fast": False},
        "peers": {"fast": True},
    }
    assert list(json.loads(kept.read_text())) == ["figure1", "table2", "peers"]
    assert [path.name for path in docs.iterdir()] == ["table2.png"]


def test_every_difference_has_a_reason():
    results = json.loads((FOLDER / "results.json").read_text())
    for name, result in results.items():
        for one in result.get("comparisons", []):
            assert one["agrees"] is not False or one["reason"], f"{name}: {one['what']}"


def test_results_that_are_kept_have_no_drift():
    results = json.loads((FOLDER / "results.json").read_text())
    assert list(results) == [name for name in run.RESULTS if name in results]
    for name, result in results.items():
        expected = json.loads((FOLDER / "expected.json").read_text())
        mode = "fast" if result["fast"] else "full"
        if name in expected[mode]:
            assert unexpected(result["values"], expected[mode][name]) == [], name


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_no_verdict_is_written_by_hand(path):
    """The fourth argument of a comparison, or its keyword, is an expression of measurements."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Comparison":
            given = [word.value for word in node.keywords if word.arg == "agrees"]
            verdict = given[0] if given else node.args[3]
            assert list(_names(verdict)), f"{path.name}, line {node.lineno}: a verdict by hand"
    if path.stem not in ("verdicts", "page", "docs_page", "framework"):
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        spoken = [text for text in texts if isinstance(text, str) and text in ("agrees", "differs")]
        assert spoken == []


def _names(verdict):
    """Return the names that an expression takes its value from."""
    return [node.id for node in ast.walk(verdict) if isinstance(node, ast.Name)]


def test_the_template_of_the_docs_page_has_no_verdicts():
    text = (FOLDER / "docs_page.md").read_text().lower()
    for words in ("agrees", "as in the paper;", "every table and figure", "good on all five"):
        assert words not in text


@pytest.mark.parametrize("fast", [True, False])
def test_drift_and_errors_fail_the_run(tmp_path, monkeypatch, fast):
    def values(settings):
        return Outcome(values={"clusters": 5}, findings={"Figure 3": "five"})

    monkeypatch.setattr("figure3.run", values)
    # Another process would not have it.
    monkeypatch.setattr(run, "_in_new_process", run._make)
    arguments = ["run.py", "--only", "figure3", "--output", str(tmp_path), *["--fast"] * fast]
    monkeypatch.setattr(sys, "argv", arguments)
    mode = "fast" if fast else "full"
    for expected, code in ((5, 0), (4, 1)):
        monkeypatch.setitem(run.EXPECTED[mode], "figure3", {"clusters": (expected, 0)})
        assert run.main() == code
    monkeypatch.setitem(run.EXPECTED[mode], "figure3", {})
    assert run.main() == 1  # a value that nobody expects is drift as well


def test_values_that_are_accepted_are_kept_beside_those_of_other_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "EXPECTED", {"full": {}, "fast": {}})
    path = tmp_path / "expected.json"
    path.write_text('{"full": {"table4": {"clusters": [6, 0]}}, "fast": {}}')
    run.accept("fast", "figure3", {"clusters": 4})
    assert '"clusters": [4.0, 0.08]' in path.read_text()
    kept = json.loads(path.read_text())
    assert kept["full"] == {"table4": {"clusters": [6, 0]}}
    assert kept["fast"] == {"figure3": {"clusters": [4.0, 0.08]}}
    assert run.EXPECTED["fast"]["figure3"]["clusters"][0] == 4


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


# Those that take seconds.
QUICK_SEARCHES = sorted(table2.SEARCHES.keys() - {"psKC", "RCC", "psKC_g", "kernel k-means (kNN)"})


@pytest.mark.parametrize("system", QUICK_SEARCHES)
def test_searches_of_table_2_on_generated_data_are_as_expected(system):
    best = table2.search(system, "Ring-G", None, fast=True)
    value, tolerance = EXPECTED["table2"][f"Ring-G_{system}"]
    assert best.f1 == pytest.approx(value, abs=tolerance)
    assert best.n_good <= best.n_tried


def fits(seconds):
    """Return fits of a system that took some seconds at each size."""
    return {size: scaleup.Fit(some, some, 1.0, 0.5, 0.4, 10) for size, some in seconds.items()}


def test_slopes_are_of_sizes_from_which_they_settle():
    some = fits({10_000: 100.0, 80_000: 2.0, 160_000: 4.0, 640_000: 16.0})
    assert scaleup.slope(some) == pytest.approx(1)
    assert scaleup.slope(fits({10_000: 1.0, 20_000: 4.0, 80_000: 64.0})) == pytest.approx(2)
    assert np.isnan(scaleup.slope(fits({10_000: 1.0})))


def timed(monkeypatch, answers):
    """Let fits of a size end in an answer at once; return the sizes that are tried."""
    tried = []

    def timed_fit(fit, rows, *limits):
        tried.append(len(rows))
        answer = answers[len(rows)]
        if isinstance(answer, str):
            return answer
        times = {"seconds": answer, "processor_seconds": answer, "megabytes": 1.0}
        return {**times, "labels": np.arange(len(rows)) % 2}

    monkeypatch.setattr(scaleup, "timed_fit", timed_fit)
    return tried


def test_a_fit_that_would_take_too_long_is_not_made(monkeypatch):
    X, y = np.zeros((80, 1)), np.arange(80) % 2
    tried = timed(monkeypatch, {10: 1.0, 20: 4.0, 40: 16.0})
    made, end = scaleup.scale(None, X, y, (10, 20, 40, 80), allowed=20)
    assert tried == list(made) == [10, 20, 40]
    assert end == "80 rows would take about 64 s"
    assert made[40].nmi == made[40].ari == 1
    timed(monkeypatch, {10: 1.0, 20: "stopped after 80 s"})
    made, end = scaleup.scale(None, X, y, (10, 20), allowed=20)
    assert (list(made), end) == ([10], "stopped after 80 s at 20 rows")


@pytest.mark.parametrize("last", [1, 4])
def test_the_scale_up_says_what_was_stopped(monkeypatch, tmp_path, last):
    """No ratio and no exponent is given of systems that have no two fits."""
    sizes = (10, 20, 40, 80)
    monkeypatch.setattr(scaleup, "FAST_SIZES", sizes)
    monkeypatch.setattr(scaleup, "SETTLED", 40)
    data = np.zeros((80, 1)), np.arange(80) % 2
    monkeypatch.setattr(scaleup, "make_mnist8m_like", lambda *some, **others: data)
    stopped = dict.fromkeys(sizes[last:], "stopped after 40 s")
    timed(monkeypatch, {**{size: size / 10 for size in sizes[:last]}, **stopped})
    monkeypatch.setattr(scaleup, "NEEDS", {"fast_hdbscan": ("a_module_not_there",)})
    outcome = scaleup.run(Settings(tmp_path, None, fast=True))
    said = str(outcome.to_json())
    assert "| fast_hdbscan |  | a_module_not_there is not installed |" in said
    assert "nan" not in said
    assert ("stopped after 40 s at 20 rows" in said) == (last == 1)
    assert ("slope_psKC" in outcome.values) == (last == 4)
    assert outcome.findings.keys() == scaleup.PLACES.keys()


def test_sgl_sees_a_quarter_of_the_pixels():
    image = np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    assert images.coarser(image).shape == (20, 15, 3)
    assert len(images.segment_by_sgl(image, 2).labels) == 300


def test_accepted_values_keep_their_tolerances():
    found = accepted({"old": 1.23456, "small": 0.5, "large": 1000.0}, {"old": (1.0, 0.5)})
    assert found == {"old": (1.2346, 0.5), "small": (0.5, 0.03), "large": (1000.0, 20.0)}
    assert unexpected({"old": 1.5, "small": 0.51, "large": 990.0}, found) == []


def test_what_is_not_expected_is_told():
    expected = {"same": (1.0, 0.1), "other": (2.0, 0.1), "gone": (3.0, 0.1)}
    assert unexpected({"same": 1.05, "other": 2.5}, expected) == [
        "other is 2.5, expected was 2.0 to within 0.1",
        "gone is None, expected was 3.0 to within 0.1",
    ]
    assert unexpected({"new": 1.0}, {}) == ["new is 1.0, and not expected"]
