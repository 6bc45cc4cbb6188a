"""Scores of clusterings, with and without known classes."""

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
    """Return the mean F1 score over classes, each matched to at most one cluster.

    Classes and clusters are matched one to one so that the sum of the F1 scores is largest. A
    class without a cluster scores 0; a cluster without a class is ignored. This is the score of
    the paper.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class of each row.
    y_pred : array-like of shape (n_samples,)
        Cluster of each row. -1 is noise, which matches no class.

    Returns
    -------
    score : float
        0 to 1; exactly 1 only if the clusters are the classes.

    See Also
    --------
    stability : Compare clusterings with each other, without known classes.
    sklearn.metrics.adjusted_rand_score : Compare two clusterings by pairs of rows.

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
    # Pairs of weight 0 could not be matched, so weights are from 1 to 2. scipy.optimize can match,
    # too, but takes longer to import than this takes to run.
    matched = min_weight_full_bipartite_matching(csr_array(2.0 - f1))
    return float(f1[matched].sum() / len(f1))


def stability(clusterings: Sequence[ArrayLike]) -> float:
    """Return the agreement of several clusterings of the same rows, such as fits of several seeds.

    The stability in ``auto_`` is another one: how well halves of the rows give the same clusters.

    Parameters
    ----------
    clusterings : sequence of two or more array-likes of shape (n_samples,)
        Labels of each clustering. -1 is noise, which counts as one more cluster.

    Returns
    -------
    score : float
        Mean adjusted Rand index over all pairs of clusterings: 1 if all are equal, about 0 if they
        agree by chance.

    See Also
    --------
    pskclust.sweep : Compute the stability of every pair of psi and tau.
    matched_f1 : Compare a clustering with known classes.

    Examples
    --------
    >>> from pskclust.metrics import stability
    >>> stability([[0, 0, 1, 1], [1, 1, 0, 0], [5, 5, 3, 3]])
    1.0
    """
    is_list = isinstance(clusterings, Sequence | np.ndarray)
    if not is_list or any(np.ndim(labels) == 0 for labels in clusterings):
        raise TypeError(
            f"clusterings is of type {type(clusterings).__name__}. Pass a list of labellings of "
            "the same rows, such as [first.labels_, second.labels_]. The stability of the clusters "
            "of one fit is model.auto_.chosen.stability."
        )
    found = [_labels(labels, f"clusterings[{n}]") for n, labels in enumerate(clusterings)]
    if len(found) < 2 or len({len(labels) for labels in found}) > 1:
        raise ValueError(
            f"clusterings has labels of lengths {[len(labels) for labels in found]}. Pass two "
            "clusterings or more, of the same rows."
        )
    pairs = itertools.combinations(found, 2)
    return float(np.mean([adjusted_rand(one, other) for one, other in pairs]))


def objective(model: Any, X: ArrayLike) -> float:
    """Return the sum of the similarities of rows to their most similar cluster (Gamma, Eq. 4).

    For the rows of the fit it is close to ``model.objective_``. For new rows it shows how well
    they fit the clusters. A larger psi lowers it, so compare only models of the same psi.

    Parameters
    ----------
    model : PSKC
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        Any rows, all finite.

    Returns
    -------
    score : float
        0 to n_samples; higher is better.

    See Also
    --------
    separation : Compare the similarities to the most similar cluster and to the second one.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.metrics import objective
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
    >>> round(objective(model, X), 3)
    89.168
    """
    return math.fsum(_two_highest(model, X)[:, 0])


def separation(model: Any, X: ArrayLike) -> float:
    """Return the mean separation of rows from their second most similar cluster.

    The separation of a row is 1 - second / first, where first and second are its two highest
    similarities to clusters. The separation in ``auto_`` is another one: it compares similarities
    between single rows, like a silhouette.

    Parameters
    ----------
    model : PSKC
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        Any rows, all finite. Rows with similarity 0 to all clusters are left out.

    Returns
    -------
    score : float
        0 to 1: 1 if no row is similar to a second cluster, 0 if all rows are equally similar to
        two clusters.

    See Also
    --------
    objective : Sum the similarities of rows to their most similar cluster.
    sklearn.metrics.silhouette_score : Compare distances within and between clusters.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.metrics import separation
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
    >>> round(separation(model, X), 3)
    0.997
    """
    first, second = _two_highest(model, X).T
    known = first > 0
    return float(np.mean(1 - second[known] / first[known])) if known.any() else 0.0


def _two_highest(model: Any, X: ArrayLike) -> NDArray[np.float64]:
    """Return each row's two highest similarities to clusters; 0 if there is no such cluster."""
    if not hasattr(model, "labels_") or not hasattr(model, "similarity"):
        raise TypeError(
            f"The first argument is of type {type(model).__name__}. Pass a fitted PSKC, and the "
            "rows as second argument. For labels without a model, use "
            "sklearn.metrics.silhouette_score(X, labels)."
        )
    found = model.similarity(X, top_k=2)[0]
    highest = np.zeros((len(found), 2))
    highest[:, : found.shape[1]] = found
    return highest


def _labels(values: ArrayLike, name: str) -> NDArray[Any]:
    labels = np.asarray(values)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} has shape {labels.shape}. Pass a list with a label for each row.")
    return labels
