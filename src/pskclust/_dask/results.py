"""Results of rows as Dask arrays, whose blocks are computed again if a worker is lost in a fit."""

from __future__ import annotations

import operator
import uuid
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph
from distributed import Future, get_worker

from .._engines.protocol import RowResults
from .data import DaskData
from .placement import Share
from .tasks import Tasks

_DTYPES = (np.int64, np.float64, np.int32)


class CollectedResults:
    """The results of one pass over all rows: a future on the cluster for each block with rows."""

    def __init__(self, number: int, data: DaskData, tasks: Tasks) -> None:
        self._number, self._data, self._tasks = number, data, tasks
        self._name = f"pskclust-results-{uuid.uuid4().hex}"
        self._places = {int(block): i for i, block in enumerate(np.flatnonzero(data.lengths))}
        self._futures: dict[tuple[str, int], Future] = {}

    def collect(self, shares: list[Share]) -> None:
        """Turn the results of shares into data of their workers."""
        for share in shares:
            for block in share.blocks:
                self._futures[self._name, self._places[block]] = self._tasks.client.submit(
                    _results_of,
                    share.actor,
                    self._number,
                    self._data.run(block).start,
                    workers=[share.address],
                    pure=False,
                )

    @property
    def futures(self) -> list[Future]:
        return list(self._futures.values())

    def arrays(self) -> RowResults:
        """Return arrays, in blocks as long as those of the rows.

        Their graph is the dictionary of futures itself: futures that take the place of lost ones
        are in all arrays that were computed from these.
        """
        lengths = self._data.lengths[list(self._places)]
        graph = HighLevelGraph.from_collections(self._name, self._futures)
        whole = da.Array(graph, self._name, (tuple(lengths.tolist()),), dtype=object)
        return RowResults(*(self._array(whole, field) for field in range(len(_DTYPES))))

    def _array(self, whole: da.Array, field: int) -> da.Array:
        dtype = _DTYPES[field]
        values = whole.map_blocks(
            operator.getitem, field, dtype=dtype, meta=np.empty(0, dtype=dtype)
        )
        # Other lengths, since blocks may be empty.
        return values.rechunk((tuple(self._data.lengths.tolist()),))


def _results_of(actor: Any, number: int, first_row: int) -> RowResults:
    """Ask the actor itself, which is on this worker: a call would send the results through."""
    results: RowResults = get_worker().state.actors[actor.key].results_of(number, first_row)
    return results
