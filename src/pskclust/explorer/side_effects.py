"""Side effects of a setting: clusters that it joins or splits besides those that were meant."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

# Clusters are joined if at least MOST of each is in the same new cluster; a cluster is split if at
# least SECOND of it is in a second new cluster.
MOST = 0.5
SECOND = 0.15
_MAX_NAMED = 3


def besides(before: NDArray[np.int64], after: NDArray[np.int64], meant: Collection[int]) -> str:
    """Return sentences about unintended joins and splits, each preceded by a space.

    Parameters
    ----------
    before, after : ndarray of int64, shape (n_rows,)
        Labels at the current setting, which name the clusters, and at the other setting; noise is
        negative.
    meant : collection of int
        The clusters to be joined, or the one to be split.
    """
    shares = _shares(before, after)
    joined = _joined(shares)
    with_meant = [group for group in joined if len(meant) > 1 and set(meant) <= set(group)]
    sentences = []
    for group in with_meant:
        more = [one for one in group if one not in meant]
        if more:
            sentences.append(f"{_names(more)} {'joins' if len(more) == 1 else 'join'} them.")
    others = [group for group in joined if group not in with_meant]
    if len(others) > _MAX_NAMED:
        sentences.append(f"{len(others)} other groups of clusters are joined as well.")
    else:
        sentences += [f"{_names(group)} become one as well." for group in others]
    second = np.sort(shares, axis=1)[:, -2] if shares.shape[1] > 1 else np.zeros(len(shares))
    split = [int(one) for one in np.flatnonzero(second >= SECOND) if one not in meant]
    if split:
        sentences.append(f"{_names(split)} {'is' if len(split) == 1 else 'are'} split as well.")
    return "".join(f" {sentence}" for sentence in sentences)


def _shares(before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the fraction of each old cluster that is in each new cluster."""
    n_before, n_after = int(before.max(initial=-1)) + 1, int(after.max(initial=-1)) + 1
    inside = (before >= 0) & (after >= 0)
    pairs = before[inside] * n_after + after[inside]
    counts = np.bincount(pairs, minlength=n_before * n_after).reshape(n_before, n_after)
    sizes = np.bincount(before[before >= 0], minlength=n_before)
    return np.asarray(counts / np.maximum(sizes, 1)[:, np.newaxis])


def _joined(shares: NDArray[np.float64]) -> list[list[int]]:
    """Return the groups of clusters that become one."""
    if not shares.size:
        return []
    where = np.where(shares.max(axis=1) >= MOST, shares.argmax(axis=1), -1)
    groups = [np.flatnonzero(where == one).tolist() for one in range(shares.shape[1])]
    return sorted(group for group in groups if len(group) > 1)


def _names(clusters: Sequence[int]) -> str:
    """Return the names of clusters as words at the start of a sentence."""
    if len(clusters) == 1:
        return f"Cluster {clusters[0]}"
    if len(clusters) > 2 * _MAX_NAMED:
        return f"{len(clusters)} other clusters"
    *first, last = (str(cluster) for cluster in clusters)
    return f"Clusters {', '.join(first)} and {last}"
