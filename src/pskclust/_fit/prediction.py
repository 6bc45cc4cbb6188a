"""Labels, similarities and scores of new rows, given a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, most_similar
from .._data.rows import Data
from .._data.weights import uniform_weights
from .._engines.select import bytes_to_encode, cells_of_rows, labels_by_blocks
from .._kernels.reference import Cells
from .._kernels.select import kernels_for
from .._utils.memory import require_memory
from .._utils.parallel import map_chunks, rows_per_chunk
from .pipeline import Fitted

# New rows are scored in batches, to limit memory.
_ROWS_AT_A_TIME = 1 << 17


def require_reach(fitted: Fitted, rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows, or raise ValueError if a distance to a centre would overflow."""
    if fitted.metric == "euclidean":
        fitted.partition.check_reach(rows)
    return rows


def predict(fitted: Fitted, rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.int64]:
    """Return the cluster of each row of a checked array, -1 for noise."""
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    tables, threshold = fitted.result.deciding, fitted.result.threshold
    labels = labels_by_blocks(data, fitted.partition, tables, threshold, n_jobs)
    if labels is None:
        labels = np.empty(len(rows), dtype=np.int64)
        for chunk, similarities in _similarities(fitted, data, tables, n_jobs):
            labels[chunk] = most_similar(similarities, threshold)
    labels[_noise_rows(fitted, rows, n_jobs)] = -1
    return labels


