"""Generators of randomly deformed digits."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline
from sklearn.utils import check_random_state

from .._data.parameters import check_parameters, whole
from .._utils.parallel import map_chunks, one_blas_thread
from ._loaders import load_mnist

_SIDE = 28
_PIXELS = _SIDE**2
# Each block of this many rows has its own random generator, so that rows depend neither on the
# number of threads nor on chunks. A block fits into the processor's cache.
_BLOCK_ROWS = 128

# Shifts are in pixels, angles in radians. The displacement field has random values at the nodes of
# a grid.
_MAX_SHIFT, _MAX_ANGLE = 1.5, 0.2
_NODES, _NODE_DEVIATION = 5, 1.0

Digits = tuple[NDArray[np.uint8], NDArray[Any]]


def make_mnist8m_like(
    n_samples: int,
    *,
    random_state: int | RandomState | None = None,
    folder: str | os.PathLike[str] | None = None,
    chunk_size: int = 10_000,
    source: tuple[ArrayLike, ArrayLike] | None = None,
) -> Digits:
    """Generate handwritten digits by shifting, rotating and deforming those of MNIST at random.

    The result is a substitute for MNIST8M, whose 8.1 million rows were generated from MNIST in a
    similar way.
    `chunk_size` does not change the rows, and a larger `n_samples` only adds rows at the end.

    Parameters
    ----------
    n_samples : int
        Number of rows, 1 or more. A row takes 784 bytes.
    random_state : int, RandomState instance or None, default=None
        Source of the random deformations. Pass an int for the same rows every time.
    folder : str, path-like or None, default=None
        The data folder that holds MNIST; see :func:`load_mnist`.
    chunk_size : int, default=10_000
        Number of rows to generate at a time, 1 or more. Reduce it if memory is short.
    source : tuple (X, y) or None, default=None
        Digits to deform instead of those of MNIST: X is uint8 of shape (n, 784) or (n, 28, 28), y
        holds n labels.

    Returns
    -------
    X : ndarray of uint8, shape (n_samples, 784)
        Pixels of each digit, row by row.
    y : ndarray of shape (n_samples,)
        Label of the digit from which each row was generated.

    See Also
    --------
    iter_mnist8m_like : Generate the same rows chunk by chunk.
    load_mnist : Read the original digits.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.datasets import make_mnist8m_like
    >>> strokes = np.zeros((2, 28, 28), dtype=np.uint8)
    >>> strokes[0, 4:24, 13:15] = strokes[1, 13:15, 4:24] = 255
    >>> X, y = make_mnist8m_like(1000, random_state=0, source=(strokes, ["upright", "flat"]))
    >>> X.shape
    (1000, 784)
    >>> sorted(set(y.tolist()))
    ['flat', 'upright']
    """
    chunks = iter_mnist8m_like(
        n_samples,
        random_state=random_state,
        folder=folder,
        chunk_size=chunk_size,
        source=source,
    )
    X = np.empty((n_samples, _PIXELS), dtype=np.uint8)
    labels = []
    start = 0
    for digits, some_labels in chunks:
        X[start : start + len(digits)] = digits
        start += len(digits)
        labels.append(some_labels)
    return X, np.concatenate(labels)


def iter_mnist8m_like(
    n_samples: int,
    *,
    random_state: int | RandomState | None = None,
    folder: str | os.PathLike[str] | None = None,
    chunk_size: int = 10_000,
    source: tuple[ArrayLike, ArrayLike] | None = None,
) -> Iterator[Digits]:
    """Return an iterator over chunks of the rows of :func:`make_mnist8m_like`.

    Parameters
    ----------
    n_samples : int
        Number of rows, 1 or more.
    random_state : int, RandomState instance or None, default=None
        Source of the random deformations. Pass an int for the same rows every time.
    folder : str, path-like or None, default=None
        The data folder that holds MNIST; see :func:`load_mnist`.
    chunk_size : int, default=10_000
        Number of rows of each chunk, 1 or more; the last chunk may have fewer.
    source : tuple (X, y) or None, default=None
        Digits to deform instead of those of MNIST: X is uint8 of shape (n, 784) or (n, 28, 28), y
        holds n labels.

    Returns
    -------
    chunks : iterator of tuples (X, y)
        Each chunk of m rows: their pixels, uint8 of shape (m, 784), and labels, of shape (m,).

    See Also
    --------
    make_mnist8m_like : Generate all rows at once.
    pskclust.RowBlocks : Cluster rows that are read or generated block by block.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.datasets import iter_mnist8m_like
    >>> strokes = np.zeros((2, 28, 28), dtype=np.uint8)
    >>> strokes[0, 4:24, 13:15] = strokes[1, 13:15, 4:24] = 255
    >>> chunks = iter_mnist8m_like(500, random_state=0, chunk_size=200, source=(strokes, [0, 1]))
    >>> [X.shape for X, y in chunks]
    [(200, 784), (200, 784), (100, 784)]
    """
    sizes = {"n_samples": n_samples, "chunk_size": chunk_size}
    check_parameters(sizes, {name: (whole(1),) for name in sizes})
    originals = load_mnist(folder) if source is None else _checked_source(*source)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return _chunks(n_samples, chunk_size, originals, seed)


def _checked_source(X: ArrayLike, y: ArrayLike) -> Digits:
    pictures, labels = np.asarray(X), np.asarray(y)
    right_shape = pictures.shape[1:] in ((_PIXELS,), (_SIDE, _SIDE))
    if pictures.dtype != np.uint8 or not right_shape or not len(pictures):
        raise ValueError(
            f"X of source is {pictures.dtype} of shape {pictures.shape}. Pass uint8 of shape "
            f"(n, {_PIXELS}) or (n, {_SIDE}, {_SIDE})."
        )
    if labels.shape != pictures.shape[:1]:
        raise ValueError(
            f"y of source has shape {labels.shape}. Pass a label for each of the "
            f"{len(pictures)} digits."
        )
    return pictures, labels


def _chunks(n_samples: int, chunk_size: int, originals: Digits, seed: int) -> Iterator[Digits]:
    X, y = np.empty((0, _PIXELS), dtype=np.uint8), originals[1][:0]
    n_blocks_made = 0
    for start in range(0, n_samples, chunk_size):
        n_rows = min(chunk_size, n_samples - start)
        end = n_blocks_made - (len(X) - n_rows) // _BLOCK_ROWS
        blocks = _blocks(range(n_blocks_made, end), originals, seed)
        X, y = (np.concatenate(parts) for parts in zip((X, y), *blocks, strict=True))
        yield X[:n_rows], y[:n_rows]
        X, y = X[n_rows:], y[n_rows:]
        n_blocks_made = end


def _blocks(numbers: range, originals: Digits, seed: int) -> list[Digits]:
    pictures, labels = originals

    def make_block(chunk: slice) -> Digits:
        rng = np.random.default_rng((seed, numbers[chunk.start]))
        chosen = rng.integers(len(pictures), size=_BLOCK_ROWS)
        return _deformed(pictures[chosen], rng), labels[chosen]

    with one_blas_thread:
        return list(map_chunks(make_block, len(numbers), 1, None))


def _deformed(pictures: NDArray[np.uint8], rng: Generator) -> NDArray[np.uint8]:
    """Return the pictures, each deformed at random."""
    # Deformations are linear in their parameters, so one matrix product finds the places to sample.
    places = _random_parameters(len(pictures), rng) @ _deformations()
    # Places outside the frame of zeros would be 0 as well, so they are moved onto the frame.
    np.clip(places, 0, np.float32(_SIDE + 0.999), out=places)
    return _sampled(pictures, places)


def _random_parameters(n_pictures: int, rng: Generator) -> NDArray[np.float32]:
    """Return random coefficients of the deformations, (2, n, n_deformations)."""
    nodes = rng.standard_normal((2, n_pictures, _NODES**2), dtype=np.float32) * _NODE_DEVIATION
    angle = rng.uniform(-_MAX_ANGLE, _MAX_ANGLE, n_pictures)
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = np.stack([np.column_stack([cosine, -sine]), np.column_stack([sine, cosine])])
    # Positions count from the corner of a border of zeros, one pixel wide.
    centre = (_SIDE + 1) / 2 + rng.uniform(-_MAX_SHIFT, _MAX_SHIFT, (2, n_pictures, 1))
    return np.concatenate([nodes, turn, centre], axis=2, dtype=np.float32)


@functools.cache
def _deformations() -> NDArray[np.float32]:
    """Return the effect of each parameter on the places of all pixels, (n_deformations, 784).

    The effects are a smooth bump for each node of the grid, the row and the column of a pixel
    relative to the centre, and a constant.
    """
    pixels = np.arange(_SIDE)
    bumps = CubicSpline(np.linspace(0, _SIDE - 1, _NODES), np.eye(_NODES))(pixels).T
    from_centre = pixels - (_SIDE - 1) / 2
    row, column = np.meshgrid(from_centre, from_centre, indexing="ij")
    flat = [np.kron(bumps, bumps), row.reshape(1, -1), column.reshape(1, -1), np.ones((1, _PIXELS))]
    return np.vstack(flat).astype(np.float32)


def _sampled(pictures: NDArray[np.uint8], places: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the pictures, padded with zeros, sampled bilinearly at `places` (2, n, 784)."""
    n_pictures = len(pictures)
    corner = places.astype(np.int32)
    down, right = places - corner
    width = _SIDE + 1
    flat = corner[0] * width + corner[1] + width**2 * np.arange(n_pictures)[:, np.newaxis]
    # The four pixels around a place are packed into one number, so one look-up finds them all.
    found = _neighbours(pictures).take(flat, mode="clip").view(np.uint8).reshape(*flat.shape, 4)
    top, top_right, bottom, bottom_right = np.moveaxis(found, -1, 0).astype(np.float32)
    top += right * (top_right - top)
    bottom += right * (bottom_right - bottom)
    samples: NDArray[np.float32] = top + down * (bottom - top)
    return (samples + np.float32(0.5)).astype(np.uint8)


def _neighbours(pictures: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return each 2 x 2 square of the padded pictures as one number, in a flat array."""
    framed = np.zeros((len(pictures), _SIDE + 2, _SIDE + 2), dtype=np.uint8)
    framed[:, 1:-1, 1:-1] = pictures.reshape(-1, _SIDE, _SIDE)
    corners = framed[:, :-1, :-1], framed[:, :-1, 1:], framed[:, 1:, :-1], framed[:, 1:, 1:]
    return np.stack(corners, axis=-1).view(np.uint32).ravel()
