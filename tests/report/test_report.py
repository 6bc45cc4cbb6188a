"""The report says what was found, in any case, and holds no code of others."""

from __future__ import annotations

import base64
import colorsys
import io
import re
from datetime import date
from html.parser import HTMLParser
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC
from pskclust._advice import Outcome, hints
from pskclust._choice.layers import Layer
from pskclust._provenance import choice_words
from pskclust._utils.palette import cluster_colours, contrast, luminance
from pskclust._utils.wording import percentage
from pskclust.report import _pictures, write_report
from pskclust.report._choice import candidates
from pskclust.report._classes import KnownClasses
from pskclust.report._content import ChoiceContent
from pskclust.report._dark import on_dark
from pskclust.report._html import number, share_words
from pskclust.report._layers import layers
from pskclust.report._summary import Summary
from pskclust.report.command import FitCommand
from tests.helpers.shapes import three_blobs

pytest.importorskip("matplotlib")


class Page(HTMLParser):
    """The tags, attributes and texts of a page, checked to be nested as they should."""

    WITHOUT_END = ("meta", "img", "rect", "source", "br")

    def __init__(self, content):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(content)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in self.WITHOUT_END:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def report(folder, model, X, **options):
    write_report(folder / "report.html", model, X, **options)
    return Page((folder / "report.html").read_text("utf-8"))


@pytest.fixture(scope="module")
def model():
    """A fit of the rows of `blobs`, shared: nothing here changes it."""
    return PSKC(random_state=0).fit(three_blobs())


def test_the_page_names_clusters_members_columns_and_parameters(tmp_path, model, blobs):
    page = report(
        tmp_path,
        model,
        blobs,
        feature_names=["height", "weight"],
        ids=[f"person {row}" for row in range(300)],
        title="People",
        seconds=1.234,
        scores={"ARI": 0.98765},
    )
    texts = " | ".join(page.texts)
    for word in ("People", "height", "weight", "Cluster 0", "Cluster 2", "0.988", "1.23", "300"):
        assert word in texts
    assert page.tags.count("article") == 3
    for row in Summary.of(model, blobs).clusters[0].members:
        assert f"person {row}" in page.texts


@pytest.mark.usefixtures("undrawn")
def test_what_to_try_next_is_what_the_fit_was_led_by(tmp_path, model, blobs):
    chosen = report(tmp_path, model, blobs, n_left_out=7)
    assert {"n_clusters=4", "n_clusters=2"} <= set(chosen.texts)
    assert chosen.texts[chosen.texts.index("rows left out") + 1] == "7"
    assert f"Chosen: {choice_words(model)}." in chosen.texts
    given = report(tmp_path, PSKC(psi=64, tau=0.01, random_state=0).fit(blobs), blobs)
    assert {"psi=128", "tau=0.005"} <= set(given.texts)
    assert not any("Chosen:" in words for words in given.texts)


@pytest.mark.parametrize(
    "parameters", [{}, {"psi": 32, "tau": 0.05}, {"n_clusters": 4}, {"psi": 16}, {"tau": 0.01}]
)
@pytest.mark.usefixtures("undrawn")
def test_the_call_on_the_page_gives_the_same_labels(tmp_path, blobs, parameters):
    model = PSKC(**parameters, random_state=0).fit(blobs)
    page = report(tmp_path, model, blobs)
    call = page.texts[page.texts.index("Same labels:") + 1]
    assert_array_equal(eval(call, {"PSKC": PSKC}).fit(blobs).labels_, model.labels_)
    assert not any("another fit may" in text for text in page.texts)
    assert "fitted to the same rows." in page.texts
    scaled = report(tmp_path, model, blobs, scaling="standard")
    assert "fitted to the same rows after standard scaling." in scaled.texts


