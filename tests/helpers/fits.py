"""Fits of generated cases, and what two equal fits have in common."""

from __future__ import annotations

from numpy.testing import assert_array_equal

from pskclust import PSKC

FITTED = (
    "labels_",
    "n_clusters_",
    "seeds_",
    "cluster_sizes_",
    "similarities_",
    "probabilities_",
    "outlier_scores_",
    "layers_",
    "growth_step_",
    "n_iter_",
    "objective_",
    "objective_before_refinement_",
    "n_reassigned_",
    "psi_",
    "tau_",
    "engine_",
    "backend_",
    "n_features_in_",
)


def fitted(case, **changes):
    return PSKC(**{**case.parameters, **changes}).fit(case.X, sample_weight=case.weights)


def assert_same_fit(first, second):
    for name in FITTED:
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