def similarity(fitted: Fitted, rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the similarity of each row of a checked array to every cluster, (n, k)."""
    return _of_clusters(fitted, rows, _by_similarity(fitted), n_jobs)


def membership(fitted: Fitted, rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the share of each cluster among the fitted rows in each row's cells, (n, k).

    Cells at the border of the data are unbounded, so rows that the noise rule finds get shares of
    0.
    """
    values = _of_clusters(fitted, rows, _by_share(fitted), n_jobs)
    values[_noise_rows(fitted, rows, n_jobs)] = 0
    return values


def top_similarities(
    fitted: Fitted, rows: NDArray[Any], top_k: int, n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest similarities of each row and their clusters, both (n, top_k)."""
    return _top_of_clusters(fitted, rows, _by_similarity(fitted), top_k, n_jobs)


def top_memberships(
    fitted: Fitted, rows: NDArray[Any], top_k: int, n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest memberships of each row and their clusters, both (n, top_k)."""
    values, numbers = _top_of_clusters(fitted, rows, _by_share(fitted), top_k, n_jobs)
    noise = _noise_rows(fitted, rows, n_jobs)
    values[noise], numbers[noise] = 0, np.arange(numbers.shape[1])
    return values, numbers


def _noise_rows(fitted: Fitted, rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.intp]:
    """Return the numbers of the rows that the noise rule of a choice finds; none without a rule."""
    if fitted.noise is None:
        return np.empty(0, dtype=np.intp)
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    return data.rows_where(fitted.noise, n_jobs)


def score_samples(fitted: Fitted, rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the score of each row of a checked array; noise scores less than other rows."""
    values = fitted.cell_values
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    scores = np.empty(len(rows))
    for chunk, found in _similarities(fitted, data, values.table, n_jobs):
        scores[chunk] = found[:, 0]
    labels = predict(fitted, rows, n_jobs)
    return np.asarray(usual_scores(fitted, scores + values.least, labels))


def usual_scores(fitted: Fitted, scores: Any, labels: Any) -> Any:
    """Return scores, with those of noise rows lowered below all others."""
    return scores - fitted.cell_values.span * (labels < 0)


def outlier_scores(fitted: Fitted, scores: Any, labels: Any) -> Any:
    """Return outlier scores: 0 to 0.5 for members of clusters, 0.5 to 1 for noise.

    `scores` and `labels` are NumPy or Dask arrays.
    """
    values = fitted.cell_values
    return (values.least + values.span - usual_scores(fitted, scores, labels)) / (2 * values.span)


class _Measure(NamedTuple):
    """Count tables, and a function that turns scores against them into values (m, k)."""

    tables: ClusterTables
    of_scores: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    n_clusters: int


def _by_similarity(fitted: Fitted) -> _Measure:
    clusters = fitted.result.clusters
    return _Measure(clusters, clusters.similarities, len(clusters))


def _by_share(fitted: Fitted) -> _Measure:
    """Return the measure of membership: a cluster's share of the fitted rows in a row's cells."""
    clusters = fitted.result.clusters

    def shares(scores: NDArray[np.int64]) -> NDArray[np.float64]:
        everything = np.maximum(scores.sum(axis=1, keepdims=True), 1)
        return np.asarray(scores[:, :-1] / everything)

    return _Measure(clusters.followed_by(fitted.seen_whole.noise), shares, len(clusters))


def _of_clusters(
    fitted: Fitted, rows: NDArray[Any], measure: _Measure, n_jobs: int | None
) -> NDArray[np.float64]:
    _require_memory(fitted, len(rows), measure.n_clusters, n_jobs)
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    values = np.empty((len(rows), measure.n_clusters))
    for chunk, found in _scores(fitted, data, measure.tables, n_jobs):
        values[chunk] = measure.of_scores(found)
    return values


def _top_of_clusters(
    fitted: Fitted, rows: NDArray[Any], measure: _Measure, top_k: int, n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    width = min(top_k, measure.n_clusters)
    _require_memory(fitted, len(rows), 2 * width, n_jobs)
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    values = np.empty((len(rows), width))
    numbers = np.empty((len(rows), width), dtype=np.int64)
    for chunk, found in _scores(fitted, data, measure.tables, n_jobs):
        of_clusters = measure.of_scores(found)
        numbers[chunk] = np.argsort(-of_clusters, axis=1, kind="stable")[:, :width]
        values[chunk] = np.take_along_axis(of_clusters, numbers[chunk], axis=1)
    return values, numbers


def _similarities(
    fitted: Fitted, data: Data, clusters: ClusterTables, n_jobs: int | None
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield chunks of rows with their similarities to all clusters, (m, k)."""
    for chunk, scores in _scores(fitted, data, clusters, n_jobs):
        yield chunk, clusters.similarities(scores)


def _scores(
    fitted: Fitted, data: Data, clusters: ClusterTables, n_jobs: int | None
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield chunks of rows with their scores against all clusters, (m, k)."""
    for start in range(0, len(data), _ROWS_AT_A_TIME):
        some = data.only(slice(start, start + _ROWS_AT_A_TIME))
        # No variable holds the cells, so a batch is freed before the next one is encoded.
        for chunk, scores in _scores_of_cells(
            cells_of_rows(some, fitted.partition, n_jobs), clusters, n_jobs
        ):
            yield slice(start + chunk.start, start + chunk.stop), scores


def _scores_of_cells(
    cells: Cells, clusters: ClusterTables, n_jobs: int | None
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    kernels = kernels_for(len(cells))

    def score(chunk: slice) -> tuple[slice, NDArray[np.int64]]:
        return chunk, clusters.scores(cells[chunk], kernels)

    yield from map_chunks(score, len(cells), rows_per_chunk(len(clusters)), n_jobs)


def _require_memory(fitted: Fitted, n_rows: int, width: int, n_jobs: int | None) -> None:
    """Raise InsufficientMemoryError if `width` values per row and a batch of cells do not fit."""
    require_memory(
        {
            "similarities": n_rows * width * 8,
            "cells": bytes_to_encode(min(n_rows, _ROWS_AT_A_TIME), fitted.partition, n_jobs),
        },
        f"Computing the similarities of {n_rows} rows to {len(fitted.result.clusters)} clusters",
        "Ask for the most similar clusters only, with top_k, or for fewer rows at a time.",
    )
