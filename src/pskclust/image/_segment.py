"""Segmentation of an image: from pixels to rows, clusters and segments."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._estimator import PSKC
from .._utils.exceptions import ColumnsWarning
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

    Pixels of the same colour become one row, weighted by their number. The time and memory of the
    clustering therefore depend on the number of different colours, not of pixels.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 1 to 4)
        Grey, grey and alpha, RGB, or RGB and alpha; of uint8, uint16, bool, or floats from 0 to 1,
        which are rounded to 16 bits. Fully transparent pixels are left out.
    psi : int or "auto", default=16
        Number of cells of each partitioning, 2 or more; the default is the paper's value. Increase
        it if different colours share a segment.
    tau : float or "auto", default=0.1
        Similarity at which growth stops, between 0 and 1; the default is the paper's value.
        Decrease it if a colour is split into several segments. "auto" chooses the segments
        without growth.
    color_space : {"lab", "rgb", "hsv"}, default="lab"
        Space in which colours are compared. Distances in CIELAB, the space of the paper, are close
        to the differences that people see. "hsv" treats the hue as an angle.
    position : float, default=0.0
        Weight of the position of pixels, 0 or more. Increase it to separate segments of the same
        colour in different places. At 1, the longer side of the image counts as much as the largest
        difference between colours in one coordinate. Above 0, each pixel becomes a row, so large
        images take more time and memory.
    **parameters
        Other parameters of :class:`pskclust.PSKC`, such as random_state or min_cluster_size.

    Returns
    -------
    segmentation : Segmentation
        The label of each pixel, and the size and mean colour of each segment.

    Raises
    ------
    TypeError
        If `image` is a path.
    ValueError
        If `image` has another shape, type or range of values, fewer than two pixels that are not
        transparent, or only one colour, or if another parameter is not valid.

    See Also
    --------
    read_image : Read the pixels of an image file.
    Segmentation : Segments as arrays, pictures and files.
    pskclust.PSKC : Cluster any rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.image import segment
    >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
    >>> flag[:, :10] = 200, 30, 30
    >>> segmentation = segment(flag, psi=8, tau=0.5, random_state=0)
    >>> segmentation.sizes.tolist()
    [400, 200]
    >>> segmentation.colors.tolist()
    [[0, 0, 0], [200, 30, 30]]
    """
    _check_options(color_space, position)
    pixels = Pixels.of(image)
    model = PSKC(psi=psi, tau=tau, **parameters)
    colours = Colours(pixels, model.n_jobs)
    points = to_space(colours.rgb, color_space)
    if len(points) < 2 and not position:
        raise ValueError("the image has only one colour, so there is nothing to segment.")
    with warnings.catch_warnings():
        # The lightness of a grey image outweighs its other columns, and rightly so.
        warnings.simplefilter("ignore", ColumnsWarning)
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
    """Cluster the colours, one row each; return the segments and the label of each pixel."""
    model.fit(points, sample_weight=colours.counts)
    segments = Segments.of(model, to_eight_bits(colours.rgb), colours.counts)
    return segments, colours.spread(segments.labels)


def _segment_pixels(
    model: PSKC, pixels: Pixels, colours: Colours, points: NDArray[np.float64], position: float
) -> tuple[Segments, NDArray[np.int32]]:
    """Cluster the opaque pixels, one row each; return the segments and the label of each pixel."""
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
