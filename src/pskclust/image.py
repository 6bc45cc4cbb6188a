"""Image segmentation by colour, as in the paper: pixels are points in a colour space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._estimator import PSKC

COLOUR_SPACES = ("lab", "rgb", "hsv")
_WHITE = 255
_SHEET_WIDTH, _SHEET_GAP = 1600, 12


@dataclass(frozen=True, eq=False)
class Segmentation:
    """An image and its clusters.

    Attributes
    ----------
    image : ndarray of uint8, shape (height, width, 3)
        What was segmented, in eight bits.
    labels : ndarray of int64, shape (height, width)
        The cluster of each pixel, the largest cluster first; -1 for noise and for transparent
        pixels.
    colors : ndarray of uint8, shape (n_clusters, 3)
        The mean colour of each cluster.
    sizes : ndarray of int64, shape (n_clusters,)
        Number of pixels of each cluster.
    model : PSKC
        Fitted to the different colours; its clusters are in the order in which they were found.
    """

    image: NDArray[np.uint8]
    labels: NDArray[np.int64]
    colors: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    model: PSKC

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.colors)

    def cutout(self, cluster: int) -> NDArray[np.uint8]:
        """Return the pixels of one cluster, all others white.

        Parameters
        ----------
        cluster : int

        Returns
        -------
        image : ndarray of uint8, shape (height, width, 3)
        """
        if not 0 <= cluster < self.n_clusters:
            raise ValueError(
                f"cluster={cluster} is not there. The image has clusters 0 to "
                f"{self.n_clusters - 1}."
            )
        member = (self.labels == cluster)[..., np.newaxis]
        return np.where(member, self.image, np.uint8(_WHITE))

    def mean_color_image(self) -> NDArray[np.uint8]:
        """Return the image with each pixel in the mean colour of its cluster, others white."""
        white = np.full((1, 3), _WHITE, dtype=np.uint8)
        painted: NDArray[np.uint8] = np.concatenate([self.colors, white])[self.labels]
        return painted

    def contact_sheet(self, max_clusters: int = 11) -> NDArray[np.uint8]:
        """Return one picture of the image and its largest clusters, each on white.

        Parameters
        ----------
        max_clusters : int, default=11

        Returns
        -------
        sheet : ndarray of uint8, shape (height, width, 3)
        """
        height, width = self.labels.shape
        pictures = [self.image]
        pictures += [self.cutout(cluster) for cluster in range(min(max_clusters, self.n_clusters))]
        columns = min(len(pictures), 2 if width > 2 * height else 3)
        step = max(1, -(-columns * width // _SHEET_WIDTH))
        small = [_shrunk(picture, step) for picture in pictures]
        rows = -(-len(small) // columns)
        tile_height, tile_width = small[0].shape[:2]
        sheet = np.full(
            (
                rows * (tile_height + _SHEET_GAP) + _SHEET_GAP,
                columns * (tile_width + _SHEET_GAP) + _SHEET_GAP,
                3,
            ),
            _WHITE,
            dtype=np.uint8,
        )
        for number, tile in enumerate(small):
            top = _SHEET_GAP + number // columns * (tile_height + _SHEET_GAP)
            left = _SHEET_GAP + number % columns * (tile_width + _SHEET_GAP)
            sheet[top : top + tile_height, left : left + tile_width] = tile
        return sheet


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

    Pixels of the same colour are one row of their number's weight, so time and memory depend on
    the number of different colours.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 1 to 4)
        Grey, grey and alpha, RGB or RGB and alpha; of uint8, uint16, bool, or floats from 0 to 1.
        Fully transparent pixels are left out.
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
    pixels = _Pixels.of(image)
    model = PSKC(psi, tau, **parameters)
    if position:
        rows = _with_position(_to_space(pixels.colours, color_space), pixels, position)
        found = model.fit(rows).labels_
    else:
        colours, numbers, counts = _different(pixels.colours)
        rows = _to_space(colours, color_space)
        found = model.fit(rows, sample_weight=counts).labels_[numbers]
    return _segmentation(pixels, found, model)


@dataclass(frozen=True, eq=False)
class _Pixels:
    """The pixels that take part, as RGB, and the image in eight bits."""

    image: NDArray[np.uint8]  # (h, w, 3)
    opaque: NDArray[np.bool_]  # (h, w)
    colours: NDArray[Any]  # (n, 3) of the opaque ones: uint8, uint16 or floats from 0 to 1

    @classmethod
    def of(cls, image: ArrayLike) -> _Pixels:
        array = np.asarray(image)
        if array.ndim == 2:
            array = array[..., np.newaxis]
        if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or not array.size:
            raise ValueError(
                f"image has shape {array.shape}, and must be (height, width) or (height, width, "
                "1 to 4): grey, grey and alpha, RGB, or RGB and alpha."
            )
        array = _checked_values(array)
        n_channels = array.shape[2]
        has_alpha = n_channels in (2, 4)
        opaque = array[..., -1] > 0 if has_alpha else np.ones(array.shape[:2], dtype=bool)
        colour = array[..., :-1] if has_alpha else array
        colour = np.broadcast_to(colour, (*array.shape[:2], 3))
        if opaque.sum() < 2:
            raise ValueError("image has fewer than two pixels that are not transparent.")
        shown = _to_eight_bits(colour)
        shown[~opaque] = _WHITE
        return cls(shown, opaque, colour[opaque])


def _checked_values(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(_WHITE)
    if array.dtype in (np.uint8, np.uint16):
        return array
    if array.dtype.kind != "f":
        raise ValueError(
            f"image is of type {array.dtype}, and must be uint8, uint16, bool, or floats from 0 "
            "to 1."
        )
    if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
        raise ValueError(
            "image holds floats outside 0 to 1, or missing values. Divide by the largest value, "
            "or convert it to uint8."
        )
    return array


def _to_eight_bits(colour: NDArray[Any]) -> NDArray[np.uint8]:
    if colour.dtype == np.uint8:
        return np.array(colour)
    if colour.dtype == np.uint16:
        return np.asarray(colour // 257, dtype=np.uint8)
    return np.asarray(np.rint(colour * _WHITE), dtype=np.uint8)


def _different(
    colours: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.int64]]:
    """Return the different colours, which one each pixel has, and how many have it."""
    if colours.dtype == np.uint8:
        # Few enough to be counted without sorting.
        packed = colours.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
        counts = np.bincount(packed, minlength=1 << 24)
        present = np.flatnonzero(counts)
        numbers = np.cumsum(counts > 0) - 1
        different = np.stack([present >> 16, present >> 8 & 255, present & 255], axis=1)
        return different.astype(np.uint8), numbers[packed], counts[present]
    different, numbers, counts = np.unique(colours, axis=0, return_inverse=True, return_counts=True)
    return different, numbers.ravel(), counts


def _to_space(colours: NDArray[Any], space: str) -> NDArray[np.float64]:
    """Return colours as points in a space in which distances are differences."""
    try:
        from skimage import color
    except ImportError as error:
        raise ImportError(
            "pskclust.image needs scikit-image. Install it with: pip install 'pskclust[image]'"
        ) from error
    largest = np.iinfo(colours.dtype).max if colours.dtype.kind == "u" else 1
    shares = colours / largest
    if space == "rgb":
        return 100 * shares
    if space == "lab":
        lab: NDArray[np.float64] = color.rgb2lab(shares[np.newaxis])[0]
        return lab
    hue, saturation, value = color.rgb2hsv(shares[np.newaxis])[0].T
    angle = 2 * np.pi * hue
    return 100 * np.column_stack([saturation * np.cos(angle), saturation * np.sin(angle), value])


def _with_position(
    points: NDArray[np.float64], pixels: _Pixels, position: float
) -> NDArray[np.float64]:
    places = np.argwhere(pixels.opaque)
    longer = max(1, max(pixels.opaque.shape) - 1)
    widest = float((points.max(axis=0) - points.min(axis=0)).max()) or 1.0
    return np.column_stack([points, position * widest / longer * places])


def _segmentation(pixels: _Pixels, found: NDArray[np.int64], model: PSKC) -> Segmentation:
    """Put clusters in the order of their sizes, and labels in the places of their pixels."""
    sizes = np.bincount(found[found >= 0], minlength=model.n_clusters_)
    by_size = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(by_size) + 1, dtype=np.int64)
    rank[by_size] = np.arange(len(by_size))
    rank[-1] = -1
    labels = np.full(pixels.opaque.shape, -1, dtype=np.int64)
    labels[pixels.opaque] = rank[found]
    colours = _mean_colours(pixels.image[pixels.opaque], labels[pixels.opaque], len(by_size))
    return Segmentation(pixels.image, labels, colours, sizes[by_size], model)


def _mean_colours(
    colours: NDArray[np.uint8], labels: NDArray[np.int64], n_clusters: int
) -> NDArray[np.uint8]:
    members = labels >= 0
    sizes = np.maximum(1, np.bincount(labels[members], minlength=n_clusters))
    means = [
        np.bincount(labels[members], weights=channel[members], minlength=n_clusters) / sizes
        for channel in colours.T
    ]
    return np.rint(np.stack(means, axis=1)).astype(np.uint8)


def _shrunk(picture: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Return the means of squares of pixels."""
    if step == 1:
        return picture
    height, width = (side // step * step for side in picture.shape[:2])
    squares = picture[:height, :width].reshape(height // step, step, width // step, step, 3)
    return np.asarray(np.rint(squares.mean(axis=(1, 3))), dtype=np.uint8)
