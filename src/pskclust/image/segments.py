"""Segments of an image: clusters of colours, ordered by size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._estimator import PSKC


class Segments(NamedTuple):
    """Labels, mean colours and sizes of the clusters of a fit, the largest cluster first."""

    labels: NDArray[np.int32]  # (n,)
    colours: NDArray[np.uint8]  # (k, 3) the mean colour of each cluster
    sizes: NDArray[np.int64]  # (k,) in pixels

    @classmethod
    def of(
        cls, model: PSKC, colours: NDArray[np.uint8], counts: NDArray[np.int64] | None = None
    ) -> Segments:
        """Return the segments of a model fitted to `colours`.

        `counts` holds the number of pixels of each colour; None counts each colour once.
        """
        found, n_clusters = model.labels_, model.n_clusters_
        member = found >= 0
        weights = np.ones(len(found)) if counts is None else counts.astype(np.float64)

        def totals(values: NDArray[np.float64]) -> NDArray[np.float64]:
            sums = np.bincount(found[member], weights=values[member], minlength=n_clusters)
            return sums.astype(np.float64)

        sizes = totals(weights)
        means = np.stack([totals(weights * channel) for channel in colours.T], axis=1)
        means /= np.maximum(1, sizes)[:, np.newaxis]
        by_size = np.argsort(-sizes, kind="stable")
        # The last entry is for the label -1, which stays -1.
        rank = np.full(n_clusters + 1, -1, dtype=np.int32)
        rank[by_size] = np.arange(n_clusters)
        return cls(
            rank[found], np.rint(means[by_size]).astype(np.uint8), sizes[by_size].astype(np.int64)
        )
