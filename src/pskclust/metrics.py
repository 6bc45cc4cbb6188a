"""Scores of a clustering against known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

__all__ = ["matched_f1"]

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
    sizes = contingency_matrix(classes, clusters)
    shared = sizes[:, np.unique(clusters) != _NOISE]
    f1 = 2 * shared / (sizes.sum(axis=1, keepdims=True) + shared.sum(axis=0))
    matched = linear_sum_assignment(f1, maximize=True)
    return float(f1[matched].sum() / len(f1))


def _labels(values: ArrayLike, name: str) -> NDArray[Any]:
    labels = np.asarray(values)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(
            f"{name} has shape {labels.shape}. Pass one label for each of one row or more."
        )
    return labels