@pytest.mark.usefixtures("undrawn")
def test_without_a_seed_the_page_says_that_another_fit_may_differ(tmp_path, blobs):
    texts = report(tmp_path, PSKC().fit(blobs), blobs).texts
    assert any("another fit may give other labels" in text for text in texts)


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_of_linked_clusters_only_what_is_true(tmp_path, model, blobs):
    linked = " ".join(report(tmp_path, model, blobs).texts)
    for words in ("grew from", "before refinement", "refinement moved", "Dashed"):
        assert words not in linked
    assert "most similar to its cluster" in linked
    grown = PSKC(psi=16, tau=0.05, random_state=0).fit(blobs)
    texts = " ".join(report(tmp_path, grown, blobs).texts)
    for words in ("grew from", "refinement moved no row", "Dashed"):
        assert words in texts
    unrefined = PSKC(psi=16, tau=0.05, refine=False, random_state=0).fit(blobs)
    assert "before refinement" not in " ".join(report(tmp_path, unrefined, blobs).texts)


@pytest.mark.usefixtures("undrawn")
def test_layers_are_shown_if_there_are_several(tmp_path, model, blobs):
    assert len(model.layers_) == 1
    assert "Layers" not in report(tmp_path, model, blobs).texts
    centers = [[0, 0], [5, 0], [50, 0], [55, 0]]
    X, _ = make_blobs(400, centers=centers, cluster_std=0.5, random_state=0)
    layered = PSKC(random_state=0).fit(X)
    assert len(layered.layers_) > 1
    texts = report(tmp_path, layered, X).texts
    assert "Layers" in texts
    assert "odds" not in texts[texts.index("Layers") :]
    others = {layer.n_clusters for layer in layered.layers_} - {layered.n_clusters_}
    assert others == {2}
    assert any("clusterings, with 2 clusters." in text for text in texts)


@pytest.mark.parametrize(
    ("found", "shown", "hidden"),
    [
        (
            [Layer(2, 0.0), Layer(4, 0.0), Layer(9, 0.0, 0.9, 0.9)],
            "with 2 and 4 clusters",
            "likeness",
        ),
        ([Layer(4, 0.1), Layer(9, 0.2, 0.9, 0.9)], "Likeness is the similarity of", "stability"),
        ([Layer(4, 0.0, 0.1, 0.5), Layer(9, 0.0, 0.9, 0.9)], "stability", "ikeness"),
    ],
)
def test_a_column_of_layers_that_tells_nothing_is_left_out(found, shown, hidden):
    summary = SimpleNamespace(sizes=np.ones(9))
    page = "".join(layers(SimpleNamespace(layers=found, summary=summary, command=None)))
    assert shown in page
    assert hidden not in page
    assert "relabel(n_clusters=...)" in page
    assert ("9, the fit" in page) == ("<table" in page)


@pytest.mark.usefixtures("undrawn")
def test_the_candidates_are_shown_with_their_evidence(tmp_path, model, blobs):
    page = report(tmp_path, model, blobs)
    assert "How the clusters were chosen" in page.texts
    assert "3, chosen" in page.texts
    assert f"{model.auto_.chosen.stability:.2f}" in page.texts
    assert model.auto_.reason + "." in page.texts
    rows = " ".join(page.texts)
    assert "The choice was made on all 300 rows." in rows
    assert not {"tree", "path", "average", "psi"} & set(page.texts)
    assert page.texts.count("confidence") == 1
    asked = report(tmp_path, PSKC(n_clusters=90, random_state=0).fit(blobs), blobs)
    assert "confidence" not in asked.texts
    # psi of the kernel that places rows is nothing to set.
    facts = page.texts[: page.texts.index("Clusters")]
    assert "stability" in facts
    assert "psi" not in facts
    grown = report(tmp_path, PSKC(psi=16, tau=0.05, random_state=0).fit(blobs), blobs)
    assert "How the clusters were chosen" not in grown.texts
    assert "confidence" not in grown.texts
    assert "psi" in grown.texts[: grown.texts.index("Clusters")]


