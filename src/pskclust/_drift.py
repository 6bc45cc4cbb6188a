"""DriftMonitor: labels of a stream of rows, and their drift away from the fitted rows."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ._data.sources import RowBlocks
from ._fitted_model import FittedModel

# With fewer rows, chance alone can move the score by more than `_MAX_SCORE`.
_MIN_ROWS = 200
_MAX_SCORE = 0.1
_MAX_NOISE_GAIN = 0.1


@dataclass(frozen=True)
class Drift:
    """Drift of new rows away from the rows of a fit.

    Use `fit_again` as the alarm. It considers both `score`, which changes if the rows in clusters
    are distributed differently, and `noise`, which grows if rows are in new places far away.

    Attributes
    ----------
    score : float
        1 minus the cosine of the mean maps of the new rows and of the fitted rows. About 0 if both
        have the same distribution, 1 if they share no cell. Rows that are noise are left out, so
        the score may be 0 although many rows are in new places. It is 1 if fewer than two new rows
        are in clusters, and NaN if fewer than two rows were seen or the fit has no cluster.
    noise : float
        Fraction of noise among the new rows, which also include rows in new places.
    noise_of_fit : float
        Fraction of noise among the fitted rows.
    n_samples : int
        Number of new rows.

    See Also
    --------
    DriftMonitor : Counts new rows and returns their drift.

    Examples
    --------
    >>> from pskclust import Drift
    >>> Drift(score=0.3, noise=0.02, noise_of_fit=0.02, n_samples=1000).advice
    'Fit again: new rows are distributed differently (drift is 0.30).'
    """

    score: float
    noise: float
    noise_of_fit: float
    n_samples: int

    def __repr__(self) -> str:
        """Return the numbers, and the alarm with its reason."""
        return (
            f"Drift(score={self.score:.3g}, noise={self.noise:.3g}, "
            f"noise_of_fit={self.noise_of_fit:.3g}, n_samples={self.n_samples}, "
            f"fit_again={self.fit_again}, advice={self.advice!r})"
        )

    @property
    def fit_again(self) -> bool:
        """True if the score exceeds 0.1, or the fraction of noise has grown by more than 0.1.

        False with fewer than 200 rows.
        """
        return self.n_samples >= _MIN_ROWS and (
            self.score > _MAX_SCORE or self.noise > self.noise_of_fit + _MAX_NOISE_GAIN
        )

    @property
    def advice(self) -> str:
        """A sentence that says whether to fit again, and why."""
        if self.n_samples < _MIN_ROWS:
            return f"{self.n_samples} rows are too few to tell: wait for {_MIN_ROWS} or more."
        noise = f"noise is {self.noise:.0%} ({self.noise_of_fit:.0%} in the fit)"
        if not self.fit_again:
            return f"Keep the model: drift is {self.score:.2f}, and {noise}."
        if self.noise > self.noise_of_fit + _MAX_NOISE_GAIN:
            return f"Fit again: more rows belong to no cluster; {noise}."
        return f"Fit again: new rows are distributed differently (drift is {self.score:.2f})."


class DriftMonitor:
    """Monitor that labels a stream of rows in constant memory and measures their drift.

    A monitor counts new rows in the cells of a model. It keeps one number for each cell, however
    many rows it has seen. The result does not depend on the order of the rows or on their blocks.

    Parameters
    ----------
    model : PSKC or Pipeline
        A fitted or loaded model, or a fitted pipeline whose last step is one.

    Attributes
    ----------
    model : PSKC or Pipeline
        The model that was passed.
    n_samples_ : int
        Number of rows seen.

    See Also
    --------
    PSKC.predict : Labels new rows without counting them.
    PSKC.score_samples : Scores single rows: high for typical rows, low for outliers.

    Examples
    --------
    >>> from pskclust import PSKC, DriftMonitor
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(2000, centers=3, random_state=0)
    >>> monitor = DriftMonitor(PSKC(random_state=0).fit(X[:1000]))
    >>> for block in (X[1000:1500], X[1500:]):
    ...     labels = monitor.predict(block)
    >>> monitor.drift().fit_again
    False
    >>> monitor
    DriftMonitor(PSKC(random_state=0), n_samples=1000)
    """

    def __init__(self, model: FittedModel | Pipeline) -> None:
        self.model = model
        self._clusterer = _clusterer_of(model)
        fitted = self._clusterer.fitted_
        self._partition = fitted.partition
        clusters = fitted.result.clusters
        counts = np.asarray(clusters.counts.sum(axis=0)).reshape(self._partition.table_shape)
        members = fitted.result.labels >= 0
        self._noise_of_fit = 1 - float(members.mean())
        self._of_fit = _Counted(counts, int(clusters.masses.sum()), int(members.sum()))
        self.reset()

    def __repr__(self) -> str:
        """Return the model and the number of rows seen."""
        return f"DriftMonitor({self.model!r}, n_samples={self.n_samples_})"

    def reset(self) -> None:
        """Start a new window of the stream: discard the counts of the rows seen so far.

        Examples
        --------
        >>> from pskclust import PSKC, DriftMonitor
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> monitor = DriftMonitor(PSKC(random_state=0).fit(X))
        >>> labels = monitor.predict(X)
        >>> monitor.reset()
        >>> monitor.n_samples_
        0
        """
        self._counts = np.zeros(self._partition.table_shape, dtype=np.int64)
        self._n_members = 0
        self.n_samples_ = 0

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the labels of the next rows, as ``model.predict`` does, and count the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array or a table. For a file, pass one block after the other:
            ``for block in pskclust.tables.stream_table(path): monitor.predict(block)``.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)

        Examples
        --------
        >>> from pskclust import PSKC, DriftMonitor
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> monitor = DriftMonitor(PSKC(random_state=0).fit(X))
        >>> monitor.predict(X[:50] + 0.01).shape
        (50,)
        >>> monitor.n_samples_
        50
        """
        if isinstance(X, str | os.PathLike | RowBlocks):
            raise TypeError(
                f"X is of type {type(X).__name__}, but a monitor takes arrays and tables. For a "
                "file, pass the blocks of pskclust.tables.stream_table(path) one after the other."
            )
        rows: Any = X
        if isinstance(self.model, Pipeline) and len(self.model) > 1:
            rows = self.model[:-1].transform(X)
        model = self._clusterer
        if hasattr(model, "preparation_") and hasattr(rows, "columns"):
            rows = model.preparation_.apply(rows)
        labels = model.predict(rows)
        # `predict` has warned of the names of columns if they are missing or unknown.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X (has|does not have valid) feature names")
            cells = model.kernel_.cells(rows)[labels >= 0]
        self._partition.add(cells, np.ones(len(cells), dtype=np.int64), self._counts)
        self._n_members += len(cells)
        self.n_samples_ += len(labels)
        return labels

    def drift(self) -> Drift:
        """Return the drift of the rows seen since the last reset.

        Returns
        -------
        drift : Drift

        Examples
        --------
        >>> from pskclust import PSKC, DriftMonitor
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> monitor = DriftMonitor(PSKC(random_state=0).fit(X))
        >>> labels = monitor.predict(X + 1.0)
        >>> monitor.drift().fit_again
        True
        """
        seen = _Counted(self._counts, self._n_members, self._n_members)
        noise = 1 - self._n_members / self.n_samples_ if self.n_samples_ else math.nan
        score = _distance(seen, self._of_fit)
        if self._n_members < 2 <= min(self.n_samples_, self._of_fit.n_rows):
            score = 1.0  # rows that are all noise share no cell with the clusters
        return Drift(score, noise, self._noise_of_fit, self.n_samples_)


