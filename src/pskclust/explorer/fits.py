"""Fits of settings, with a cache of recent fits and of cells."""

from __future__ import annotations

import functools
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._cells.partition import Partition
from .._data.parameters import Parameters
from .._data.rows import Data
from .._data.streamed import StreamedRows
from .._engines.protocol import Engine
from .._estimator import PSKC
from .._fit import pipeline
from .._fit.in_process import column_names, engine_of, rows_of
from .._fit.pipeline import Columns
from .._utils.memory import available_bytes
from .._utils.progress import Progress, Report
from .settings import Settings
from .subject import ImageSubject, Subject

K = TypeVar("K")
V = TypeVar("V")

_CELLS_BYTES = 1 << 30
_FITS_BYTES = 512 << 20
_MAX_FITS = 512
# Bytes of a row's label, its similarity, and its growth step or confidence.
_FIT_BYTES_PER_ROW = 8 + 8 + 8


@dataclass(frozen=True)
class Seconds:
    """Times of a fit; `cells` is 0 if cells were cached, and `choice` is 0 if clusters grew."""

    choice: float
    cells: float
    growth: float
    refinement: float
    all: float


@dataclass(frozen=True, eq=False)
class Fit:
    """Fit of a setting, with clusters numbered as on the page."""

    settings: Settings
    model: PSKC
    labels: NDArray[np.int64]  # (n_explored,)
    sizes: NDArray[np.float64]  # (k,) sums of weights
    order: NDArray[np.int64]  # (k,) the model's number of each cluster
    n_noise: float  # sum of weights
    seconds: Seconds
    source: Fit | None = None  # the fit, if this is a layer of it

    @property
    def of_model(self) -> PSKC:
        """The model of the fit; for a layer, that of the fit to which the layer belongs."""
        return self.model if self.source is None else self.source.model

    @property
    def id(self) -> str:
        return self.settings.id

    @property
    def n_clusters(self) -> int:
        return int(self.model.n_clusters_)

    @property
    def n_bytes(self) -> int:
        """Approximate memory of the fit."""
        tables = self.model.fitted_.result.clusters.counts
        return _FIT_BYTES_PER_ROW * len(self.labels) + 2 * int(tables.data.nbytes)

    @property
    def growth_steps(self) -> NDArray[np.int32]:
        """Growth step in which each row joined a cluster, or -1; ValueError for chosen clusters."""
        steps = self.model.growth_step_
        if steps is None:
            raise ValueError("these clusters were chosen and did not grow. Set tau to see growth.")
        return steps

    @functools.cached_property
    def n_steps(self) -> int:
        """Number of the last growth step; 0 if clusters were chosen."""
        steps = self.model.growth_step_
        return 0 if steps is None else int(steps.max(initial=0))


class Fitter:
    """Source of all fits of a subject, computed one at a time and cached."""

    def __init__(self, subject: Subject, fixed: dict[str, Any] | None = None) -> None:
        self.subject = subject
        # Parameters of PSKC without a control on the page.
        self.fixed = dict(fixed or {})
        self._cells: Kept[tuple[Any, ...], _Cells] = Kept(_cells_budget())
        self._fits: Kept[str, Fit] = Kept(_FITS_BYTES, _MAX_FITS)

    def known(self, fit_id: str) -> Fit | None:
        """Return a fit from the cache; None if it is not there."""
        return self._fits.get(fit_id)

    def fit(self, settings: Settings, report: Report) -> Fit:
        """Return the fit of a setting; an exception in `report` cancels the fit."""
        known = self._fits.get(settings.id)
        if known is not None:
            return known
        source = None if settings.layer is None else self.fit(settings.of_fit, report)
        clock = _Clock(report)
        if source is not None:
            model = self._layer(settings, source, clock)
        elif settings.is_grown:
            model = self._cells_for(settings, clock).cluster(self.estimator(settings), clock)
        else:
            model = self._chosen(settings, clock)
        fit = self._shown(settings, model, source, clock)
        self._fits.put(settings.id, fit, fit.n_bytes)
        return fit

    def estimator(self, settings: Settings) -> PSKC:
        """Return the unfitted estimator of a setting."""
        return PSKC(**self.fixed | settings.parameters)

    def found(self, settings: Settings) -> Fit | None:
        """Return the cached fit that chose the number of clusters; None if there is none."""
        return (
            None if settings.is_grown else self.known(replace(settings.of_fit, n_clusters=None).id)
        )

    def _chosen(self, settings: Settings, report: Report) -> PSKC:
        asked = _Asked.of(self.estimator(settings), self.subject, settings)

        def make_engine(partition: Partition) -> Engine:
            return self._cells_for(settings, report, partition).engine

        fitted = pipeline.fit(asked.rows, asked.columns, asked.parameters, make_engine, report)
        return PSKC.of_fitted(asked.values, fitted)

    def _layer(self, settings: Settings, source: Fit, report: Report) -> PSKC:
        """Return the model of a fit with the labels of a layer, without a new fit."""
        if self.subject.is_image:
            raise ValueError("layers are not available for images. Ask for a number of clusters.")
        labels = source.model.relabel(n_clusters=settings.layer)
        fitted = source.model.fitted_
        cells = self._cells_for(settings, report, fitted.partition)
        values = source.model.get_params(deep=False)
        return PSKC.of_fitted(values, pipeline.relabelled(cells.engine, fitted, labels))

    def _cells_for(
        self, settings: Settings, report: Report, partition: Partition | None = None
    ) -> _Cells:
        """Return the cells of the rows, with no row in a cluster.

        If `partition` is None, draw the partition for growth.
        """
        cells = self._cells.get(settings.cells_key)
        if cells is None:
            asked = _Asked.of(self.estimator(settings), self.subject, settings)
            if partition is None:
                partition = pipeline.draw(asked.rows, asked.parameters)
            n_bytes = self._cells_bytes(partition)
            # Cells of several psi may exceed memory, so the oldest are dropped first.
            self._cells.make_room(n_bytes)
            engine = engine_of(asked.rows, partition, asked.parameters, report)
            cells = _Cells(engine, partition, asked.columns)
            self._cells.put(settings.cells_key, cells, n_bytes)
        cells.engine.reset()
        return cells

    def _cells_bytes(self, partition: Partition) -> int:
        width = 1 if partition.psi <= 256 else 2
        n_columns = len(self.subject.columns)
        row_bytes = partition.n_partitions * width + 8 * (n_columns + 4)
        return self.subject.n_explored * row_bytes

    def _shown(self, settings: Settings, model: PSKC, source: Fit | None, clock: _Clock) -> Fit:
        subject = self.subject
        weights = subject.weights
        if isinstance(subject, ImageSubject):
            labels = subject.segments(model).labels.astype(np.int64)
            order = np.empty(model.n_clusters_, dtype=np.int64)
            member = labels >= 0
            order[labels[member]] = model.labels_[member]
        else:
            labels, order = model.labels_, np.arange(model.n_clusters_)
        counts = np.bincount(labels + 1, weights, model.n_clusters_ + 1).astype(np.float64)
        sizes, n_noise = counts[1:], float(counts[0])
        return Fit(settings, model, labels, sizes, order, n_noise, clock.seconds(), source)