@pytest.mark.usefixtures("undrawn")
def test_odds_are_summed_over_the_candidates_with_a_number_of_clusters(tmp_path, model, blobs):
    texts = report(tmp_path, model, blobs).texts
    numbers = [one.n_clusters for one in model.auto_.candidates]
    assert len(numbers) > len(set(numbers))
    odds = sum(one.odds for one in model.auto_.candidates if one.n_clusters == 3)
    assert texts[texts.index("3, chosen") :][:4].count(percentage(odds)) == 1


@pytest.mark.parametrize(
    ("n_used", "n_rows", "words"),
    [
        (300, 300, "on all 300 rows."),
        (1956, 4000, "on 1,956 of 4,000 rows: a random sample of at most 2,000 rows"),
        (500, 100, "on a sample of 500 rows, in which rows of large weight occur several times."),
    ],
)
def test_the_rows_of_the_choice_are_explained(n_used, n_rows, words):
    choice = ChoiceContent("3 clusters", n_used, [])
    assert f"The choice was made {words}" in candidates(choice, n_rows, [])[-1]


def test_much_noise_beside_chosen_clusters_is_given_away_only_on_request():
    outcome = Outcome(np.array([40.0, 40.0]), 20.0, 100, 64, None, n_parts=9)
    hint = hints(outcome)[0]
    assert hint.change == {"noise": "nearest"}
    assert "20% of the rows are noise" in hint.text
    assert "tau" not in hint.text


def test_the_page_needs_nothing_else(tmp_path, model, blobs):
    page = report(tmp_path, model, blobs)
    links = ("src", "srcset", "href")
    sources = [value for tag, name, value in page.attributes if name in links]
    assert len(sources) == len(set(sources)) == 8
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in sources)
    assert not {"script", "link", "iframe", "object"} & set(page.tags)
    content = (tmp_path / "report.html").read_text()
    assert "default-src 'none'" in content
    assert not re.findall(r"https?://", content)


def test_text_is_shown_as_it_is(tmp_path, model, blobs):
    evil = '<script>alert("x")</script>'
    page = report(
        tmp_path,
        model,
        blobs,
        feature_names=[evil, "a & b $\\frac{ 高さ"],
        ids=[f"<b>{row}</b>" for row in range(300)],
        title="</title><script>alert(1)</script>",
        scaling="<i>x</i>",
        scores={"<u>": 0.5},
    )
    assert not {"script", "b", "u"} & set(page.tags)
    assert evil in page.texts
    assert "a & b $\\frac{ 高さ" in page.texts
    assert "<u>" in page.texts


def test_text_that_is_no_unicode_does_no_harm(tmp_path, model, blobs):
    page = report(tmp_path, model, blobs, feature_names=["caf\udce9", "x" * 500])
    assert "caf?" in page.texts
    assert max(map(len, page.texts[10:])) < 1000


def test_long_lists_are_cut_with_a_word_about_the_rest(tmp_path):
    rng = np.random.RandomState(0)
    X = 1000 * np.repeat(rng.randn(60, 50), 5, axis=0) + rng.randn(300, 50)
    model = PSKC(psi=200, tau=0.3, random_state=0).fit(X)
    assert model.n_clusters_ > 30
    page = report(tmp_path, model, X)
    assert page.tags.count("article") == 24
    assert f"And {model.n_clusters_ - 24} smaller clusters." in page.texts
    assert "And 10 more columns." in page.texts


def test_one_column_one_cluster_and_none_at_all(tmp_path):
    X = np.random.RandomState(0).randn(40, 1)
    one = PSKC(psi=2, tau=0.01, random_state=0).fit(X)
    assert one.n_clusters_ == 1
    page = report(tmp_path, one, X)
    assert any("only one cluster" in text for text in page.texts)
    assert not any("should be whole" in text for text in page.texts)
    none = PSKC(psi=8, tau=0.999, random_state=0).fit(X)
    assert none.n_clusters_ == 0
    page = report(tmp_path, none, X)
    assert any("No cluster was found" in text for text in page.texts)
    assert page.tags.count("img") == 1


