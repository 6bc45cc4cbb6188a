"""A fitted model shows its clusters in a notebook, beside scikit-learn's diagram."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs

from pskclust import PSKC, ColumnsWarning
from pskclust._notebook import html_of_fit

VOID = ("meta", "img", "input", "br")


class Nested(HTMLParser):
    """Checks that every tag that is opened is closed, in order."""

    def __init__(self, content):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(content)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def chosen():
    X = make_blobs([40, 80, 60], cluster_std=0.5, random_state=1)[0]
    return PSKC(random_state=0).fit(X)


def test_a_fitted_model_shows_clusters_choice_and_confidence(chosen):
    html = html_of_fit(chosen)
    text = Nested(html).text
    assert "3 clusters in 180 rows" in text
    assert chosen.auto_.reason[1:] in text
    assert "Mean confidence of the clustered rows: " in text
    sizes = [int(size) for size in re.findall(r"<td>(\d+)</td><td class=", html)]
    assert sizes[:3] == sorted(chosen.cluster_sizes_, reverse=True)
    assert "width:100.0%" in html


def test_both_ways_of_notebooks_show_it_and_the_diagram(chosen):
    unfitted = PSKC(random_state=0)
    for shown in (chosen._repr_html_(), chosen._repr_mimebundle_()["text/html"]):
        assert shown.count("3 clusters in 180 rows") == 1
        assert "sk-container" in shown
    for shown in (unfitted._repr_html_(), unfitted._repr_mimebundle_()["text/html"]):
        assert "pskclust-fit" not in shown
        assert "sk-container" in shown
    with config_context(display="text"):
        assert not hasattr(chosen, "_repr_html_")
        assert set(chosen._repr_mimebundle_()) == {"text/plain"}


def test_clusters_that_grew_show_psi_and_tau(blobs):
    text = Nested(html_of_fit(PSKC(psi=16, tau=0.05, random_state=0).fit(blobs))).text
    assert "3 clusters in 300 rows, no noise" in text
    assert "psi 16, tau 0.05" in text
    assert "confidence" not in text


def test_many_clusters_no_cluster_and_noise_are_shown(blobs):
    many = PSKC(n_clusters=15, random_state=0).fit(blobs)
    text = Nested(html_of_fit(many)).text
    assert "3 smaller" in text
    assert "15 clusters" in text
    none = PSKC(psi=4, tau=0.99, random_state=0).fit(np.random.RandomState(0).randn(20, 2))
    assert none.n_clusters_ == 0
    text = Nested(html_of_fit(none)).text
    assert "0 clusters in 20 rows, 100.0% noise" in text


def test_texts_are_escaped(chosen):
    class Hostile:
        def __getattr__(self, name):
            return getattr(chosen, name)

        auto_ = replace(chosen.auto_, reason="<script>alert(1)</script>")

    html = html_of_fit(Hostile())
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_columns_of_very_unequal_spreads_get_a_hint(chosen):
    X = make_blobs([40, 80, 60], cluster_std=0.5, random_state=1)[0]
    hint = '"column 1" varies '
    assert hint not in Nested(html_of_fit(chosen)).text
    with pytest.warns(ColumnsWarning):
        model = PSKC(random_state=0).fit(X * [1, 10_000])
    assert hint in Nested(html_of_fit(model)).text
    assert hint not in Nested(html_of_fit(PSKC(random_state=0, metric="cosine").fit(X))).text
