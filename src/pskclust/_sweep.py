"""Fits over a grid of psi and tau: number of clusters, noise and stability of each pair."""

from __future__ import annotations

import importlib
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
# Smaller differences of stability are within the variation from seed to seed.
_AS_STABLE = 0.01
_UNKNOWN = -1


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """Result of :func:`sweep`: one entry for each pair of psi and tau.

    Attributes
    ----------
    psi : ndarray of int64, shape (n_psi,)
        The values of psi, one for each row of the arrays below.
    tau : ndarray of float64, shape (n_tau,)
        The values of tau, one for each column.
    seeds : ndarray of int64, shape (n_seeds,)
        The `random_state` of each fit: ``PSKC(psi=psi, tau=tau, random_state=seed)`` repeats it.
    n_clusters : ndarray of int64, shape (n_psi, n_tau)
        Number of clusters, the median over the seeds.
    noise : ndarray of float64, shape (n_psi, n_tau)
        Fraction of rows that are noise, 0 to 1, the mean over the seeds.
    stability : ndarray of float64, shape (n_psi, n_tau)
        Adjusted Rand index between the labels of two seeds, the mean over all pairs of seeds:
        1 if all seeds find the same clusters, about 0 if they agree by chance. Noise counts as one
        more cluster.
    objective : ndarray of float64, shape (n_psi, n_tau)
        Total similarity of rows to their clusters, the mean over the seeds. A larger psi lowers
        it for any clusters, so compare entries of the same psi only.
    agreement : ndarray of float64, shape (n_psi, n_tau), or None
        Adjusted Rand index between the labels and the known classes `y`, the mean over the seeds.
        None without classes.

    See Also
    --------
    sweep : Fit every pair of psi and tau.
    pskclust.plotting.SweepDisplay : Draw the result as heat maps.

    Examples
    --------
    >>> from pskclust import sweep
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> result = sweep(X, psi=[2, 4], tau=[0.1, 0.5], random_state=0)
    >>> result.n_clusters
    array([[1, 2],
           [2, 1]])
    >>> result.best()
    {'psi': 2, 'tau': 0.5}
    """

    psi: NDArray[np.int64]
    tau: NDArray[np.float64]
    seeds: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    noise: NDArray[np.float64]
    stability: NDArray[np.float64]
    objective: NDArray[np.float64]
    agreement: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        """Return the result as a table, one line for each pair of psi and tau."""
        columns = self._columns()
        texts = [[name, *(f"{value:.4g}" for value in values)] for name, values in columns.items()]
        widths = [max(map(len, cells)) for cells in texts]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in zip(*texts, strict=True)
        ]
        return "\n".join([f"SweepResult of {len(self.seeds)} seeds", *lines])

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each pair of psi and tau.

        Returns
        -------
        frame : pandas.DataFrame
            The columns are psi, tau and the fields of the result.

        Examples
        --------
        >>> from pskclust import sweep
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> result = sweep(X, psi=[2, 4], tau=[0.1, 0.5], random_state=0)
        >>> list(result.to_frame().columns)
        ['psi', 'tau', 'n_clusters', 'noise', 'stability', 'objective']
        """
        # pandas is optional: nothing else here needs it.
        return importlib.import_module("pandas").DataFrame(self._columns())

    def _columns(self) -> dict[str, NDArray[Any]]:
        """Return the entries as columns, for each psi one tau after the other."""
        names = ["n_clusters", "noise", "stability", "objective"]
        names += [] if self.agreement is None else ["agreement"]
        return {
            "psi": np.repeat(self.psi, len(self.tau)),
            "tau": np.tile(self.tau, len(self.psi)),
            **{name: getattr(self, name).ravel() for name in names},
        }

    def best(self) -> dict[str, Any]:
        """Return the psi and tau of the most stable entry, as parameters for PSKC.

        Entries with one cluster are left out if any entry has two or more. Among the entries whose
        stability is within 0.01 of the highest, the one with the most clusters is chosen; ties go
        to the one with the least noise, then to the most stable one, then to the first.

        Returns
        -------
        parameters : dict
            The keys are "psi" and "tau", as in ``PSKC(**result.best())``.

        Examples
        --------
        >>> from pskclust import PSKC, sweep
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> result = sweep(X, psi=[2, 4], tau=[0.1, 0.5], random_state=0)
        >>> PSKC(**result.best(), random_state=0).fit(X).n_clusters_
        2
        """
        competes = self.n_clusters >= 2
        if not competes.any():
            competes[:] = True
        as_stable = competes & (self.stability >= self.stability[competes].max() - _AS_STABLE)
        rows, columns = np.nonzero(as_stable)
        by_rank = np.lexsort(
            [-self.stability[as_stable], self.noise[as_stable], -self.n_clusters[as_stable]]
        )
        first = by_rank[0]
        return {"psi": int(self.psi[rows[first]]), "tau": float(self.tau[columns[first]])}


def sweep(
    X: ArrayLike | RowBlocks,
    *,
    psi: int | Sequence[int],
    tau: float | Sequence[float],
    n_seeds: int = 3,
    random_state: int | RandomState | None = None,
    sample_weight: ArrayLike | None = None,
    y: ArrayLike | None = None,
    callback: Report | None = None,
    **pskc_params: Any,
) -> SweepResult:
    """Fit :class:`PSKC` with every pair of psi and tau, several times each.

    Finding the cells of the rows takes most of the time. A sweep does it once for each psi and
    seed, for all values of tau. The labels are exactly those of separate fits.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), path or RowBlocks
        The rows, at least two.
    psi : int or sequence of int
        Values of psi to try, each 2 or more and at most the number of rows. Start with powers of
        two, say 8 to 256.
    tau : float or sequence of float
        Values of tau to try, each between 0 and 1. Start with values from 0.3 / psi to 2 / psi.
    n_seeds : int, default=3
        Number of fits per pair, 2 or more. Increase it if entries are close in stability.
    random_state : int, RandomState instance or None, default=None
        Source of the seeds of the fits. Pass an int for the same result every time.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, see :meth:`PSKC.fit`.
    y : array-like of shape (n_samples,), default=None
        Known classes to compare labels with. They do not affect fits; rows of class -1 are ignored.
    callback : callable or None, default=None
        Function that receives a :class:`Progress` of stage "sweep" after each fit.
    **pskc_params
        Other parameters of :class:`PSKC`, such as metric or min_cluster_size.

    Returns
    -------
    result : SweepResult
        Number of clusters, noise, stability and objective of each pair.

    Raises
    ------
    ValueError
        If psi or tau is empty or out of range, or n_clusters is given.

    See Also
    --------
    PSKC : Without psi and tau, it chooses a clustering itself.
    pskclust.plotting.SweepDisplay : Draw the result as heat maps.
    pskclust.metrics.stability : Compute the stability of any clusterings.
    explore : Change psi and tau in a browser.

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
    psi, tau = _listed(psi), _listed(tau)
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