def test_columns_that_never_change_and_equal_rows(tmp_path):
    X = np.column_stack([np.repeat([0.0, 9.0], 30), np.full(60, 3.0), np.full(60, 3.0)])
    model = PSKC(psi=4, tau=0.3, random_state=0).fit(X)
    page = report(tmp_path, model, X)
    assert page.tags.count("article") == model.n_clusters_ == 2
    summary = Summary.of(model, X)
    assert [len(cluster.members) for cluster in summary.clusters] == [1, 1]
    assert summary.clusters[0].traits[0].column == 0
    assert page.texts.count("constant") == 4
    assert page.tags.count("svg") == 2
    # Sums of 0.1 are rounded, but the column is constant.
    assert Summary.of(model, X / 30).columns.spreads.tolist()[1:] == [0, 0]


@pytest.mark.usefixtures("undrawn")
def test_what_the_result_suggests_is_said(tmp_path, scattered):
    noisy = PSKC(psi=32, tau=0.3, method="hypersphere", random_state=0).fit(scattered)
    assert np.mean(noisy.labels_ < 0) > 0.1
    assert any("noise='nearest'" in text for text in report(tmp_path, noisy, scattered).texts)
    unequal = scattered * [1, 100]
    model = PSKC(psi=16, random_state=0).fit(unequal)
    page = report(tmp_path, model, unequal, feature_names=["narrow", "wide"])
    assert any('"wide" varies' in text for text in page.texts)
    page = report(tmp_path, model, unequal, scaling="standard")
    assert not any("varies" in text for text in page.texts)


@pytest.mark.usefixtures("undrawn")
def test_fragments_are_counted(tmp_path):
    rng = np.random.RandomState(0)
    centres = np.repeat([[0, 0], [9, 9], [0, 9], [45, -48]], [150, 150, 150, 8], axis=0)
    X = centres + 0.3 * rng.randn(458, 2)
    model = PSKC(psi=64, tau=0.01, random_state=0).fit(X)
    assert sorted(model.cluster_sizes_) == [8, 150, 150, 150]
    texts = report(tmp_path, model, X).texts
    assert any(text.startswith("1 cluster has fewer than 15 rows") for text in texts)
    assert any("min_cluster_size=15" in text for text in texts)


def test_means_and_spreads_are_those_of_the_rows(monkeypatch, model, blobs):
    monkeypatch.setattr("pskclust.report._summary._VALUES_AT_A_TIME", 64)
    summary = Summary.of(model, blobs)
    assert_allclose(summary.columns.means, blobs.mean(axis=0))
    assert_allclose(summary.columns.spreads, blobs.std(axis=0))
    for cluster in summary.clusters:
        members = blobs[model.labels_ == cluster.number]
        assert cluster.size == len(members)
        for trait in cluster.traits:
            assert trait.mean == pytest.approx(members[:, trait.column].mean())
            assert trait.spread == pytest.approx(members[:, trait.column].std())
            difference = trait.mean - blobs[:, trait.column].mean()
            assert trait.difference == pytest.approx(difference / blobs[:, trait.column].std())
        assert np.all(np.diff([abs(trait.difference) for trait in cluster.traits]) <= 0)
        scores = model.outlier_scores_[cluster.members]
        limit = np.median(model.outlier_scores_[model.labels_ == cluster.number])
        assert np.all(scores <= limit)
        assert np.all(np.diff(scores[1:]) >= 0)


