"""Segment an image: pixels to points, points to clusters, clusters to a segmentation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._estimator import PSKC
from ._segmentation import Segmentation
from .colour_spaces import COLOUR_SPACES, to_space
from .pixels import Colours, Pixels, to_eight_bits
from .segments import Segments


def segment(
    image: ArrayLike,
    psi: int | Literal["auto"] = 16,
    tau: float | Literal["auto"] = 0.1,
    *,
    color_space: Literal["lab", "rgb", "hsv"] = "lab",
    position: float = 0.0,
    **parameters: Any,
) -> Segmentation:
    """Segment an image by the colours of its pixels.

    Pixels of the same colour are one row of their number's weight, so the time that clustering
    takes and its memory depend on the number of different colours.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 1 to 4)
        Grey, grey and alpha, RGB or RGB and alpha; of uint8, uint16, bool, or floats from 0 to 1,
        which are taken in steps of 1/65535. Fully transparent pixels are left out.
    psi, tau : see PSKC
        By default what the paper uses for images, 16 and 0.1. If colours are joined that should be
        split, increase psi; if they are split that should be joined, decrease tau.
    color_space : {"lab", "rgb", "hsv"}, default="lab"
        In CIELAB, the paper's choice, distances are differences that people see. "hsv" takes the
        hue as a point on a circle.
    position : float, default=0.0
        Above 0, where a pixel is counts, too: two corners of the longer side are as far apart as
        `position` times the widest colour. Pixels of the same colour are separate rows then.
    **parameters
        Other parameters of :class:`pskclust.PSKC`, such as random_state or min_cluster_size.

    Returns
    -------
    segmentation : Segmentation

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.image import segment
    >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
    >>> flag[:, :15] = 200, 30, 30
    >>> segment(flag, psi=8, tau=0.5, random_state=0).n_clusters
    2
    """
    _check_options(color_space, position)
    pixels = Pixels.of(image)
    model = PSKC(psi=psi, tau=tau, **parameters)
    colours = Colours(pixels, model.n_jobs)
    points = to_space(colours.rgb, color_space)
    if position:
        segments, labels = _segment_pixels(model, pixels, colours, points, position)
    else:
        segments, labels = _segment_colours(model, colours, points)
    return Segmentation(pixels.shown(), labels, segments.colours, segments.sizes, model)


def _check_options(color_space: str, position: float) -> None:
    if color_space not in COLOUR_SPACES:
        raise ValueError(f"color_space={color_space!r} must be one of {COLOUR_SPACES}.")
    if not 0 <= position < np.inf:
        raise ValueError(f"position={position} must be 0 or more, and finite.")


def _segment_colours(
    model: PSKC, colours: Colours, points: NDArray[np.float64]
) -> tuple[Segments, NDArray[np.int32]]:
    """Fit a row for each colour; return the segments and the label of each pixel."""
    model.fit(points, sample_weight=colours.counts)
    segments = Segments.of(model, to_eight_bits(colours.rgb), colours.counts)
    return segments, colours.spread(segments.labels)


def _segment_pixels(
    model: PSKC, pixels: Pixels, colours: Colours, points: NDArray[np.float64], position: float
) -> tuple[Segments, NDArray[np.int32]]:
    """Fit a row for each opaque pixel; return the segments and the label of each pixel."""
    opaque = np.ones(pixels.shape, dtype=bool) if pixels.opaque is None else pixels.opaque
    numbers = colours.spread(np.arange(len(points), dtype=np.int32))[opaque]
    model.fit(_with_position(points[numbers], opaque, position))
    segments = Segments.of(model, to_eight_bits(colours.rgb)[numbers])
    labels = np.full(pixels.shape, -1, dtype=np.int32)
    labels[opaque] = segments.labels
    return segments, labels


def _with_position(
    points: NDArray[np.float64], opaque: NDArray[np.bool_], position: float
) -> NDArray[np.float64]:
    longer = max(1, max(opaque.shape) - 1)
    widest = float((points.max(axis=0) - points.min(axis=0)).max()) or 1.0
    rows = np.empty((len(points), 5))
    rows[:, :3] = points
    rows[:, 3:] = position * widest / longer * np.argwhere(opaque)
    return rows
