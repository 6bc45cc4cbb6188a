"""The model of what a fit on a cluster takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pskclust._cells.voronoi import VoronoiPartition
from pskclust._dask.cost_model import plan

MEASURED = json.loads((Path(__file__).parents[2] / "benchmarks/cluster.json").read_text())


@pytest.mark.parametrize("case", MEASURED["cases"], ids=lambda case: f"{case['rows']} rows")
def test_the_model_is_near_what_was_measured(case):
    found = plan(case["rows"], 2, case["workers"], psi=128, n_clusters=9)
    assert found.seconds_per_round == pytest.approx(case["seconds_per_round"], rel=0.5)
    assert found.seconds == pytest.approx(case["seconds"], rel=0.5)
    held = case["bytes_per_row"] * case["rows"] / case["workers"]
    assert found.bytes_per_worker == pytest.approx(held, rel=0.5)
    assert case["rounds"] < found.n_rounds < 1.3 * case["rounds"]


def test_more_workers_hold_less_each_and_send_more_in_all():
    few, many = plan(10**9, 8, 100), plan(10**9, 8, 1000)
    assert many.bytes_per_worker < few.bytes_per_worker / 5
    assert many.bytes_per_round == 10 * few.bytes_per_round
    assert many.encode_seconds == pytest.approx(few.encode_seconds / 10)
    assert many.n_rounds == few.n_rounds


def test_bytes_of_a_round_are_a_table_to_and_from_each_worker():
    shape = VoronoiPartition(64, None, [[0] * 64] * 100).table_shape
    assert plan(10**6, 2, 3).bytes_per_round == 2 * 3 * 8 * shape[0] * shape[1]


def test_wide_rows_are_planned_too():
    wide, narrow = plan(10**6, 784, 4), plan(10**6, 8, 4)
    assert wide.encode_seconds > narrow.encode_seconds
    assert wide.bytes_per_worker < narrow.bytes_per_worker


def test_a_plan_reads_well():
    facts = plan(10**11, 8, 1000).facts()
    assert facts["rows"] == "100,000,000,000 of 8 columns, 100,000,000 on each of 1,000 workers"
    assert plan(1000, 1, 1).facts()["rows"] == "1,000 of 1 column, 1,000 on each of 1 worker"
    assert facts["memory"].endswith("GB on each worker")
    assert facts["total"].endswith("minutes")
    assert plan(10**4, 2, 1).facts()["total"].endswith("seconds")
    assert plan(10**11, 8, 100).facts()["total"].endswith("hours")


@pytest.mark.parametrize("name", ["rows", "columns", "workers"])
def test_nothing_is_not_planned_for(name):
    with pytest.raises(ValueError, match=f"{name}=0 is not allowed"):
        plan(**{"rows": 10, "columns": 2, "workers": 1, name: 0})
