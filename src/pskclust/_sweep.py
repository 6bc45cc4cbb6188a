"""A grid of psi and tau: what each pair finds, and how far seeds agree on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ._data.agreement import adjusted_rand
from ._data.checks import check_psi
from ._data.parameters import Parameters, between, check_parameters, whole
from ._data.rows import Data, FitRows
from ._data.sources import RowBlocks
from ._data.streamed import StreamedRows
from ._estimator import PSKC
from ._fit import pipeline
from ._fit.in_process import engine_of, rows_of
from ._fit.reporting import reporting
from ._pskc.result import Result
from ._utils.progress import Progress, Report

_GRID_RULES = {"psi": (whole(2),), "tau": (between(0, 1),), "n_seeds": (whole(2),)}
# Agreement varies by this much from seed to seed; smaller differences mean nothing.
_AS_STABLE = 0.01
_UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The result of :func:`sweep`, for each psi and tau.

    Attributes
    ----------
    psi : ndarray of int64, shape (n_psi,)
    tau : ndarray of float64, shape (n_tau,)
    seeds : ndarray of int64, shape (n_seeds,)
        The `random_state` of the fits; one is ``PSKC(psi=psi, tau=tau, random_state=seed)``.
    n_clusters : ndarray of int64, shape (n_psi, n_tau)
        Number of clusters, the median over the seeds.
    noise : ndarray of float64, shape (n_psi, n_tau)
        Share of the rows that are noise, the mean over the seeds.
    stability : ndarray of float64, shape (n_psi, n_tau)
        Adjusted Rand index between the labels of two seeds, the mean over all pairs of seeds.
        Noise counts as one more cluster. 1 means that the seed changes nothing.
    objective : ndarray of float64, shape (n_psi, n_tau)
        Total similarity of rows to their clusters, the mean over the seeds. It falls with psi by
        itself, so compare it along a row.
    agreement : ndarray of float64, shape (n_psi, n_tau), or None
        Adjusted Rand index between the labels and the known classes `y`, the mean over the seeds.
        None without classes.
    """

    psi: NDArray[np.int64]
    tau: NDArray[np.float64]
    seeds: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    noise: NDArray[np.float64]
    stability: NDArray[np.float64]
    objective: NDArray[np.float64]
    agreement: NDArray[np.float64] | None = None

    def best(self) -> dict[str, Any]:
        """Return the psi and tau that seeds agree on most, as parameters for PSKC.

        Only entries with two or more clusters compete, if there are any. Of those that are as
        stable, but for a hundredth, the one with the most clusters is returned, then the one with
        the least noise, then the first.

        Returns
        -------
        parameters : dict
            With the keys "psi" and "tau": ``PSKC(**result.best())``.
        """
        competes = self.n_clusters >= 2
        if not competes.any():
            competes[:] = True
        as_stable = competes & (self.stability >= self.stability[competes].max() - _AS_STABLE)
        rows, columns = np.nonzero(as_stable)
        by_rank = np.lexsort([self.noise[as_stable], -self.n_clusters[as_stable]])
        first = by_rank[0]
        return {"psi": int(self.psi[rows[first]]), "tau": float(self.tau[columns[first]])}


def sweep(
    X: ArrayLike | RowBlocks,
    *,
    psi: Sequence[int],
    tau: Sequence[float],
    n_seeds: int = 3,
    random_state: int | RandomState | None = None,
    sample_weight: ArrayLike | None = None,
    y: ArrayLike | None = None,
    callback: Report | None = None,
    **pskc_params: Any,
) -> SweepResult:
    """Fit :class:`PSKC` with every pair of psi and tau, several times each.

    The cells of the rows, the costly part, are found once for each psi and seed and serve every
    tau. Labels are those of separate fits, to the bit.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    psi : sequence of int
    tau : sequence of float
    n_seeds : int, default=3
        How many fits there are of each pair, 2 or more.
    random_state : int, RandomState instance or None, default=None
        What the seeds of the fits are drawn from.
    sample_weight : array-like of shape (n_samples,), default=None
        See :meth:`PSKC.fit`.
    y : array-like of shape (n_samples,), default=None
        Known classes, to compare labels with. They change no fit; rows of class -1 do not count.
    callback : callable or None, default=None
        Called with a :class:`Progress` of stage "sweep" after each fit.
    **pskc_params
        Other parameters of :class:`PSKC`.

    Returns
    -------
    result : SweepResult

    Examples
    --------
    >>> from pskclust import PSKC, sweep
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> result = sweep(X, psi=[8, 16, 32], tau=[0.01, 0.02, 0.05], random_state=0)
    >>> result.n_clusters.shape
    (3, 3)
    >>> PSKC(**result.best(), random_state=0).fit(X).n_clusters_
    3
    """
    _check_grid(psi, tau, n_seeds)
    seeds = _draw_seeds(n_seeds, random_state)
    model = PSKC(random_state=0, **pskc_params)
    fits = _fits(model, psi, tau, seeds)
    rows = rows_of(model, X, sample_weight, fits[0][0])
    _check_largest_psi(int(max(psi)), rows, model)
    classes = _known_classes(y, len(rows))
    with reporting(model.verbose, callback) as report:
        found = _measured(rows, fits, tau, classes, report)
    return SweepResult(np.array(psi, np.int64), np.array(tau, np.float64), seeds, *found)