def _listed(values: Any) -> Sequence[Any]:
    """Return values in a list; a single one is a list of one."""
    return [values] if np.ndim(values) == 0 else values


def _known_classes(y: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    if y is None:
        return None
    classes = np.asarray(y)
    if classes.shape != (n_rows,):
        raise ValueError(
            f"y has shape {classes.shape}, but X has {n_rows:,} rows. Pass one class for each row."
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
    """Return the parameters of each fit: a list for each psi, with an entry for each seed."""
    values = model.get_params(deep=False)
    if model.n_clusters is not None:
        raise ValueError(
            f"n_clusters={model.n_clusters} cannot be combined with a sweep: psi and tau set the "
            "number of clusters. Leave it out."
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
    """Return the fields of `SweepResult` in order, starting with `n_clusters`."""
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
    """Yield the result for each tau; all use the same cells."""
    engine = engine_of(rows, pipeline.draw(rows, parameters), parameters)
    for value in tau:
        engine.reset()
        yield pipeline.grow_and_finish(engine, float(value), parameters)


def _mean_agreement(labels: NDArray[np.int32], units: NDArray[np.int64]) -> float:
    """Return the mean adjusted Rand index over all pairs of seeds; `labels` is (n_seeds, n)."""
    pairs = itertools.combinations(labels, 2)
    return float(np.mean([adjusted_rand(one, other, units) for one, other in pairs]))


def _mean_agreement_with(classes: NDArray[Any], labels: NDArray[np.int32]) -> float:
    """Return the adjusted Rand index between labels and known classes, the mean over seeds."""
    known = classes != _UNKNOWN
    if not known.any():
        return float("nan")
    return float(np.mean([adjusted_rand(classes[known], some[known]) for some in labels]))
