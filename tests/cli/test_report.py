"""The report of `pskclust fit` says what the command prints, in the words of the command."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from pskclust._utils.wording import percentage
from tests.helpers.shapes import three_blobs

pytest.importorskip("matplotlib")


@pytest.fixture
def printed_and_shown(command, tmp_path, undrawn):
    """The JSON that a fit prints, and the text of its report."""
    rows = three_blobs()
    table = pd.DataFrame(rows * [1.0, 1000.0], columns=["east", "north"])
    table.insert(0, "number", np.arange(len(rows)))
    table["kind"] = np.array(["red", "green", "blue"])[np.arange(len(rows)) // 100]
    table.loc[:4, "kind"] = None
    table.to_csv(tmp_path / "table.csv", index=False)
    options = ("--label", "kind", "--report", "r.html", "--json")
    printed = json.loads(command.ok("fit", "table.csv", *options))
    page = (tmp_path / "r.html").read_text("utf-8")
    # Words of commands are marked, so that they are not broken after a dash.
    page = re.sub("</?span>", "", page)
    return printed, html.unescape(re.sub("<[^>]+>", "|", page))


def test_hints_and_the_command_are_those_that_fit_prints(printed_and_shown):
    printed, shown = printed_and_shown
    assert len(printed["hints"]) == 2
    # They may change the clusters altogether, so they stand above the first picture.
    top, _ = shown.split("|Clusters|", 1)
    assert all(hint in top for hint in printed["hints"])
    assert shown.count(printed["command"]) == 2
    assert "scale the columns before the fit" not in shown


def test_advice_names_options(printed_and_shown):
    printed, shown = printed_and_shown
    assert f"--n-clusters {printed['n_clusters'] + 1}" in shown
    assert "n_clusters=" not in shown.replace("relabel(n_clusters=...)", "")
    assert "Given: --seed 0 (default)." in shown


def test_odds_are_those_that_fit_prints(printed_and_shown):
    printed, shown = printed_and_shown
    odds = next(one["odds"] for one in printed["numbers"] if one["is_chosen"])
    assert f"{printed['n_clusters']}, chosen||{percentage(odds)}" in re.sub(r"\|+", "||", shown)


def test_the_label_is_named_and_counted(printed_and_shown):
    _, shown = printed_and_shown
    assert 'in the column "kind". Rows without a class (5) are left out.' in shown
    assert "Clusters in table.csv" in shown
    assert {"red", "green", "blue"} <= set(shown.split("|"))
