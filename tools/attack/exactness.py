"""Attack: fits made in every way must equal each other and the pseudocode in plain loops."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal

import pskclust
from pskclust import PSKC, RowBlocks
from tests.helpers.cases import METHODS, naive_pskc
from tests.helpers.cases import Case as Fit
from tests.helpers.engines import ENGINES, assert_predicted, assert_result_of, clustered
from tests.helpers.row_blocks import shards_of
from tools.attack.cases import Case

_TAUS = (0.003, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8)
_RATES = (0.03, 0.1, 0.26, 0.5, 0.9)
_MOST_ROWS = 40


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield cases of fits to generated rows."""
    while True:
        seed, draw = rng.randint(1 << 31), drawn if rng.rand() < 0.9 else drawn_without_parameters
        fit = draw(np.random.RandomState(seed))
        yield Case(f"{draw.__name__}, seed {seed}", lambda fit=fit: compare(fit, folder))


def drawn_without_parameters(rng: np.random.RandomState) -> Fit:
    """Return random rows, and parameters without psi and tau, so that clusters are chosen."""
    X = _rows(rng, int(rng.choice([_MOST_ROWS, 300])))
    many = len(np.unique(X, axis=0)) > 2 * _MOST_ROWS
    # Rows of zeros have no direction, and in one column there are only two directions.
    directions = X.shape[1] > 1 and X.any(axis=1).all()
    parameters = {
        "n_partitions": int(rng.choice([20, 200])),
        "n_clusters": 3 if many and rng.rand() < 0.3 else None,
        "metric": "cosine" if directions and rng.rand() < 0.3 else "euclidean",
        "noise": str(rng.choice(["keep", "nearest"])),
        "random_state": int(rng.randint(1 << 16)),
    }
    return Fit(X, None, parameters)


def _min_cluster_sizes(n_slots: int) -> list[int | None]:
    return [None, None, *(min(size, n_slots) for size in (2, 3, 6))]


def drawn(rng: np.random.RandomState) -> Fit:
    """Return random rows and weights, and parameters that are valid for them."""
    X = _rows(rng)
    weights = None
    if rng.rand() < 0.4:
        weights = rng.randint(0, 5, len(X))
        weights[rng.randint(len(X))] += 2
    n_slots = len(X) if weights is None else int(weights.sum())
    replace = bool(rng.randint(2))
    return Fit(
        X,
        weights,
        {
            "psi": int(rng.randint(2, n_slots + (6 if replace else 1))),
            "tau": float(rng.choice(_TAUS)),
            "growth_rate": float(rng.choice(_RATES)),
            "n_partitions": int(rng.randint(1, 9)),
            "method": str(rng.choice(METHODS)),
            "replace": replace,
            "refine": bool(rng.randint(2)),
            "min_cluster_size": _min_cluster_sizes(n_slots)[rng.randint(5)],
            "noise": str(rng.choice(["keep", "nearest"])),
            "n_jobs": int(rng.randint(1, 3)),
            "random_state": int(rng.randint(1 << 16)),
        },
    )


def _rows(rng: np.random.RandomState, most_rows: int = _MOST_ROWS) -> np.ndarray:
    """Return random rows: floats, small integers with many ties, copies, clusters or near ties."""
    n_rows, n_columns = rng.randint(2, most_rows), rng.randint(1, 5)
    kind = rng.randint(5)
    if kind == 0:
        return rng.randint(0, 4, (n_rows, n_columns)).astype(float)
    X = rng.randn(n_rows, n_columns)
    if kind == 1:
        return X[rng.randint(0, rng.randint(1, n_rows + 1), n_rows)]
    if kind == 2:
        X += 6 * rng.randint(0, 3, (n_rows, 1))
    if kind == 3:
        # Near ties: values that differ only in their last bits.
        return np.round(X) * (1 + rng.randint(-1, 2, X.shape) * 2.0**-52)
    return X * 10.0 ** rng.randint(-100, 100) if kind == 4 else X


def compare(fit: Fit, folder: Path) -> int:
    """Compare a fit with the pseudocode, and with the same fit made in every other way."""
    model = PSKC(**fit.parameters).fit(fit.X, sample_weight=fit.weights)
    ways = _compare_with_oracle(model, fit) if "psi" in fit.parameters else 0
    predicted = model.predict(fit.X)
    for way in _WAYS if "psi" in fit.parameters else _WAYS_OF_A_CHOICE:
        other = way(fit, folder)
        for name in ("labels_", "probabilities_", "confidences_", "outlier_scores_"):
            assert_array_equal(getattr(other, name), getattr(model, name), f"{way.__name__} {name}")
        assert_array_equal(other.predict(fit.X), predicted, err_msg=way.__name__)
        ways += 2
    return ways + 1


def _compare_with_oracle(model: PSKC, fit: Fit) -> int:
    """Compare a fit that grows clusters with the pseudocode, and with other engines."""
    if fit.weights is None:
        expected = naive_pskc(model, fit.X)
        assert_array_equal(model.labels_, expected.labels)
    else:
        repeated = PSKC(**fit.parameters).fit(fit.repeated)
        assert_array_equal(np.repeat(model.labels_, fit.weights), repeated.labels_)
        assert model.objective_ == repeated.objective_
    ways = 1
    data, partition = fit.data, fit.partition
    for engine in ENGINES.values():
        assert_result_of(model, clustered(engine(data, partition), fit.parameters))
        ways += 1
    assert_predicted(model, fit.X)
    return ways


Way = Callable[[Fit, Path], PSKC]


def _again(fit: Fit, X, **changes) -> PSKC:
    return PSKC(**{**fit.parameters, **changes}).fit(X, sample_weight=fit.weights)


def threads(fit: Fit, folder: Path) -> PSKC:
    return _again(fit, fit.X, n_jobs=4)


def columns_first(fit: Fit, folder: Path) -> PSKC:
    return _again(fit, np.asfortranarray(fit.X))


def row_blocks(fit: Fit, folder: Path) -> PSKC:
    cuts = sorted(np.random.RandomState(0).randint(0, len(fit.X) + 1, 3))
    blocks = RowBlocks(*fit.X.shape, lambda: np.split(fit.X, cuts))
    with shards_of(7):
        return _again(fit, blocks)


def disk(fit: Fit, folder: Path) -> PSKC:
    return _again(fit, fit.X, scratch_dir=folder)


def checkpoint(fit: Fit, folder: Path) -> PSKC:
    return _again(fit, fit.X, checkpoint=folder / "checkpoint")


def a_file(fit: Fit, folder: Path) -> PSKC:
    np.save(folder / "X.npy", fit.X)
    return _again(fit, folder / "X.npy")


def saved(fit: Fit, folder: Path) -> PSKC:
    _again(fit, fit.X).save(folder / "saved.npz")
    return pskclust.load(folder / "saved.npz")


def pickled(fit: Fit, folder: Path) -> PSKC:
    return pickle.loads(pickle.dumps(_again(fit, fit.X)))


_WAYS: tuple[Way, ...] = (
    threads,
    columns_first,
    row_blocks,
    disk,
    checkpoint,
    a_file,
    saved,
    pickled,
)
# Only growth writes checkpoints; a choice does not.
_WAYS_OF_A_CHOICE = tuple(way for way in _WAYS if way is not checkpoint)
