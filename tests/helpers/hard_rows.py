"""Rows that are hard to tell apart, or easy to get wrong in float32."""

from __future__ import annotations

import numpy as np

KINDS = (
    "floats",
    "ties",
    "near ties",
    "midpoints",
    "lattice",
    "constant",
    "copies",
    "clusters",
    "far away",
    "one far",
)
SCALES = (1.0, 1.0, 1.0, 1e-140, 1e-20, 1e-12, 1e-6, 1e12, 1e30, 1e140)


def hard_rows(kind, n_rows, n_columns, rng):
    """Return rows of a kind."""
    shape = n_rows, n_columns
    if kind == "ties":
        return rng.randint(0, 3, shape).astype(float)
    if kind == "near ties":
        return np.nextafter(rng.randint(0, 3, shape).astype(float), rng.choice([-9, 9], shape))
    if kind == "lattice":
        # A row moves along few columns, so that many pairs are equally far apart.
        X = np.zeros(shape)
        X[np.arange(n_rows), rng.randint(0, n_columns, n_rows)] = rng.randint(-2, 3, n_rows)
        return X
    if kind == "constant":
        return np.full(shape, 3.5)
    X = rng.randn(*shape)
    if kind == "midpoints":
        pairs = rng.randint(0, n_rows, (2, n_rows // 2))
        X[: n_rows // 2] = (X[pairs[0]] + X[pairs[1]]) / 2
    if kind == "copies":
        X = X[rng.randint(0, max(1, n_rows // 5), n_rows)]
    if kind == "clusters":
        X = X + 20 * rng.randint(0, 3, (n_rows, 1))
    if kind == "far away":
        X = 1e9 + X
    if kind == "one far":
        X[0] = 1e12
    return X
