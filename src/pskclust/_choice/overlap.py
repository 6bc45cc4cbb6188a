"""How much clusters touch, at the finest scale.

Kernels with large cells may all cut a thin shape at the same place, through the middle of it. With
small cells it shows: there, rows beside the cut have most of their company on the other side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .consensus import Labels
from .sample import Parts

# Where clusters touch, one row in so many is at the border; of small clusters, so many rows.
_ROWS_PER_BORDER_ROW = 20
_MIN_BORDER_ROWS = 3


class Company:
    """In how many cells of some kernels rows meet others.

    Of few rows all pairs are counted once for all clusterings, of many the members of each cluster.
    """

    def __init__(self, parts: list[Parts], pairs: bool) -> None:
        self._parts = parts
        self._met: NDArray[np.float64] | None = None
        if pairs:
            features = sparse.hstack([each.features for each in parts], format="csr")
            # Matrix products are fast for float64, and numbers of cells are exact in it.
            self._met = (features @ features.T).toarray().astype(np.float64)
            np.fill_diagonal(self._met, 0)

    def with_members(self, labels: Labels, n_clusters: int) -> NDArray[np.float64]:
        """Return in how many cells each row meets members of each cluster, (n, k)."""
        if self._met is not None:
            answer: NDArray[np.float64] = self._met @ np.equal.outer(labels, np.arange(n_clusters))
            return answer
        from .._kernels import growth as sweep  # compiled code is loaded only where it is used

        met = np.zeros((len(labels), n_clusters))
        for each in self._parts:
            sweep.add_company(each.cells, each.partition.psi, labels, met)
        return met


def contact(met: NDArray[np.float64], labels: Labels) -> float:
    """Return how much the cluster that touches another one most does so, from 0 to 1.

    For a row it is the share that another cluster has in the company that this one and the row's
    own cluster give it; for a cluster the mean of its rows with the largest shares.
    """
    members = np.equal.outer(labels, np.arange(met.shape[1]))
    own = np.where(members, met, 0).sum(axis=1)
    other = np.where(members, 0, met).max(axis=1)
    shares = np.divide(other, own + other, out=np.zeros(len(own)), where=other > 0)
    return max((_at_the_border(shares[rows]) for rows in members.T if rows.any()), default=0.0)


def _at_the_border(shares: NDArray[np.float64]) -> float:
    n_rows = min(len(shares), max(_MIN_BORDER_ROWS, len(shares) // _ROWS_PER_BORDER_ROW))
    return float(np.sort(shares)[-n_rows:].mean())