def test_rows_of_other_lengths_are_named(tmp_path, model, blobs):
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="feature_names has 1 names.*2 columns"):
        write_report(path, model, blobs, feature_names=["a"])
    with pytest.raises(ValueError, match="ids has 2 entries, but X has 300 rows"):
        write_report(path, model, blobs, ids=["a", "b"])
    with pytest.raises(ValueError, match="X has 10 rows.*fitted to 300"):
        write_report(path, model, blobs[:10])
    assert not path.exists()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0, "0"), (1, "1"), (-2.5, "-2.5"), (1234.5678, "1235"), (0.000123456, "0.0001235")),
        *((1e-9, "1.000e-09"), (3e12, "3.000e+12"), (float("nan"), "nan"), (120, "120")),
    ],
)
def test_numbers_have_the_digits_that_are_needed(value, shown):
    assert number(value) == shown


def test_clusters_are_listed_by_label_and_a_refinement_that_moves_nothing_says_so(
    blobs, tmp_path, undrawn
):
    rows = np.vstack([blobs[:60], blobs[100:200], blobs[200:280]])
    model = PSKC(psi=16, tau=0.05, random_state=0, refine=True).fit(rows)
    assert model.n_reassigned_ == 0
    write_report(tmp_path / "report.html", model, rows)
    page = (tmp_path / "report.html").read_text()
    table = page.split("<h2>Clusters</h2>")[1].split("</table>")[0]
    sizes = [int(cell.replace(",", "")) for cell in re.findall(r"<td class=n>([\d,]+)</td>", table)]
    assert sizes == list(model.cluster_sizes_) != sorted(sizes, reverse=True)
    assert "moved no row" in page
    assert "objective before refinement" not in page


def test_a_dark_page_has_pictures_whose_colours_keep_their_hue(blobs, tmp_path):
    model = PSKC(psi=16, tau=0.05, random_state=0).fit(blobs)
    page = report(tmp_path, model, blobs)
    assert page.tags.count("picture") == page.tags.count("source") == page.tags.count("img") == 4
    dark = next(value for tag, name, value in page.attributes if name == "srcset")
    with Image.open(io.BytesIO(base64.b64decode(dark.partition(",")[2]))) as picture:
        assert picture.getpixel((0, 0)) == (0x1D, 0x21, 0x26, 255)
        colours = {colour for _, colour in picture.getcolors(1 << 24)}
    for colour in cluster_colours(3)[:3]:
        assert (*np.rint(255 * on_dark(colour)).astype(int), 255) in colours