def _known_classes(y: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    if y is None:
        return None
    classes = np.asarray(y)
    if classes.shape != (n_rows,):
        raise ValueError(
            f"y has shape {classes.shape}, and X has {n_rows:,} rows. Pass one class for each row."
        )
    return classes


def _draw_seeds(n_seeds: int, random_state: int | RandomState | None) -> NDArray[np.int64]:
    rng = check_random_state(random_state)
    seeds: NDArray[np.int64] = rng.randint(np.iinfo(np.int32).max, size=n_seeds, dtype=np.int64)
    return seeds


def _check_grid(psi: Sequence[int], tau: Sequence[float], n_seeds: int) -> None:
    for name, values in (("psi", psi), ("tau", tau)):
        if not len(values):
            raise ValueError(f"{name} is empty. Give one value or more to try.")
        for value in values:
            check_parameters({name: value}, {name: _GRID_RULES[name]})
    check_parameters({"n_seeds": n_seeds}, {"n_seeds": _GRID_RULES["n_seeds"]})


def _check_largest_psi(psi: int, rows: FitRows, model: PSKC) -> None:
    weights = rows.weights
    check_psi(psi, weights.n_slots, model.replace, weighted=not weights.uniform)


def _fits(
    model: PSKC, psi: Sequence[int], tau: Sequence[float], seeds: NDArray[np.int64]
) -> list[list[Parameters]]:
    """Return the parameters of the fits with each psi, and each seed."""
    values = model.get_params(deep=False)
    if model.n_clusters is not None:
        raise ValueError(
            f"n_clusters={model.n_clusters} is not for a sweep: psi and tau set the number of "
            "clusters. Leave it out."
        )
    return [
        [
            Parameters.checked({**values, "psi": size, "tau": min(tau), "random_state": int(seed)})
            for seed in seeds
        ]
        for size in psi
    ]


def _measured(
    rows: Data | StreamedRows,
    fits: list[list[Parameters]],
    tau: Sequence[float],
    classes: NDArray[Any] | None,
    report: Report,
) -> tuple[NDArray[Any], ...]:
    """Return clusters, noise, stability, objective and agreement, as `SweepResult` has them."""
    shape = len(fits), len(tau), len(fits[0])
    n_clusters, noise, objective = (np.empty(shape) for _ in range(3))
    stability, agreement = np.empty(shape[:2]), np.empty(shape[:2])
    n_done = itertools.count(1)
    units = np.asarray(rows.weights.units)
    for row, of_psi in enumerate(fits):
        labels = np.empty((len(tau), len(of_psi), len(rows)), dtype=np.int32)
        for number, parameters in enumerate(of_psi):
            for column, result in enumerate(_results(rows, parameters, tau)):
                place = row, column, number
                labels[column, number] = result.labels
                n_clusters[place], objective[place] = len(result.clusters), result.objective
                noise[place] = units[result.labels < 0].sum() / units.sum()
                found = len(result.clusters)
                report(Progress("sweep", next(n_done), int(np.prod(shape)), found))
        stability[row] = [_mean_agreement(some, units) for some in labels]
        if classes is not None:
            agreement[row] = [_mean_agreement_with(classes, some) for some in labels]
    median = np.percentile(n_clusters, 50, axis=2, method="lower").astype(np.int64)
    others = () if classes is None else (agreement,)
    return median, noise.mean(axis=2), stability, objective.mean(axis=2), *others


def _results(
    rows: Data | StreamedRows, parameters: Parameters, tau: Sequence[float]
) -> Iterator[Result]:
    """Yield the result of each tau, on the same cells."""
    engine = engine_of(rows, pipeline.draw(rows, parameters), parameters)
    for value in tau:
        engine.reset()
        yield pipeline.grow_and_finish(engine, float(value), parameters)


def _mean_agreement(labels: NDArray[np.int32], units: NDArray[np.int64]) -> float:
    """Return the mean adjusted Rand index of all pairs of labellings, (n_seeds, n)."""
    pairs = itertools.combinations(labels, 2)
    return float(np.mean([adjusted_rand(one, other, units) for one, other in pairs]))


def _mean_agreement_with(classes: NDArray[Any], labels: NDArray[np.int32]) -> float:
    """Return the mean adjusted Rand index of labellings, (n_seeds, n), over rows of known class."""
    known = classes != _UNKNOWN
    if not known.any():
        return float("nan")
    return float(np.mean([adjusted_rand(classes[known], some[known]) for some in labels]))
