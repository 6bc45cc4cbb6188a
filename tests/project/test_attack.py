"""A slice of ``make attack``, and the frame that it runs in."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tools.attack import exactness, explorer, inputs, load, results, run
from tools.attack.dask_cluster import is_running


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_cases"), [(exactness, 12), (inputs, 150), (explorer, 4)])
def test_a_slice_of_the_attack_finds_nothing(kind, n_cases, tmp_path):
    found = []
    for case in itertools.islice(kind.cases(np.random.RandomState(7), tmp_path), n_cases):
        try:
            assert case.run() > 0
        except Exception as error:
            found.append((case.description, error))
    assert found == []


@pytest.mark.slow
def test_chosen_clusterings_are_equal_in_every_way(tmp_path):
    for seed in range(6):
        fit = exactness.drawn_without_parameters(np.random.RandomState(seed))
        assert exactness.compare(fit, tmp_path) > 0


@pytest.mark.slow
def test_clients_are_served_beside_idle_connections():
    assert load.loaded(0, n_clients=8, seconds=6, n_rows=300) > 0


def test_the_page_shows_the_run_that_was_kept():
    assert results.section() in results.PAGE.read_text()


def test_times_are_read():
    assert [run.seconds(text) for text in ("90", "30s", "10m", "1.5h")] == [90, 30, 600, 5400]
    with pytest.raises(argparse.ArgumentTypeError, match="'soon' is not a time"):
        run.seconds("soon")


@pytest.mark.parametrize("ending", ["os.abort()", "time.sleep(60)"])
def test_errors_crashes_and_hangs_are_findings(ending, tmp_path, monkeypatch):
    """Each ends its process, and the next one goes on."""
    code = (
        "import os, time\nfrom tools.attack.cases import Case\n"
        "def cases(rng, folder):\n"
        "    yield Case('good', lambda: 3)\n"
        "    yield Case('wrong', lambda: 1 // 0)\n"
        f"    yield Case('ends', lambda: {ending})\n"
    )
    package = tmp_path / "tools" / "attack"
    package.mkdir(parents=True)
    for name in ("cases.py", "results.py", "run.py"):
        (package / name).write_text((run.ROOT / "tools/attack" / name).read_text())
    (package / "models.py").write_text(code)
    monkeypatch.setattr(run, "ROOT", tmp_path)
    outcome = run._attack("models", 0, budget=6, limit=2)
    assert outcome.cases >= 2
    assert outcome.compared >= 3
    whats = {one["case"]: one["what"] for one in outcome.findings}
    assert "ZeroDivisionError" in whats["wrong"]
    assert ("ended with -6" if "abort" in ending else "hangs for 2 seconds") in whats["ends"]
    assert json.dumps(outcome.findings)


def test_the_time_is_shared_out_over_processes():
    """Attacks lie end to end; the one at a cut runs in both processes, with other seeds."""
    lanes = run.plan(list(run.KINDS), 3600, 7, 2)
    assert [sum(job.seconds for job in lane) for lane in lanes] == pytest.approx([3600, 3600])
    seconds = dict.fromkeys(run.KINDS, 0.0)
    for lane in lanes:
        for job in lane:
            seconds[job.kind] += job.seconds
    total = sum(kind.minutes for kind in run.KINDS.values())
    assert seconds == pytest.approx(
        {name: 7200 * kind.minutes / total for name, kind in run.KINDS.items()}
    )
    assert len({(job.kind, job.seed) for lane in lanes for job in lane}) == sum(map(len, lanes))


def test_a_kind_has_its_least_time():
    jobs = [job for lane in run.plan(["load", "models"], 60, 0, 2) for job in lane]
    assert sum(job.seconds for job in jobs if job.kind == "load") >= run.KINDS["load"].least


def test_a_process_that_has_ended_is_not_running():
    assert is_running(os.getpid())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not is_running(ended.pid)
