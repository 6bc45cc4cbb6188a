"""Layers on the page are those of `relabel`, without a new fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._utils.progress import ignore
from pskclust.explorer.advice import join
from pskclust.explorer.answers import summary
from pskclust.explorer.export import export
from pskclust.explorer.fits import Fitter
from pskclust.explorer.psi_tau_map import PsiTauMap
from pskclust.explorer.queue import WorkQueue
from pskclust.explorer.recipes import command_line, python_code
from pskclust.explorer.settings import Settings
from pskclust.explorer.subject import ImageSubject, TableSubject
from tests.helpers import naive
from tests.helpers.explorer_client import blobs, painting

GROWN = Settings(psi=64, tau=0.08, n_partitions=50)
CHOSEN = Settings()


@pytest.fixture(scope="module")
def fitter():
    return Fitter(TableSubject.of(blobs()))


@pytest.mark.parametrize("settings", [GROWN, CHOSEN])
def test_a_layer_has_the_labels_of_relabel_and_nothing_is_chosen_or_grown_for_it(fitter, settings):
    fit = fitter.fit(settings, ignore)
    assert len(fit.model.layers_) > 1
    stages = []
    for layer in fit.model.layers_:
        shown = fitter.fit(
            replace(settings, layer=layer.n_clusters),
            lambda progress: stages.append(progress.stage),
        )
        assert_array_equal(shown.labels, fit.model.relabel(n_clusters=layer.n_clusters))
        assert_array_equal(shown.sizes, np.bincount(shown.labels[shown.labels >= 0]))
        assert shown.of_model is fit.model
    assert not {"choose", "encode", "grow"} & set(stages)


@pytest.mark.parametrize("settings", [GROWN, replace(CHOSEN, layer=None)])
def test_the_layer_of_the_fit_is_the_fit(fitter, settings):
    fit = fitter.fit(settings, ignore)
    same = fitter.fit(replace(settings, layer=fit.n_clusters), ignore)
    for name in ("labels_", "similarities_", "cluster_sizes_", "probabilities_"):
        assert_array_equal(getattr(same.model, name), getattr(fit.model, name))
    assert same.model.objective_ == fit.model.objective_
    assert_array_equal(same.model.similarity(blobs()), fit.model.similarity(blobs()))


@pytest.mark.parametrize(("settings", "layer"), [(GROWN, 4), (CHOSEN, 3), (CHOSEN, 9)])
def test_similarities_and_seeds_are_those_to_the_clusters_of_the_layer(fitter, settings, layer):
    shown = fitter.fit(replace(settings, layer=layer), ignore)
    model = shown.model
    kernel = naive.PointSetKernel(model.kernel_.cells(blobs()).tolist())
    for cluster, seed in enumerate(model.seeds_):
        members = np.flatnonzero(shown.labels == cluster).tolist()
        expected = kernel.similarities(members, members)
        assert model.similarities_[members].tolist() == list(expected.values())
        assert seed == naive.first_of_highest(expected)


def test_rows_of_weight_count_as_often_in_a_layer():
    weights = 1 + np.arange(600) % 3
    fitter = Fitter(TableSubject.of(blobs(), weights=weights))
    shown = fitter.fit(replace(GROWN, layer=3), ignore)
    assert shown.sizes.sum() + shown.n_noise == weights.sum()
    repeated = Fitter(TableSubject.of(np.repeat(blobs(), weights, axis=0)))
    other = repeated.fit(replace(GROWN, layer=3), ignore)
    assert_array_equal(np.repeat(shown.model.similarities_, weights), other.model.similarities_)


def test_cells_that_are_not_kept_any_more_are_found_again(fitter):
    kept = fitter.fit(replace(CHOSEN, layer=3), ignore)
    forgetful = Fitter(fitter.subject)
    forgetful.fit(CHOSEN, ignore)
    forgetful._cells.make_room(1 << 60)
    found = forgetful.fit(replace(CHOSEN, layer=3), ignore)
    assert_array_equal(found.model.similarities_, kept.model.similarities_)


def test_the_page_is_told_of_layers_with_their_evidence(fitter):
    fit = fitter.fit(CHOSEN, ignore)
    shown = fitter.fit(replace(CHOSEN, layer=3), ignore)
    for each in (fit, shown):
        told = summary(each, np.arange(each.n_clusters), fitter.subject)
        assert [layer["n_clusters"] for layer in told["layers"]] == [3, 5]
        assert told["fit_clusters"] == fit.n_clusters == 5
        assert told["clusters"] == each.n_clusters
        stability = fit.model.auto_.chosen.stability
        expected = pytest.approx(stability, abs=0.01) if each is fit else None
        assert told["stability"] == expected


def test_code_relabels_and_there_is_no_command_for_it(fitter):
    settings = replace(CHOSEN, layer=3)
    shown = fitter.fit(settings, ignore)
    assert "model.fit(X).relabel(n_clusters=3)" in python_code(fitter, settings)
    assert command_line(fitter, settings) is None
    with pytest.raises(ValueError, match="cannot write the labels of a layer. Use the"):
        export(fitter, shown, "command")
    report = export(fitter, shown, "report").content.decode()
    assert "Coarser and finer clusterings of the same rows" in report


def test_what_has_no_layers_says_so(fitter):
    with pytest.raises(ValueError, match="n_clusters=900 is more than the .* parts of this fit"):
        fitter.fit(replace(CHOSEN, layer=900), ignore)
    with pytest.raises(ValueError, match="layer=0 must be a whole number from 1 to 10,000."):
        Settings.of({"layer": 0})
    images = Fitter(ImageSubject(painting()))
    settings = Settings(psi=8, tau=0.1, layer=2)
    with pytest.raises(ValueError, match="layers are not available for images"):
        images.fit(settings, ignore)
    told = summary(images.fit(settings.of_fit, ignore), np.arange(9), images.subject)
    assert told["layers"] == []
    sampled = Fitter(TableSubject.of(blobs(), sample=300))
    shown = sampled.fit(replace(GROWN, layer=2), ignore)
    with pytest.raises(ValueError, match="Ask for 2 clusters instead, or explore all rows with"):
        export(sampled, shown, "labels.csv")


@pytest.mark.parametrize(("settings", "layer"), [(GROWN, 4), (CHOSEN, 3)])
def test_advice_on_a_layer_is_about_fits(fitter, settings, layer):
    queue = WorkQueue()
    psi_tau_map = PsiTauMap(fitter, queue, lambda: None)
    try:
        shown = fitter.fit(replace(settings, layer=layer), ignore)
        hint = join(fitter, shown, (0, 1), psi_tau_map, ignore)
    finally:
        psi_tau_map.close()
        queue.close()
    assert "layer" not in (hint.change or {})
    assert PSKC(**replace(settings, **(hint.change or {})).parameters)
