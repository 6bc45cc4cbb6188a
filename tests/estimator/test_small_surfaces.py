"""Modules on first use, short representations, clear errors of load and monitors."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

from pskclust import PSKC, DriftMonitor, load
from pskclust.tables import stream_table


def test_modules_are_imported_on_first_use():
    code = (
        "import sys, pskclust; assert 'pskclust.metrics' not in sys.modules;"
        "pskclust.metrics.stability; pskclust.datasets.make_shapes; pskclust.tables.read_table;"
        "assert 'metrics' in dir(pskclust)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_options_and_layers_are_shown_with_three_digits(blobs):
    model = PSKC(random_state=0).fit(blobs)
    for shown in (model.auto_.chosen, model.auto_.numbers[1], model.layers_[0]):
        text = repr(shown)
        assert text.startswith(f"{type(shown).__name__}(")
        assert f"n_clusters={shown.n_clusters}" in text
        values = [value for value in vars(shown).values() if isinstance(value, float)]
        assert values
        assert all(f"={value:.3g}" in text for value in values)


def test_a_model_is_not_loaded_again(blobs):
    with pytest.raises(TypeError, match="load takes the path of a model file.*of type PSKC"):
        load(PSKC(random_state=0).fit(blobs))


def test_a_monitor_takes_the_blocks_of_a_file(blobs, tmp_path):
    pd.DataFrame(blobs).to_csv(tmp_path / "t.csv", index=False)
    monitor = DriftMonitor(PSKC(random_state=0).fit(blobs))
    blocks = stream_table(tmp_path / "t.csv")
    for X in (tmp_path / "t.csv", str(tmp_path / "t.csv"), blocks):
        with pytest.raises(TypeError, match=r"arrays and tables. For a file, pass the blocks of"):
            monitor.predict(X)
    for block in blocks:
        monitor.predict(block)
    assert monitor.n_samples_ == len(blobs)


def test_a_monitor_warns_once_of_a_table_for_an_array_fit(blobs):
    monitor = DriftMonitor(PSKC(random_state=0).fit(blobs))
    with pytest.warns(UserWarning, match="fitted without feature names") as caught:
        monitor.predict(pd.DataFrame(blobs, columns=["a", "b"]))
    assert len(caught) == 1
