"""Scores of a clustering: against known classes, and without any."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from ._data.agreement import adjusted_rand

__all__ = ["matched_f1", "objective", "separation", "stability"]

_NOISE = -1


def matched_f1(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mean F1 over classes, each matched to at most one cluster.

    Classes and clusters are matched one to one such that the sum of F1 is largest. A class that
    no cluster is left for counts as 0; clusters that no class is left for do not count.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class of each row.
    y_pred : array-like of shape (n_samples,)
        Cluster of each row. -1 is noise, which matches no class.

    Returns
    -------
    score : float
        From 0 to 1; exactly 1 only if clusters are the classes.

    Examples
    --------
    >>> from pskclust.metrics import matched_f1
    >>> matched_f1(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> matched_f1(["a", "a", "b", "b"], [0, 0, -1, -1])
    0.5
    """
    classes, clusters = _labels(y_true, "y_true"), _labels(y_pred, "y_pred")
    if len(classes) != len(clusters):
        raise ValueError(
            f"y_true has {len(classes)} labels and y_pred has {len(clusters)}. Pass one of each "
            "for every row."
        )
    class_names, of_class = np.unique(classes, return_inverse=True)
    cluster_names, of_cluster = np.unique(clusters, return_inverse=True)
    sizes = np.zeros((len(class_names), len(cluster_names)), dtype=np.int64)
    np.add.at(sizes, (of_class, of_cluster), 1)
    shared = sizes[:, cluster_names != _NOISE]
    f1 = 2 * shared / (sizes.sum(axis=1, keepdims=True) + shared.sum(axis=0))
    if not shared.shape[1]:
        return 0.0
    # The matching leaves out pairs of weight 0. scipy.optimize matches, too, and takes longer to
    # load than this takes.
    matched = min_weight_full_bipartite_matching(csr_array(2.0 - f1))
    return float(f1[matched].sum() / len(f1))


def stability(clusterings: Sequence[ArrayLike]) -> float:
    """Return how far several clusterings of the same rows agree, say those of several seeds.

    Parameters
    ----------
    clusterings : sequence of two or more array-likes of shape (n_samples,)
        Labels. -1 is noise, which counts as one more cluster.

    Returns
    -------
    score : float
        Mean adjusted Rand index over all pairs: 1 if all are the same, about 0 if they agree by
        chance only.

    Examples
    --------
    >>> from pskclust.metrics import stability
    >>> stability([[0, 0, 1, 1], [1, 1, 0, 0], [5, 5, 3, 3]])
    1.0
    """
    found = [_labels(labels, f"clusterings[{n}]") for n, labels in enumerate(clusterings)]
    if len(found) < 2 or len({len(labels) for labels in found}) > 1:
        raise ValueError(
            f"clusterings has {len(found)} of {[len(labels) for labels in found]} labels. Pass two "
            "or more, of the same rows."
        )
    pairs = itertools.combinations(found, 2)
    return float(np.mean([adjusted_rand(one, other) for one, other in pairs]))


def objective(model: Any, X: ArrayLike) -> float:
    """Return the total similarity of rows to their most similar cluster, Gamma of the paper.

    For the rows of a fit it is about ``model.objective_``; for others it tells how well the
    clusters hold for them. Compare it between models of the same psi only.

    Parameters
    ----------
    model : PSKC
        Fitted.
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    score : float
    """
    return math.fsum(_two_highest(model, X)[:, 0])


def separation(model: Any, X: ArrayLike) -> float:
    """Return how much more similar rows are to their own cluster than to the next.

    Parameters
    ----------
    model : PSKC
        Fitted.
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    score : float
        Mean over rows of 1 - second / first, where these are the two highest similarities of a row
        to clusters. 1 if no row is similar to a second cluster; 0 if all are as similar to two.
        Rows that are similar to none do not count.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.metrics import separation
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> separation(PSKC(random_state=0).fit(X), X) > 0.9
    True
    """
    first, second = _two_highest(model, X).T
    known = first > 0
    return float(np.mean(1 - second[known] / first[known])) if known.any() else 0.0


def _two_highest(model: Any, X: ArrayLike) -> NDArray[np.float64]:
    """Return the two highest similarities of each row to clusters, 0 where there are fewer."""
    found = model.similarity(X, top_k=2)[0]
    highest = np.zeros((len(found), 2))
    highest[:, : found.shape[1]] = found
    return highest


def _labels(values: ArrayLike, name: str) -> NDArray[Any]:
    labels = np.asarray(values)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(
            f"{name} has shape {labels.shape}. Pass one label for each of one row or more."
        )
    return labels
