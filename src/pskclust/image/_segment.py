"""Pixels to points, points to clusters, clusters to a segmentation."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._estimator import PSKC
from .._utils.optional import optional
from ._pixels import Colours, Pixels, to_eight_bits
from ._segmentation import Segmentation

COLOUR_SPACES = ("lab", "rgb", "hsv")


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
        `position` times the widest colour. Every pixel is a row of its own then.
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
    if color_space not in COLOUR_SPACES:
        raise ValueError(f"color_space={color_space!r} must be one of {COLOUR_SPACES}.")
    if not 0 <= position < np.inf:
        raise ValueError(f"position={position} must be 0 or more, and finite.")
    pixels = Pixels.of(image)
    model = PSKC(psi=psi, tau=tau, **parameters)
    colours = Colours(pixels, model.n_jobs)
    points = to_space(colours.rgb, color_space)
    eight_bits = to_eight_bits(colours.rgb)
    if position:
        opaque = np.ones(pixels.shape, dtype=bool) if pixels.opaque is None else pixels.opaque
        numbers = colours.spread(np.arange(len(points), dtype=np.int32))[opaque]
        model.fit(_with_position(points[numbers], opaque, position))
        members = Members.of(model, eight_bits[numbers])
        labels = np.full(pixels.shape, -1, dtype=np.int32)
        labels[opaque] = members.labels
    else:
        model.fit(points, sample_weight=colours.counts)
        members = Members.of(model, eight_bits, colours.counts)
        labels = colours.spread(members.labels)
    return Segmentation(pixels.shown(), labels, members.colours, members.sizes, model)


def to_space(colours: NDArray[Any], space: str) -> NDArray[np.float64]:
    """Return colours, (m, 3), as points in a space in which distances are differences."""
    color = optional("skimage.color", "pskclust.image", "image")
    shares: NDArray[np.float64] = colours / np.iinfo(colours.dtype).max
    if space == "rgb":
        return 100 * shares
    if space == "lab":
        lab: NDArray[np.float64] = color.rgb2lab(shares[np.newaxis])[0]
        return lab
    hue, saturation, value = color.rgb2hsv(shares[np.newaxis])[0].T
    angle = 2 * np.pi * hue
    circle = saturation * np.cos(angle), saturation * np.sin(angle)
    hsv: NDArray[np.float64] = 100 * np.column_stack([*circle, value])
    return hsv


def _with_position(
    points: NDArray[np.float64], opaque: NDArray[np.bool_], position: float
) -> NDArray[np.float64]:
    longer = max(1, max(opaque.shape) - 1)
    widest = float((points.max(axis=0) - points.min(axis=0)).max()) or 1.0
    rows = np.empty((len(points), 5))
    rows[:, :3] = points
    rows[:, 3:] = position * widest / longer * np.argwhere(opaque)
    return rows


class Members(NamedTuple):
    """The rows of a fit in clusters, the largest cluster first."""

    labels: NDArray[np.int32]  # (n,)
    colours: NDArray[np.uint8]  # (k, 3) the mean of each cluster
    sizes: NDArray[np.int64]  # (k,) in pixels

    @classmethod
    def of(
        cls, model: PSKC, colours: NDArray[np.uint8], counts: NDArray[np.int64] | None = None
    ) -> Members:
        """Order the clusters of a fit to rows of these colours, of which there are `counts`."""
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
        # The last place is for noise, label -1.
        rank = np.full(n_clusters + 1, -1, dtype=np.int32)
        rank[by_size] = np.arange(n_clusters)
        return cls(
            rank[found], np.rint(means[by_size]).astype(np.uint8), sizes[by_size].astype(np.int64)
        )
