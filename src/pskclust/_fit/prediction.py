"""Labels and similarities of new rows, given a fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, most_similar
from .._data.rows import Data
from .._data.weights import uniform_weights
from .._engines.select import labels_by_blocks
from .._kernels.select import kernels_for
from .._utils.memory import require_memory
from .._utils.parallel import Buffers, map_chunks, one_blas_thread, rows_per_chunk
from .pipeline import Fitted


def require_reach(fitted: Fitted, rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows, or raise ValueError where a distance to a centre would overflow."""
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
    if fitted.noise is not None:
        labels[data.rows_where(fitted.noise, n_jobs)] = -1
    return labels


def similarity(fitted: Fitted, rows: NDArray[Any], n_jobs: int | None) -> NDArray[np.float64]:
    """Return the similarity of each row of a checked array to every cluster, (n, k)."""
    clusters = fitted.result.clusters
    _require_memory(len(rows), len(clusters))
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    similarities = np.empty((len(rows), len(clusters)))
    for chunk, found in _similarities(fitted, data, clusters, n_jobs):
        similarities[chunk] = found
    return similarities


def top_similarities(
    fitted: Fitted, rows: NDArray[Any], top_k: int, n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest similarities of each row, (n, top_k), and to which clusters they are."""
    clusters = fitted.result.clusters
    width = min(top_k, len(clusters))
    _require_memory(len(rows), width)
    data = Data(rows, fitted.metric, uniform_weights(len(rows)))
    similarities = np.empty((len(rows), width))
    numbers = np.empty((len(rows), width), dtype=np.int64)
    for chunk, found in _similarities(fitted, data, clusters, n_jobs):
        numbers[chunk] = np.argsort(-found, axis=1, kind="stable")[:, :width]
        similarities[chunk] = np.take_along_axis(found, numbers[chunk], axis=1)
    return similarities, numbers


def _similarities(
    fitted: Fitted, data: Data, clusters: ClusterTables, n_jobs: int | None
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield chunks of rows with their similarities to all clusters, (m, k)."""
    partition = fitted.partition
    kernels, buffers = kernels_for(len(data)), Buffers()

    def score(chunk: slice) -> tuple[slice, NDArray[np.float64]]:
        cells = partition.cells(data.points(chunk), kernels, buffers)
        return chunk, clusters.similarities(clusters.scores(cells, kernels))

    chunk_rows = min(partition.chunk_rows, rows_per_chunk(len(clusters)))
    with one_blas_thread:
        yield from map_chunks(score, len(data), chunk_rows, n_jobs)


def _require_memory(n_rows: int, width: int) -> None:
    require_memory(
        {"similarities": n_rows * width * 8},
        f"Computing the similarities of {n_rows} rows to {width} clusters",
        "Ask for the most similar ones only with top_k, or for fewer rows at a time.",
    )