def _clusterer_of(model: FittedModel | Pipeline) -> FittedModel:
    """Return the fitted model, which may be the last step of a pipeline."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, FittedModel):
        raise TypeError(
            f"DriftMonitor needs a PSKC, but the model is a {type(last).__name__}. Pass a fitted "
            "PSKC, or a fitted pipeline whose last step is one."
        )
    check_is_fitted(last)
    return last


@dataclass(frozen=True, eq=False)
class _Counted:
    """Cell counts of a set of rows, its mass in units of these counts, and its number of rows."""

    counts: NDArray[np.int64]
    mass: int
    n_rows: int

    @property
    def shares(self) -> NDArray[np.float64]:
        """The mean map of the set: its counts divided by its mass."""
        return self.counts / self.mass

    def similarity_of_pairs(self) -> float:
        """Return the mean number of cells that two different rows share."""
        # Pairs of a row with itself are left out: they share all cells in any distribution.
        of_all = float(np.square(self.shares).sum())
        of_selves = float(self.shares.sum()) / self.n_rows
        return (of_all - of_selves) * self.n_rows / (self.n_rows - 1)


def _distance(first: _Counted, second: _Counted) -> float:
    """Return 1 minus the cosine of two mean maps, at least 0; NaN for sets of fewer than 2 rows."""
    if min(first.n_rows, second.n_rows) < 2:
        return math.nan
    own = first.similarity_of_pairs() * second.similarity_of_pairs()
    if own <= 0:
        return 1.0
    return max(0.0, 1 - float((first.shares * second.shares).sum()) / math.sqrt(own))
