"""Results for each row as Dask arrays; blocks lost during a fit are computed again."""

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
    """Results of one pass over all rows: a future on the cluster for each block with rows."""

    def __init__(self, number: int, data: DaskData, tasks: Tasks) -> None:
        self._number, self._data, self._tasks = number, data, tasks
        self._name = f"pskclust-results-{uuid.uuid4().hex}"
        self._places = {int(block): i for i, block in enumerate(np.flatnonzero(data.lengths))}
        self._futures: dict[tuple[str, int], Future] = {}

    def collect(self, shares: list[Share]) -> None:
        """Submit tasks that store the results of each share on its worker."""
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
        """Return the results as Dask arrays, with the same block lengths as the rows.

        The arrays share the dictionary of futures as their graph. So when a lost future is
        replaced there, all arrays derived from these use the new one.
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
        # Empty blocks of the rows have no future, so their lengths are restored here.
        return values.rechunk((tuple(self._data.lengths.tolist()),))


def _results_of(actor: Any, number: int, first_row: int) -> RowResults:
    """Read results from the actor object on this worker; a remote call would copy them."""
    results: RowResults = get_worker().state.actors[actor.key].results_of(number, first_row)
    return results
