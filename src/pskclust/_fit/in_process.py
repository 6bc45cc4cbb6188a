"""Rows and engines in this process, for ``PSKC.fit``."""

from __future__ import annotations

import os
from typing import cast

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._cells.on_device import on_device
from .._cells.partition import Partition
from .._data.distance_metrics import require_latitude_first
from .._data.named_columns import NamedColumns
from .._data.odd_columns import warn_of_distances, warn_of_odd_columns
from .._data.parameters import Parameters
from .._data.rows import Data, FitRows, check_columns, check_rows
from .._data.sources import RowBlocks
from .._data.streamed import StreamedRows
from .._data.weights import Weights, check_weights
from .._engines.out_of_core import out_of_core_engine
from .._engines.protocol import Engine
from .._engines.select import isolation_engine
from .._utils.progress import Report, ignore
from .._utils.torch_device import open_device
from ..tables.streaming import row_blocks

# Sources of rows that `fit` accepts.
Rows = ArrayLike | RowBlocks | os.PathLike[str]


def rows_of(
    estimator: BaseEstimator,
    X: Rows,
    sample_weight: ArrayLike | None,
    parameters: Parameters,
    report: Report = ignore,
    *,
    with_warnings: bool = True,
) -> Data | StreamedRows:
    """Return the checked rows of a fit, in memory or to be read block by block.

    Set `n_features_in_` and `feature_names_in_` of the estimator. With
    `with_warnings`, warn about odd columns; rows in blocks are checked as they are read.
    """
    metric = parameters.metric
    if parameters.device is not None:
        open_device(parameters.device)  # a missing device ends the fit before rows are read
    blocks = row_blocks(X)
    if blocks is None:
        rows = check_rows(estimator, cast(ArrayLike, X), metric, reset=True, min_samples=2)
        if with_warnings:
            warn_of_distances(rows)
            warn_of_odd_columns(rows, NamedColumns.of(X, column_names(estimator)), metric)
        if parameters.scratch_dir is None and parameters.checkpoint is None:
            return Data(rows, metric, _weights(sample_weight, len(rows), parameters))
        blocks = RowBlocks.from_array(rows)
        blocks.names = column_names(estimator)
        with_warnings = False
    check_columns(estimator, blocks.n_columns, blocks.names, reset=True)
    require_latitude_first(blocks.names, metric)
    weights = _weights(sample_weight, blocks.n_rows, parameters)
    hashed = parameters.checkpoint is not None
    warned = NamedColumns.of(X, blocks.names) if with_warnings else None
    return StreamedRows(blocks, metric, weights, report, with_fingerprint=hashed, warned=warned)


def engine_of(
    rows: FitRows, partition: Partition, parameters: Parameters, report: Report = ignore
) -> Engine:
    """Return the engine for rows in this process."""
    partition = on_device(partition, parameters.device)
    if isinstance(rows, StreamedRows):
        return out_of_core_engine(
            rows, partition, parameters.n_jobs, parameters.scratch_dir, report
        )
    if not isinstance(rows, Data):
        raise TypeError(f"rows of type {type(rows).__name__} have no engine in this process")
    return isolation_engine(rows, partition, parameters.n_jobs, report)


def _weights(sample_weight: ArrayLike | None, n_rows: int, parameters: Parameters) -> Weights:
    if n_rows < 2:
        raise ValueError(f"X has {n_rows} sample(s). A fit needs two rows or more.")
    weights = check_weights(sample_weight, n_rows, parameters.n_partitions)
    if weights.n_slots < 2:
        raise ValueError("sample_weight leaves only 1 sample of X. A fit needs two rows or more.")
    return weights


def column_names(estimator: BaseEstimator) -> list[str] | None:
    """Return the names of the columns of a fit; None if they have none."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)