@dataclass(frozen=True, eq=False)
class _Asked:
    """The rows and the checked parameters of a setting."""

    values: dict[str, Any]
    parameters: Parameters
    rows: Data | StreamedRows
    columns: Columns

    @classmethod
    def of(cls, estimator: PSKC, subject: Subject, settings: Settings) -> _Asked:
        values = estimator.get_params(deep=False)
        parameters = Parameters.checked(values)
        rows = rows_of(estimator, subject.rows(settings), subject.weights, parameters)
        columns = Columns(estimator.n_features_in_, column_names(estimator))
        return cls(values, parameters, rows, columns)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of rows, for fits that differ only in tau and in the steps after growth."""

    engine: Engine
    partition: Partition
    columns: Columns

    def cluster(self, estimator: PSKC, report: Report) -> PSKC:
        """Return the estimator's fit to these rows."""
        values = estimator.get_params(deep=False)
        parameters = Parameters.checked(values)
        tau = float(estimator.tau)
        result = pipeline.grow_and_finish(self.engine, tau, parameters, report)
        fitted = pipeline.fitted_grown(
            self.engine, result, None, self.partition, parameters.metric, tau, self.columns
        )
        return PSKC.of_fitted(values, fitted)


class _Clock:
    """Clock that passes progress on and records the start of each stage."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._began = {"start": time.perf_counter()}

    def __call__(self, progress: Progress) -> None:
        self._began.setdefault(progress.stage, time.perf_counter())
        self._report(progress)

    def seconds(self) -> Seconds:
        start, end = self._began["start"], time.perf_counter()
        refine = self._began.get("refine", end)
        encode = self._began.get("encode", start)
        if "choose" in self._began:
            link = self._began.get("link", end)
            return Seconds(encode - start, link - encode, 0.0, end - link, end - start)
        grow = self._began.get("grow", refine) if "encode" in self._began else start
        return Seconds(0.0, grow - start, refine - grow, end - refine, end - start)


class Kept(Generic[K, V]):
    """Thread-safe cache of recently used values, limited in bytes and in number."""

    def __init__(self, max_bytes: int, max_count: int = 1 << 30) -> None:
        self._max_bytes, self._max_count = max_bytes, max_count
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: K, value: V, n_bytes: int) -> None:
        """Store a value of any size; drop the least recently used values to make room."""
        with self._lock:
            self._values.pop(key, None)
            self._forget(n_bytes)
            self._values[key] = value, n_bytes

    def make_room(self, n_bytes: int) -> None:
        """Drop the least recently used values until there is room for `n_bytes`."""
        with self._lock:
            self._forget(n_bytes)

    def _forget(self, n_bytes: int) -> None:
        held = sum(size for _, size in self._values.values())
        while self._values and (
            held + n_bytes > self._max_bytes or len(self._values) >= self._max_count
        ):
            _, (_, size) = self._values.popitem(last=False)
            held -= size


def _cells_budget() -> int:
    available = available_bytes()
    return _CELLS_BYTES if available is None else min(_CELLS_BYTES, available // 4)
