"""Map of psi and tau, filled in the background while the server is idle."""

from __future__ import annotations

import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .._sweep import sweep
from .._utils.progress import Progress
from .fits import Fitter
from .queue import Cancelled, WorkQueue
from .settings import Settings
from .subject import SAMPLE_SEED

MAX_ROWS = 2_500
N_SEEDS = 2
_PSI = (4, 8, 16, 32, 64, 128, 256, 512)
_TAU = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
_ROWS_PER_CELL = 4
_MAX_MAPS = 32


@dataclass(frozen=True)
class Spot:
    """The result of two fits with different seeds, at one psi and tau of the map."""

    clusters: int
    noise: float
    stability: float


class PsiTauMap:
    """Maps over psi and tau; settings that differ only in psi and tau share a map."""

    def __init__(self, fitter: Fitter, queue: WorkQueue, tell: Callable[[], None]) -> None:
        self._fitter, self._queue, self._tell = fitter, queue, tell
        n_rows = fitter.subject.n_explored
        size = min(n_rows, MAX_ROWS)
        chosen = np.random.RandomState(SAMPLE_SEED).choice(n_rows, size, replace=False)
        self._rows = np.sort(chosen)
        self.psi = tuple(psi for psi in _PSI if psi * _ROWS_PER_CELL <= size) or (2,)
        self.tau = _TAU
        self._spots: OrderedDict[Settings, dict[int, list[Spot]]] = OrderedDict()
        self._wanted: Settings | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="pskclust-map", daemon=True)
        self._thread.start()

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    def want(self, settings: Settings) -> None:
        """Make the map of this setting the next one to be filled."""
        with self._changed:
            self._wanted = _without_place(settings)
            self._changed.notify_all()

    def answer(self, settings: Settings) -> dict[str, Any]:
        """Return the map of a setting as JSON, as far as it has been computed."""
        with self._changed:
            known = dict(self._spots.get(_without_place(settings), {}))
        return {
            "psi": list(self.psi),
            "tau": list(self.tau),
            "rows": self.n_rows,
            "seeds": N_SEEDS,
            "spots": [
                [asdict(spot) for spot in known[psi]] if known.get(psi) else None
                for psi in self.psi
            ],
            "complete": len(known) == len(self.psi),
        }

    def spots(self, settings: Settings) -> dict[tuple[int, float], Spot]:
        """Return the results so far in a setting's map, by psi and tau."""
        with self._changed:
            known = dict(self._spots.get(_without_place(settings), {}))
        return {
            (psi, tau): spot
            for psi, line in known.items()
            if line
            for tau, spot in zip(self.tau, line, strict=True)
        }

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._next() is not None)
                if self._closed:
                    return
                found = self._next()
            if found is None:
                continue
            settings, psi = found
            try:
                self._queue.wait_until_idle()
                line = self._line(settings, psi)
            except Cancelled:
                continue
            except Exception as error:
                # The fit itself reports errors of this setting; this line of the map stays empty.
                if not isinstance(error, ValueError | MemoryError):
                    traceback.print_exc()
                line = []
            with self._changed:
                self._spots.setdefault(settings, {})[psi] = line
                self._spots.move_to_end(settings)
                while len(self._spots) > _MAX_MAPS:
                    self._spots.popitem(last=False)
            self._tell()

    def _next(self) -> tuple[Settings, int] | None:
        """Return the next setting and psi to fit, from the middle psi outwards; None if done."""
        if self._wanted is None:
            return None
        known = self._spots.get(self._wanted, {})
        left = [psi for psi in self.psi if psi not in known]
        middle = self.psi[len(self.psi) // 2]
        nearest = sorted(left, key=lambda psi: abs(np.log(psi / middle)))
        return (self._wanted, nearest[0]) if nearest else None

    def _line(self, settings: Settings, psi: int) -> list[Spot]:
        def pause(progress: Progress) -> None:
            self._queue.wait_until_idle()
            if self._closed or self._wanted != settings:
                raise Cancelled

        subject = self._fitter.subject
        estimator = self._fitter.estimator(replace(settings, psi=psi))
        others = estimator.get_params(deep=False)
        for name in ("psi", "tau", "random_state", "callback", "verbose", "n_jobs"):
            others.pop(name)
        if settings.min_cluster_size is not None:
            # With fewer rows, clusters are smaller.
            share = self.n_rows / subject.n_explored
            others["min_cluster_size"] = max(1, round(share * settings.min_cluster_size))
        weights = None if subject.weights is None else subject.weights[self._rows]
        found = sweep(
            subject.rows(settings)[self._rows],
            psi=[psi],
            tau=self.tau,
            n_seeds=N_SEEDS,
            random_state=settings.random_state,
            sample_weight=weights,
            callback=pause,
            verbose=False,
            # One thread, so that another processor is free for the page.
            n_jobs=1,
            **others,
        )
        return [
            Spot(
                int(found.n_clusters[0, n]), float(found.noise[0, n]), float(found.stability[0, n])
            )
            for n in range(len(self.tau))
        ]


def _without_place(settings: Settings) -> Settings:
    return replace(settings, psi=2, tau=0.5, n_clusters=None, layer=None)
