"""Cost model of a fit on a Dask cluster; its few constants were measured.

benchmarks/cluster.py measures fits of two columns with one and two workers, estimates the constants
of a round from them, and checks the constants against another case. The values below are rounded
from several such runs. benchmarks/out_of_core.py measures eight columns. docs/dask.md shows how
accurate the model is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._data.defaults import choose_psi, choose_tau
from .._utils.memory import readable_bytes
from .._utils.wording import counted

# Seconds of a round with workers of one thread: a fixed part, and a part for each worker.
_LATENCY = 8e-4
_SECONDS_PER_WORKER = 1e-4
# Neighbour blocks save less with more columns; these pairs were measured with two and with eight.
_MEASURED_COLUMNS = (2, 8)
_SECONDS_PER_ROW_AND_ROUND = (2e-10, 4e-8)
_SECONDS_TO_ENCODE_A_ROW = (8e-7, 2e-5)
_BYTES_PER_CELL = (0.2, 2.1)
# Memory for labels, growth steps, block order, positions and weights.
_BYTES_PER_ROW = 36
# Memory for compiled code and Dask itself.
_BYTES_PER_WORKER = 1.3e8
# With more columns, rows are encoded by matrix products, and all rows are scored, cell by cell.
_MOST_COLUMNS_IN_BLOCKS = 8
_SECONDS_PER_CELL_SCORED = 1e-9
_PRODUCTS_PER_SECOND = 1e10

_BYTES_PER_COUNT = 8
# Rounds of refinement, and of messages that are sent once.
_OTHER_ROUNDS = 10


@dataclass(frozen=True)
class Plan:
    """Estimate of the time, memory and traffic of a fit on a Dask cluster.

    Attributes
    ----------
    rows, columns, workers, psi, n_partitions, n_clusters : int
        The arguments of :func:`pskclust.dask.plan`. The number of clusters is an assumption.
    bytes_per_worker : int
        Memory of a worker while clusters grow, without the rows.
    bytes_per_round : int
        Largest traffic of the fitting process in a round, sent and received.
    n_rounds : int
        Largest number of rounds.
    seconds_per_round : float
        Duration of a round, with workers of one thread.
    encode_seconds : float
        Time to find the cells of all rows.
    seconds : float
        Duration of the whole fit.

    See Also
    --------
    plan : Estimate the cost of a fit.

    Examples
    --------
    >>> from pskclust.dask import plan
    >>> estimate = plan(10**9, 2, 100)
    >>> estimate.workers, estimate.n_rounds
    (100, 470)
    """

    rows: int
    columns: int
    workers: int
    psi: int
    n_partitions: int
    n_clusters: int
    bytes_per_worker: int
    bytes_per_round: int
    n_rounds: int
    seconds_per_round: float
    encode_seconds: float
    seconds: float

    def facts(self) -> dict[str, str]:
        """Return the estimate as text, subject by subject.

        Returns
        -------
        facts : dict of str to str
            Text for each subject: rows, memory, rounds, network, encoding, and the total time.

        Examples
        --------
        >>> from pskclust.dask import plan
        >>> plan(10**9, 2, 100).facts()["rows"]
        '1,000,000,000 of 2 columns, 10,000,000 on each of 100 workers'
        """
        return {
            "rows": f"{self.rows:,} of {counted(self.columns, 'column')}, "
            f"{-(-self.rows // self.workers):,} on each of {counted(self.workers, 'worker')}",
            "memory": f"{readable_bytes(self.bytes_per_worker)} on each worker",
            "rounds": f"{self.n_rounds:,} for {counted(self.n_clusters, 'cluster')}, "
            f"{self.seconds_per_round:.3g} s each",
            "network": f"{readable_bytes(self.bytes_per_round)} per round at most",
            "encoding": _duration(self.encode_seconds),
            "total": _duration(self.seconds),
        }


def plan(
    rows: int,
    columns: int,
    workers: int,
    *,
    psi: int | None = None,
    n_partitions: int = 100,
    n_clusters: int = 10,
    growth_rate: float = 0.1,
    bytes_per_second: float = 1.25e9,
) -> Plan:
    """Estimate the time, memory and traffic of a fit on a Dask cluster.

    Parameters
    ----------
    rows : int
        Number of rows, 1 or more.
    columns : int
        Number of columns, 1 or more.
    workers : int
        Number of workers with one thread each, 1 or more.
    psi : int or None, default=None
        Number of cells of each partitioning. None means the default psi of growing clusters.
    n_partitions : int, default=100
        Number of partitionings.
    n_clusters : int, default=10
        Expected number of clusters. Each growth step of a cluster takes one round.
    growth_rate : float, default=0.1
        Fraction by which the threshold falls in each step, between 0 and 1.
    bytes_per_second : float, default=1.25e9
        Bandwidth of the network of the fitting process; the default is 10 Gbit/s.

    Returns
    -------
    plan : Plan
        The estimate.

    Raises
    ------
    ValueError
        If rows, columns or workers is less than 1.

    See Also
    --------
    pskclust.dask.PSKC : Point-set kernel clustering on a Dask cluster.

    Examples
    --------
    >>> from pskclust.dask import plan
    >>> plan(10**9, 2, 100).n_rounds
    470
    """
    _require_one_or_more(rows=rows, columns=columns, workers=workers)
    used_psi = choose_psi(rows) if psi is None else psi
    per_worker = -(-rows // workers)
    bytes_per_round = 2 * workers * n_partitions * used_psi * _BYTES_PER_COUNT
    n_rounds = n_clusters * (_steps(choose_tau(used_psi), growth_rate) + 2) + _OTHER_ROUNDS
    row = _row_costs(columns, n_partitions, used_psi)
    seconds_per_round = (
        _LATENCY
        + _SECONDS_PER_WORKER * workers
        + row.round_seconds * per_worker
        + bytes_per_round / bytes_per_second
    )
    encode_seconds = row.encode_seconds * per_worker
    return Plan(
        *(rows, columns, workers, used_psi, n_partitions, n_clusters),
        int(_BYTES_PER_WORKER + per_worker * row.n_bytes),
        bytes_per_round,
        n_rounds,
        seconds_per_round,
        encode_seconds,
        encode_seconds + n_rounds * seconds_per_round,
    )


def _require_one_or_more(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name}={value} is not allowed. Use a whole number of 1 or more.")


class _RowCosts(NamedTuple):
    n_bytes: float
    round_seconds: float
    encode_seconds: float


def _row_costs(columns: int, n_partitions: int, psi: int) -> _RowCosts:
    """Return the bytes and the seconds that one row takes on its worker."""
    cell_bytes = n_partitions * np.min_scalar_type(psi - 1).itemsize
    if columns > _MOST_COLUMNS_IN_BLOCKS:
        encode_seconds = columns * n_partitions * psi / _PRODUCTS_PER_SECOND
        return _RowCosts(
            _BYTES_PER_ROW + cell_bytes, n_partitions * _SECONDS_PER_CELL_SCORED, encode_seconds
        )
    bytes_per_cell = float(np.interp(columns, _MEASURED_COLUMNS, _BYTES_PER_CELL))
    return _RowCosts(
        _BYTES_PER_ROW + bytes_per_cell * cell_bytes,
        _between(columns, _SECONDS_PER_ROW_AND_ROUND),
        _between(columns, _SECONDS_TO_ENCODE_A_ROW),
    )


def _steps(tau: float, growth_rate: float) -> int:
    """Return the number of steps in which the threshold falls from 1 to tau."""
    return math.ceil(math.log(tau) / math.log(1 - growth_rate))


def _between(columns: int, measured: tuple[float, float]) -> float:
    """Interpolate exponentially between the measurements for two numbers of columns."""
    logarithm = np.interp(columns, _MEASURED_COLUMNS, np.log(measured))
    return float(np.exp(logarithm))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} seconds"
    if seconds < 7200:
        return f"{seconds / 60:.3g} minutes"
    return f"{seconds / 3600:.3g} hours"
