"""Labels of pixels as an image with a palette."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._utils.palette import cluster_colours

NOISE, LAST_CLUSTER = 255, 254


def label_map(
    labels: NDArray[np.int32], n_clusters: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the palette index of each pixel, (h, w), and the palette, (256, 3)."""
    # The cast to uint8 turns the label of noise, -1, into 255.
    numbers = np.minimum(labels, LAST_CLUSTER).astype(np.uint8)
    colours = cluster_colours(min(n_clusters, LAST_CLUSTER + 1))
    palette = np.zeros((NOISE + 1, 3), dtype=np.uint8)
    palette[: len(colours) - 1] = np.rint(255 * colours[:-1])
    palette[NOISE] = np.rint(255 * colours[-1])
    return numbers, palette
