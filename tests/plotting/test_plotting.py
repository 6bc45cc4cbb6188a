"""Displays draw what a model found."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC, GroupPSKC, RowBlocks, sweep
from pskclust.datasets import make_trajectories
from pskclust.plotting import (
    AutoDisplay,
    ClusterDisplay,
    GrowthDisplay,
    MergeTreeDisplay,
    ProfileDisplay,
    SimilarityDisplay,
    SweepDisplay,
    _points,
    cluster_colours,
)

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def model(blobs):
    return PSKC(psi=16, tau=0.04, random_state=0).fit(blobs)


@pytest.fixture
def chosen(blobs):
    """A model whose clusters were chosen on a sample."""
    return PSKC(random_state=0).fit(blobs)


def colours_drawn(ax):
    drawn = [collection.get_facecolors()[:, :3] for collection in ax.collections]
    return {tuple(colour) for colour in np.vstack(drawn)}


def test_points_have_the_colours_of_their_clusters(model, blobs):
    display = ClusterDisplay.from_estimator(model, blobs)
    assert colours_drawn(display.ax_) == {tuple(colour) for colour in cluster_colours(3)[:3]}
    assert_array_equal(display.ax_.lines[0].get_xydata(), blobs[model.seeds_])
    assert display.ax_.get_title() == "3 clusters, 0.0% noise"
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["0: 100", "1: 100", "2: 100", "seed"]


def test_noise_is_grey_and_named(scattered):
    model = PSKC(psi=32, tau=0.2, method="hypersphere", random_state=0).fit(scattered)
    n_noise = (model.labels_ < 0).sum()
    assert n_noise
    display = ClusterDisplay.from_estimator(model, scattered)
    assert tuple(cluster_colours(0)[-1]) in colours_drawn(display.ax_)
    assert f"noise: {n_noise}" in [t.get_text() for t in display.ax_.get_legend().get_texts()]


def test_many_points_are_counted_into_pixels(model, blobs, monkeypatch):
    monkeypatch.setattr(_points, "MAX_MARKS", 100)
    display = ClusterDisplay.from_estimator(model, blobs)
    assert not display.ax_.collections
    (image,) = display.ax_.images
    pixels = image.get_array()
    filled = pixels[..., 3] > 0
    assert 50 < filled.sum() <= len(blobs)
    assert pixels.shape[1] < 900  # few are filled, so they are large
    assert {tuple(c) for c in pixels[filled][:, :3]} == {tuple(c) for c in cluster_colours(3)[:3]}


def test_a_pixel_shows_the_cluster_of_most_of_its_rows():
    points = np.array([[0.5, 0.5]] * 3 + [[0.1, 0.9]])
    labels = np.array([1, 0, 1, -1])
    limits = _points.Limits(np.zeros(2), np.ones(2))
    image = _points.pixels_of_clusters(points, labels, limits, 2)
    height, width = image.shape[:2]
    colours = cluster_colours(2)
    assert_array_equal(image[height // 2, width // 2, :3], colours[1])
    assert_array_equal(image[int(0.9 * height), int(0.1 * width), :3], colours[-1])
    assert (image[..., 3] > 0).sum() == 2


def test_more_columns_are_drawn_along_principal_axes():
    X = np.random.RandomState(0).randn(200, 4) * [10, 5, 0.1, 0.1]
    display = ClusterDisplay.from_estimator(PSKC(psi=8, random_state=0).fit(X), X)
    assert display.points.std(axis=0) == pytest.approx([10, 5], rel=0.2)
    assert "principal axis 1" in display.ax_.get_xlabel()


def test_one_column_is_spread_out():
    X = np.random.RandomState(0).randn(50, 1)
    display = ClusterDisplay.from_estimator(PSKC(psi=8, random_state=0).fit(X), X)
    assert_array_equal(display.points[:, :1], X)
    assert display.ax_.get_ylabel() == "random height, for legibility"
    assert len(display.ax_.get_yticks()) == 0


def test_columns_keep_their_names_or_get_others(model, blobs):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(blobs, columns=["height", "weight"])
    display = ClusterDisplay.from_estimator(PSKC(random_state=0).fit(table), table)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "weight")
    for kind in (ClusterDisplay, SimilarityDisplay):
        display = kind.from_estimator(
            PSKC(random_state=0).fit(blobs), blobs, feature_names=["a", "b"]
        )
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", "b")
    with pytest.raises(ValueError, match="feature_names has 1 names.*2 columns"):
        ClusterDisplay.from_estimator(model, blobs, feature_names=["a"])


def test_given_axes_are_drawn_on(model, blobs):
    _, ax = plt.subplots()
    assert ClusterDisplay.from_estimator(model, blobs, ax=ax).ax_ is ax


def test_growth_shows_more_members_from_panel_to_panel(model, blobs):
    display = GrowthDisplay.from_estimator(model, blobs, cluster=1, n_panels=4)
    titles = [ax.get_title() for ax in display.axes_.flat if ax.get_title()]
    counts = [int(title.split(": ")[1].split()[0]) for title in titles]
    assert counts == sorted(counts)
    assert counts[-1] == model.cluster_sizes_[1]


def test_growth_of_the_largest_cluster_is_drawn_by_default(blobs):
    tiny = np.vstack([blobs[:4], 60 + blobs])
    display = GrowthDisplay(
        points=tiny,
        labels=np.repeat([0, 1], [4, len(blobs)]),
        growth_steps=np.ones(len(tiny), dtype=np.int32),
        seeds=np.array([0, 4]),
    )
    assert display.plot().axes_.flat[0].get_title().startswith("cluster 1, ")


def test_growth_of_clusters_that_were_chosen_is_refused(chosen, blobs):
    with pytest.raises(
        ValueError, match="clusters of this model were chosen. Fit it with psi and tau"
    ):
        GrowthDisplay.from_estimator(chosen, blobs)


def test_a_cross_is_named_after_the_row_that_it_marks(chosen, model, blobs):
    for fitted, name in ((chosen, "most similar row"), (model, "seed")):
        legend = ClusterDisplay.from_estimator(fitted, blobs).ax_.get_legend()
        assert legend.get_texts()[-1].get_text() == name


def test_tau_is_drawn_only_where_it_decides_what_is_noise(chosen, model, blobs):
    assert SimilarityDisplay.from_estimator(model, blobs).tau == model.tau_
    assert SimilarityDisplay.from_estimator(chosen, blobs).tau is None
    nearest = PSKC(psi=16, tau=0.02, noise="nearest", random_state=0).fit(blobs)
    assert SimilarityDisplay.from_estimator(nearest, blobs).tau is None


def test_the_similarity_distribution_is_that_of_the_model(model, blobs):
    display = SimilarityDisplay.from_estimator(model, blobs)
    place = 20, 30
    point = [[display.grid[0][place[1]], display.grid[1][place[0]]]]
    assert display.similarities[place] == model.similarity(point).max()


def test_over_one_column_there_is_a_line_for_each_cluster():
    X = np.concatenate([np.random.RandomState(0).normal(c, 0.1, 50) for c in (0, 5)])[:, np.newaxis]
    model = PSKC(psi=8, tau=0.05, random_state=0).fit(X)
    display = SimilarityDisplay.from_estimator(model, X)
    labels = [line.get_label() for line in display.ax_.lines]
    assert sum(label.startswith("cluster") for label in labels) == model.n_clusters_


def test_the_profile_shows_sizes_and_medians(model):
    display = ProfileDisplay.from_estimator(model)
    widths = sorted(bar.get_width() for bar in display.axes_[0].patches)
    assert widths == sorted(model.cluster_sizes_)
    medians = sorted(display.axes_[1].lines[0].get_xdata())
    expected = sorted(np.median(model.similarities_[model.labels_ == c]) for c in range(3))
    assert medians == pytest.approx(expected)


def test_a_sweep_is_drawn_as_three_heat_maps(blobs):
    result = sweep(blobs, psi=[8, 16], tau=[0.01, 0.1, 0.3], random_state=0)
    display = SweepDisplay.from_result(result)
    assert [ax.get_title() for ax in display.axes_] == ["clusters", "noise", "stability"]
    written = [[text.get_text() for text in ax.texts] for ax in display.axes_]
    assert written[0] == [f"{number:,}" for number in result.n_clusters.flat]
    assert written[2] == [f"{agreement:.2f}" for agreement in result.stability.flat]
    best = result.best()
    frame = display.axes_[0].patches[-1]
    column, row = (round(place + 0.5) for place in frame.get_xy())
    assert (result.psi[row], result.tau[column]) == (best["psi"], best["tau"])


def test_a_large_sweep_is_drawn_without_numbers(blobs):
    result = sweep(blobs, psi=[8], tau=np.linspace(0.01, 0.5, 13).tolist(), n_seeds=2)
    assert not SweepDisplay.from_result(result).axes_[0].texts


def test_given_figures_are_drawn_on(model, blobs):
    figure = Figure(layout="constrained")
    assert ProfileDisplay.from_estimator(model, figure=figure).figure_ is figure
    assert GrowthDisplay.from_estimator(model, blobs, figure=Figure()).axes_.size == 6
    assert not plt.get_fignums()


def test_names_are_drawn_as_they_are(blobs):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(blobs, columns=["cost in $ \\frac{", "x$^" + 60 * "y"])
    model = PSKC(psi=16, tau=0.04, random_state=0).fit(table)
    for display in (ClusterDisplay, SimilarityDisplay):
        shown = display.from_estimator(model, table)
        shown.figure_.canvas.draw()
        assert len(shown.ax_.get_ylabel()) < 50
    GrowthDisplay.from_estimator(model, table).figure_.canvas.draw()


def test_no_cluster_at_all_can_be_drawn():
    X = np.random.RandomState(0).randn(20, 2)
    model = PSKC(psi=8, tau=0.999, random_state=0).fit(X)
    assert model.n_clusters_ == 0
    ClusterDisplay.from_estimator(model, X)
    SimilarityDisplay.from_estimator(model, X)
    profile = ProfileDisplay.from_estimator(model)
    assert profile.figure_.get_suptitle() == "no clusters"
    with pytest.raises(ValueError, match="cluster=0 does not exist. The model has no cluster."):
        GrowthDisplay.from_estimator(model, X)


@pytest.mark.parametrize("display", [ClusterDisplay, GrowthDisplay])
def test_a_pipeline_that_scales_two_columns_is_drawn_in_their_units(display, blobs):
    pipeline = make_pipeline(StandardScaler(), PSKC(psi=16, tau=0.04, random_state=0)).fit(blobs)
    assert_array_equal(display.from_estimator(pipeline, blobs).points, blobs)


@pytest.mark.parametrize("display", [ClusterDisplay, GrowthDisplay])
def test_a_pipeline_of_other_steps_is_drawn_in_the_space_of_its_fit(display, blobs):
    wide = np.column_stack([blobs, blobs.sum(axis=1)])
    pipeline = make_pipeline(PCA(2), PSKC(psi=16, tau=0.04, random_state=0)).fit(wide)
    drawn = display.from_estimator(pipeline, wide)
    assert_array_equal(drawn.points, pipeline[:-1].transform(wide))


def test_similarities_of_a_pipeline_are_drawn_in_the_space_of_its_fit(blobs):
    table = pd.DataFrame(blobs, columns=["a", "b"])
    pipeline = make_pipeline(StandardScaler(), PSKC(psi=16, tau=0.04, random_state=0)).fit(table)
    drawn = SimilarityDisplay.from_estimator(pipeline, table)
    assert_array_equal(drawn.X, StandardScaler().fit_transform(table))
    assert drawn.ax_.get_xlabel() == "a (after StandardScaler)"


def test_a_pipeline_of_a_table_is_drawn_from_the_file_of_the_table(blobs, tmp_path):
    table = pd.DataFrame(blobs, columns=["a", "b"])
    pipeline = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(table)
    table[["b", "a"]].assign(city="Rome").to_csv(tmp_path / "t.csv", index=False)
    for display in (ClusterDisplay, SimilarityDisplay):
        drawn = display.from_estimator(pipeline, tmp_path / "t.csv")
        assert drawn.ax_.get_xlabel().startswith("a")
    np.save(tmp_path / "t.npy", blobs)
    assert_array_equal(ClusterDisplay.from_estimator(pipeline, tmp_path / "t.npy").points, blobs)
    of_array = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(blobs)
    table.to_csv(tmp_path / "t.csv", index=False)
    drawn = ClusterDisplay.from_estimator(of_array, tmp_path / "t.csv")
    assert_array_equal(drawn.points, blobs)


def test_a_pipeline_of_texts_is_drawn_in_the_space_of_its_fit():
    rng = np.random.RandomState(0)
    texts = [" ".join(rng.choice(list("abcd" if row % 2 else "wxyz"), 9)) for row in range(60)]
    words = TfidfVectorizer(token_pattern=".")
    pipeline = make_pipeline(words, TruncatedSVD(3), PSKC(metric="cosine", random_state=0))
    drawn = ClusterDisplay.from_estimator(pipeline.fit(texts), texts)
    assert drawn.points.shape == (60, 2)


def test_a_display_of_something_else_than_a_model_is_refused(blobs):
    with pytest.raises(TypeError, match="model is of type DataFrame. Pass a fitted PSKC, or a fi"):
        ClusterDisplay.from_estimator(pd.DataFrame(blobs), blobs)


def test_other_labels_of_the_same_rows_are_drawn(chosen, blobs):
    labels = chosen.relabel(n_clusters=2)
    display = ClusterDisplay.from_estimator(chosen, blobs, labels=labels)
    assert display.ax_.get_title() == "2 clusters, 0.0% noise"
    assert not display.ax_.lines
    for wrong in (labels[:5], labels / 2):
        with pytest.raises(ValueError, match="Pass a whole number for each of the 300 rows"):
            ClusterDisplay.from_estimator(chosen, blobs, labels=wrong)


def test_rows_of_a_file_are_drawn(blobs, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(blobs, columns=["a", "b"]).to_csv(path, index=False)
    model = PSKC(random_state=0).fit(path)
    display = ClusterDisplay.from_estimator(model, str(path))
    assert_array_equal(display.points, blobs)
    assert display.ax_.get_xlabel() == "a"
    rows = RowBlocks.from_array(blobs)
    assert_array_equal(ClusterDisplay.from_estimator(model, rows).points, blobs)


def test_longitude_is_the_horizontal_axis():
    degrees = np.random.RandomState(0).uniform([40, 0], [60, 30], (60, 2))
    model = PSKC(metric="haversine", random_state=0).fit(degrees)
    display = ClusterDisplay.from_estimator(model, degrees)
    assert_array_equal(display.points, degrees[:, ::-1])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("longitude", "latitude")


def test_groups_are_not_drawn_as_rows():
    X, groups, _ = make_trajectories(20, random_state=0)
    model = GroupPSKC(random_state=0).fit(X, groups=groups)
    with pytest.raises(TypeError, match="GroupPSKC has clusters of groups.*model.clusterer_"):
        ClusterDisplay.from_estimator(model, X)
    ClusterDisplay.from_estimator(model.clusterer_, model.embedding_)


@pytest.mark.parametrize("display", [AutoDisplay, MergeTreeDisplay, ProfileDisplay])
def test_a_pipeline_is_drawn_as_its_last_step(display, blobs):
    display.from_estimator(make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(blobs))
    display.from_estimator(make_pipeline(PSKC(random_state=0)).fit(blobs))
    display.from_estimator(PSKC(random_state=0).fit(blobs), blobs)  # the rows are not needed


@pytest.mark.parametrize("display", [ClusterDisplay, GrowthDisplay, SimilarityDisplay])
def test_a_model_that_was_not_fitted_is_refused(display, blobs):
    with pytest.raises(NotFittedError):
        display.from_estimator(PSKC(), blobs)


def test_what_cannot_be_drawn_is_named(model, blobs):
    with pytest.raises(ValueError, match="X has 10 rows.*fitted to 300"):
        ClusterDisplay.from_estimator(model, blobs[:10])
    with pytest.raises(ValueError, match=r"shape \(300, 1\).*2 columns"):
        ClusterDisplay.from_estimator(model, blobs[:, :1])
    with pytest.raises(ValueError, match="cluster=3 does not exist.*0 to 2"):
        GrowthDisplay.from_estimator(model, blobs, cluster=3)
    wide = np.random.RandomState(0).randn(50, 3)
    with pytest.raises(ValueError, match="one or two columns"):
        SimilarityDisplay.from_estimator(PSKC(psi=8, random_state=0).fit(wide), wide)


def test_colours_repeat_only_after_many_and_noise_is_last():
    colours = cluster_colours(27)
    assert len({tuple(colour) for colour in colours}) == 28
    assert_array_equal(cluster_colours(3)[-1], cluster_colours(0)[0])


@pytest.mark.slow
def test_without_matplotlib_the_way_to_get_it_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "from pskclust import PSKC; from pskclust.plotting import ProfileDisplay\n"
        "X = [[0.0], [1.0], [2.0], [9.0]]\n"
        "try: ProfileDisplay.from_estimator(PSKC(psi=2).fit(X))\n"
        "except ImportError as error: print(error)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert 'pip install "pskclust[plot]"' in answer.stdout


def test_a_choice_is_drawn_with_a_bar_for_each_number_of_clusters(chosen):
    display = AutoDisplay.from_estimator(chosen)
    odds, evidence = display.axes_
    candidates = chosen.auto_.numbers
    bars = [bar for bar in odds.patches if bar.get_height() == 0.72]
    assert_array_equal([bar.get_width() for bar in bars], [one.odds for one in candidates])
    names = [label.get_text() for label in odds.get_yticklabels()]
    assert names[0] == f"{candidates[0].n_clusters} clusters"
    assert len(names) == len(set(names)) == len(candidates)
    bold = [label.get_fontweight() == "bold" for label in odds.get_yticklabels()]
    assert bold == [one.is_chosen for one in candidates]
    drawn = {line.get_label(): line.get_xydata() for line in evidence.lines}
    assert list(drawn) == [
        "stability",
        "least stability",
        "agreement",
        "separation",
        "overlap (low is good)",
    ]
    known = [one.stability for one in candidates if one.stability is not None]
    assert_array_equal(drawn["stability"][:, 0], known)
    assert display.figure_.get_suptitle().replace("\n", " ") == chosen.auto_.reason


def test_a_long_reason_is_drawn_in_lines_of_about_the_same_length(chosen):
    reason = (
        "3 clusters, stable: random halves of the rows give the same clusters (stability 100%, "
        "least stable cluster 100%); second choice: 4 clusters"
    )
    title = AutoDisplay(choice=replace(chosen.auto_, reason=reason)).plot().figure_.get_suptitle()
    first, second, last = title.splitlines()
    assert last == "second choice: 4 clusters"
    assert min(len(first), len(second)) > 40


def test_a_choice_of_few_rows_has_no_evidence_to_draw():
    few = PSKC(random_state=0).fit(np.arange(8.0)[:, np.newaxis])
    display = AutoDisplay.from_estimator(few)
    assert display.axes_[1].lines[:] == []
    assert display.figure_.get_suptitle() == few.auto_.reason


def test_a_merge_tree_is_drawn_in_the_colours_of_its_clusters(chosen):
    display = MergeTreeDisplay.from_estimator(chosen)
    n_parts = len(chosen.merge_tree_)
    assert display.ax_.get_title() == f"{n_parts} parts in 3 clusters"
    n_joins = sum(len(lines.get_segments()) for lines in display.ax_.collections)
    assert n_joins == n_parts - 1


def test_one_cluster_and_joins_without_similarity_are_named():
    tree = np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 6.0, 3.0]])
    ax = MergeTreeDisplay(linkage_matrix=tree, links=np.array([0, 0, 0])).plot().ax_
    assert ax.get_title() == "3 parts in 1 cluster"
    assert ax.get_ylabel() == "-log10 of similarity (6: no cell is shared)"


def test_a_cluster_that_is_a_single_part_has_its_colour_in_a_merge_tree():
    tree = np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 1.0, 2.0], [4.0, 5.0, 2.0, 4.0]])
    display = MergeTreeDisplay(linkage_matrix=tree, links=np.array([0, 0, 1, 2])).plot()
    drawn = [line.get_color() for line in display.ax_.lines]
    assert_array_equal(np.sort(drawn, axis=0), np.sort(cluster_colours(3)[1:3], axis=0))
    assert [line.get_ydata()[1] for line in display.ax_.lines] == [1.0, 1.0]


@pytest.mark.parametrize("display", [AutoDisplay, MergeTreeDisplay])
def test_without_a_choice_there_is_nothing_to_draw(display, blobs):
    with pytest.raises(ValueError, match="Fit (it|the model) with"):
        display.from_estimator(PSKC(psi=32, tau=0.02, random_state=0).fit(blobs))