def test_colours_of_a_dark_page_stand_out_from_it():
    ground = luminance(on_dark([1, 1, 1]))
    style = (resources.files("pskclust.report") / "page.css").read_text("utf-8")
    strip = bytes.fromhex(re.findall("--whole: #(......);", style)[1])
    grey = luminance(np.array([*strip]) / 255)
    for colour in cluster_colours(27):
        assert contrast(luminance(on_dark(colour)), ground) >= 3
        hues = [colorsys.rgb_to_hsv(*some)[0] for some in (colour, on_dark(colour))]
        assert hues[0] == pytest.approx(hues[1], abs=0.01)
    # Strips show clusters, not noise, which is the last colour.
    for colour in cluster_colours(27)[:-1]:
        assert contrast(luminance(on_dark(colour)), grey) >= 3
    assert contrast(luminance(on_dark([0, 0, 0])), ground) >= 4.5
    assert_allclose(on_dark([0.0, 0.45, 0.7, 0.5])[3], 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_typical_member_of_a_round_cluster_is_central(seed):
    blob = make_blobs(500, centers=1, random_state=seed)[0]
    model = PSKC(n_clusters=1, random_state=0).fit(blob)
    (cluster,) = Summary.of(model, blob).clusters
    distances = np.linalg.norm(blob - blob.mean(axis=0), axis=1)
    assert np.mean(distances < distances[cluster.members[0]]) < 0.1


def test_typical_members_of_a_ring_lie_all_around_it():
    angles = np.random.RandomState(0).uniform(0, 2 * np.pi, 400)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    model = PSKC(psi=16, n_clusters=1, random_state=0).fit(ring)
    (cluster,) = Summary.of(model, ring).clusters
    quarters = {tuple(np.sign(ring[row]).tolist()) for row in cluster.members}
    assert len(cluster.members) == 5
    assert len(quarters) >= 3


def test_a_small_share_is_not_shown_as_none():
    assert share_words(0.0004) == "&lt; 0.1%"
    assert share_words(0.0) == "0.0%"


def test_rows_are_said_to_be_counted_from_0_unless_they_have_names(model, blobs, tmp_path, undrawn):
    words = "Rows are counted from 0."
    assert any(words in text for text in report(tmp_path, model, blobs).texts)
    named = report(tmp_path, model, blobs, ids=list(range(300)))
    assert not any(words in text for text in named.texts)


@pytest.fixture
def table(blobs):
    """Three blobs in columns of different units."""
    return pd.DataFrame(blobs * [1.0, 100.0], columns=["east", "north"])


def test_rows_before_scaling_get_no_advice_on_scaling(table, tmp_path, undrawn):
    model = PSKC(random_state=0).fit(StandardScaler().fit_transform(table))
    shown = " ".join(report(tmp_path, model, table).texts)
    assert "varies" not in shown
    assert "unknown to this report" in shown
    assert "the same rows, prepared as for this fit" in shown
    assert "north" in shown  # the names are those of the table
    shown = " ".join(report(tmp_path, PSKC(random_state=0).fit(table), table).texts)
    assert '"north" varies 1' in shown
    assert "fitted to the same rows." in shown


@pytest.mark.parametrize("array", [False, True])
def test_a_pipeline_that_scales_is_reported_with_the_rows_before(table, array, tmp_path, undrawn):
    rows = table.to_numpy() if array else table
    pipeline = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(rows)
    shown = " ".join(report(tmp_path, pipeline, rows).texts)
    assert "scale the columns before the fit" not in shown
    assert "the rows after these steps of the pipeline: StandardScaler" in shown
    members = np.asarray(rows)[pipeline[-1].labels_ == 0]
    assert number(members[:, 1].mean()) in shown  # in the units of the rows before scaling


def test_a_pipeline_with_other_columns_is_reported_with_the_rows_of_the_fit(
    table, tmp_path, undrawn
):
    table.iloc[::9, 0] = np.nan
    pipeline = make_pipeline(SimpleImputer(), PCA(2), PSKC(random_state=0)).fit(table)
    shown = " ".join(report(tmp_path, pipeline, table).texts)
    assert "SimpleImputer, PCA; this page shows the result" in shown
    assert "pca1" in shown


def test_a_pipeline_of_a_table_is_reported_from_its_file(table, tmp_path, undrawn):
    pipeline = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(table)
    table.to_csv(tmp_path / "t.csv", index=False)
    shown = " ".join(report(tmp_path, pipeline, tmp_path / "t.csv").texts)
    assert "the rows after these steps of the pipeline: StandardScaler" in shown
    assert "north" in shown


def test_arguments_in_another_order_are_refused(table, model, tmp_path):
    with pytest.raises(TypeError, match=r"path is of type PSKC. Call write_report\(path, model, X"):
        write_report(model, table, tmp_path / "report.html")


@pytest.mark.usefixtures("undrawn")
def test_words_of_a_command_are_not_broken_after_a_dash(tmp_path, model, blobs):
    command = FitCommand("pskclust fit 'a & b.csv' --seed 0", [], str)
    report(tmp_path, model, blobs, command=command)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<span>&#x27;a</span> <span>&amp;</span>" in page
    assert "<span>--seed</span> <span>0</span></code>" in page
    assert "code span { display: inline-block;" in page


@pytest.mark.usefixtures("undrawn")
def test_the_objective_is_that_of_grown_clusters(tmp_path, model, blobs):
    words = "The objective is the sum of the similarities"
    assert words not in " ".join(report(tmp_path, model, blobs).texts)
    grown = report(tmp_path, PSKC(psi=64, tau=0.01, random_state=0).fit(blobs), blobs)
    assert words in " ".join(grown.texts)
    assert "objective" in grown.texts


@pytest.mark.usefixtures("undrawn")
def test_a_number_that_was_set_was_not_chosen(tmp_path, blobs):
    asked = report(tmp_path, PSKC(n_clusters=3, random_state=0).fit(blobs), blobs)
    assert "How the clusters were chosen" in asked.texts
    assert "3, chosen" not in asked.texts


def test_the_chart_of_candidates_has_no_title(monkeypatch, tmp_path, model, blobs):
    titles = []
    source = _pictures._source
    monkeypatch.setattr(
        _pictures, "_source", lambda figure: titles.append(figure.get_suptitle()) or source(figure)
    )
    report(tmp_path, model, blobs)
    assert not any("stable" in title for title in titles)


@pytest.mark.usefixtures("undrawn")
def test_figures_are_explained_and_the_page_is_dated(tmp_path, model, blobs):
    page = report(tmp_path, model, blobs, date=date(2031, 2, 3), scores={"ARI": 0.5, "mine": 1.0})
    shown = " ".join(page.texts)
    for words in (
        "2031-02-03, pskclust ",
        "compare them with each other, not with 1",
        "ARI (adjusted Rand index)",
    ):
        assert words in shown
    assert "NMI" not in shown


@pytest.mark.usefixtures("undrawn")
def test_clusters_are_counted_by_known_classes(tmp_path, model, blobs):
    classes = np.array(["a", "<b>", "c"], dtype=object)[model.labels_]
    classes[:7] = None
    page = report(tmp_path, model, blobs, classes=classes, class_column="kind")
    texts = page.texts[page.texts.index("Known classes") :]
    assert any('in the column "kind".' in text for text in texts)
    assert any("Rows without a class (7) are left out." in text for text in texts)
    assert {"a", "<b>", "c"} <= set(texts)
    with pytest.raises(ValueError, match="classes has 1 entries, but X has 300 rows"):
        report(tmp_path, model, blobs, classes=["a"])


@pytest.mark.usefixtures("undrawn")
def test_classes_have_the_name_of_their_series_and_are_in_order(tmp_path, model, blobs):
    classes = pd.Series(np.array([10, 9, 2])[model.labels_], name="grade")
    texts = report(tmp_path, model, blobs, classes=classes).texts
    texts = texts[texts.index("Known classes") :]
    assert any('in the column "grade".' in text for text in texts)
    assert texts[texts.index("cluster") :][:4] == ["cluster", "2", "9", "10"]
    assert KnownClasses.of("kind", ["b", 1, "a"], np.zeros(3, dtype=int)).names == ["1", "a", "b"]


def test_small_classes_and_clusters_are_summed():
    labels = np.concatenate([[-1], np.arange(30), np.zeros(9, dtype=int)])
    found = KnownClasses.of("kind", [*range(31), *[0] * 8, float("nan")], labels)
    assert found.names[0] == "0"
    assert found.names[-1] == "others"
    assert len(found.names) == 13
    assert len(found.counts) == 26
    assert found.counts["noise"].tolist() == [1, *[0] * 12]
    assert found.counts["smaller clusters"].sum() == 6
    assert sum(row.sum() for row in found.counts.values()) == 39
    assert found.n_unknown == 1


@pytest.mark.usefixtures("undrawn")
def test_a_report_of_a_command_speaks_of_its_options(tmp_path, model, blobs):
    command = FitCommand("pskclust fit a.csv", ["Use: --id x"], lambda text: f"option {text}")
    texts = report(tmp_path, model, blobs * [1, 1000], command=command).texts
    assert " ".join(texts).count("pskclust  fit  a.csv") == 2
    assert {"option n_clusters=4", "Use: --id x", "PSKC(random_state=0)"} <= set(texts)
    assert not any("scale the columns" in text for text in texts)
