"""NeighbourBlocksEngine: rows in memory, in blocks of 64 neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables, CountTable, padded
from .._cells.neighbour_blocks import (
    BlockedRows,
    block_rows,
    holders_of_cells,
    unpadded,
)
from .._cells.voronoi import VoronoiPartition
from .._data.rows import Data
from .._kernels import compiled as row_kernels
from .._kernels import neighbour_growth as growth_kernels
from .._kernels import neighbour_labels as label_kernels
from .._kernels.neighbour_blocks import BLOCK, UNKNOWN
from .._kernels.reference import Cells
from .._kernels.select import Backend
from .._utils.progress import Report, ignore
from .memory_rows import Keep, MemoryRows, in_memory
from .protocol import Absorbed, Candidate, Members, ProposalRule, RowResults, better_candidate
from .superblocks import (
    LARGEST_TABLES_BYTES,
    LARGEST_TABLES_PER_RUN_BYTES,
    SUPERBLOCKS_PER_RUN,
    Part,
    ScoreBounds,
    SpareTables,
    Superblocks,
    block_scores,
    bounds_of_few,
    bytes_of_tables,
    labeller,
    lists_are_faster,
    map_superblocks,
    require_memory_for_blocks,
    tables_fit_in_memory,
)

T = TypeVar("T")


class NeighbourBlocksEngine(MemoryRows):
    """Engine with rows in the order of neighbour blocks; callers use row numbers of the data."""

    name = "local"
    backend: Backend = "numba"

    def __init__(
        self,
        data: Data,
        partition: VoronoiPartition,
        *,
        n_jobs: int | None = None,
        chunk_rows: int | None = None,
        keep: Keep = in_memory,
        report: Report = ignore,
        blocked: BlockedRows | None = None,
        blocks_per_superblock: int | None = None,
        superblocks_per_run: int = SUPERBLOCKS_PER_RUN,
        largest_tables_bytes: int = LARGEST_TABLES_BYTES,
    ) -> None:
        super().__init__(
            data,
            partition.table_shape,
            partition.n_partitions,
            n_jobs=n_jobs,
            chunk_rows=chunk_rows,
        )
        self._partition = partition
        self._kernels = row_kernels
        self._superblocks_per_run = superblocks_per_run
        self._largest_tables_bytes = largest_tables_bytes
        if blocked is None:
            require_memory_for_blocks(data, partition)
            blocked = block_rows(data, partition, n_jobs, report, blocks_per_superblock)
        # The smallest type that fits: four bytes are enough for most data.
        places = np.empty(self._n_rows, dtype=np.min_scalar_type(-self._n_rows))
        places[blocked.order] = np.arange(self._n_rows)
        holders = holders_of_cells(blocked, partition.psi)
        self._places, *arrays = keep([places, *holders, *blocked.arrays()])
        self._holders, arrays = (arrays[0], arrays[1]), arrays[2:]
        self._blocked = BlockedRows.of(arrays, blocked.layout.blocks_per_superblock)
        self._layout = self._blocked.layout
        self._units = self._blocked.units
        self.reset()

    def reset(self) -> None:
        super().reset()
        # Growth ignores rows of weight 0.
        counted = np.zeros((len(self._layout.block_cells), BLOCK), dtype=bool)
        counted.ravel()[: len(self._units)] = self._units > 0
        packed = np.packbits(counted, axis=1, bitorder="little")
        self._open = packed.view("<u8").astype(np.uint64).ravel()
        self._count_open()
        # These arrays are reused from step to step, because new memory causes page faults.
        self._own_table = padded(np.zeros(self._partition.table_shape, dtype=np.int64))
        self._joined = np.zeros_like(self._open)
        self._highest = np.full(len(self._n_open), UNKNOWN)
        self._visited = np.full(len(self._n_open), -1)
        self._scored = np.full(len(self._open), -1)
        self._spare_tables = SpareTables(self._own_table.shape)
        self._bounds = ScoreBounds(len(self._open), len(self._n_open))

    def _count_open(self) -> None:
        starts = np.arange(0, len(self._open), self._layout.blocks_per_superblock)
        self._n_open = np.add.reduceat(np.bitwise_count(self._open).astype(np.int64), starts)

    @property
    def n_rows_left(self) -> int:
        return int(self._n_open.sum())

    def total(self) -> CountTable:
        n_partitions, psi = self._table_shape

        def count(some: Superblocks) -> tuple[NDArray[np.int64], int]:
            counts = np.zeros((n_partitions, psi + 1), dtype=np.int64)
            rows = self._open, self._units, block_scores()
            mass = growth_kernels.count_blocks(self._layout, some, *rows, counts)
            return counts, mass

        parts = list(self._map_superblocks(count))
        counts = np.sum([counts for counts, _ in parts], axis=0)
        return unpadded(counts, sum(mass for _, mass in parts))

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        sizes = len(self._open), len(self._n_open)
        few = besides is not None  # the table is that of this row
        bounds = bounds_of_few(table, self._holders, *sizes) if few else self._bounds.of(table)
        place, score = growth_kernels.best_row(
            self._layout,
            padded(table.counts),
            self._open,
            self._n_open,
            self._blocked.order,
            -1 if besides is None else besides,
            *bounds,
            np.empty_like(self._n_open),
            block_scores(),
        )
        return Candidate(int(self._blocked.order[place]), int(score), int(self._units[place]))

    def table_of(self, row: int, units: int) -> CountTable:
        cells = self._blocked.cells(self._places_of(np.array([row])))
        return CountTable(self._partition.count(cells, np.array([units])), units)

    def claim(self, row: int, cluster: int) -> None:
        place = int(self._places[row])
        self._labels[place] = cluster
        self._steps[place] = 0
        block, bit = divmod(place, BLOCK)
        self._open[block] &= ~(np.uint64(1) << np.uint64(bit))
        self._n_open[block // self._layout.blocks_per_superblock] -= 1

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        absorbed, parts = self._absorb(table, min_score, cluster, step)
        self._spare_tables.pour_into(table, parts)
        return absorbed

    def absorbed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        absorbed, parts = self._absorb(table, min_score, cluster, step)
        added = CountTable(np.zeros(self._table_shape, dtype=np.int64), 0)
        self._spare_tables.pour_into(added, parts)
        return absorbed, added

    def _absorb(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, list[Part]]:
        """Let rows join a cluster; return their tables, in memory of `_spare_tables`."""
        visited, best_score_left = self._superblocks_to_visit(table, min_score)

        def absorb_some(some: Superblocks) -> tuple[int, int, Part | None]:
            n_taken, best_left = growth_kernels.absorb(
                self._layout,
                some,
                self._own_table,
                min_score,
                cluster,
                step,
                self._highest,
                self._visited,
                self._scored,
                self._open,
                self._n_open,
                self._labels,
                self._steps,
                self._joined,
                block_scores(),
            )
            if not n_taken:
                return 0, best_left, None
            counts = self._spare_tables.take()
            mass = growth_kernels.count_blocks(
                self._layout, some, self._joined, self._units, block_scores(), counts
            )
            return n_taken, best_left, (counts, mass)

        results = list(self._map_superblocks(absorb_some, visited))
        self._joined[:] = 0
        best_score_left = max([best_score_left, *(best_left for _, best_left, _ in results)])
        n_rows = sum(n_taken for n_taken, _, _ in results)
        return Absorbed(n_rows, best_score_left), [part for *_, part in results if part is not None]

    def _superblocks_to_visit(self, table: CountTable, min_score: int) -> tuple[Superblocks, int]:
        """Return the superblocks that may hold rows to absorb, and a bound on scores elsewhere."""
        growth_kernels.take_over(table.counts, self._own_table, *self._holders, self._highest)
        possible = self._highest >= min_score
        is_open = self._n_open > 0
        best_elsewhere = int(self._highest[is_open & ~possible].max(initial=-1))
        return np.flatnonzero(is_open & possible), best_elsewhere

    def place(self, clusters: ClusterTables, threshold: float) -> None:
        if not len(clusters) or not self._tables_fit(clusters):
            super().place(clusters, threshold)
            return
        label = labeller(self._layout, clusters, threshold, self._labels)
        for _ in self._map_superblocks(label):
            pass

    def tables(self, n_clusters: int) -> ClusterTables:
        n_bytes = bytes_of_tables(n_clusters, self._table_shape)
        if not n_clusters or n_bytes > self._largest_tables_bytes:
            return super().tables(n_clusters)
        n_partitions, psi = self._table_shape

        def count(some: Superblocks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            tables = np.zeros((n_clusters, n_partitions, psi + 1), dtype=np.int64)
            masses, bits = np.zeros(n_clusters, dtype=np.int64), np.empty(BLOCK, dtype=np.uint64)
            rows = self._labels, self._units, bits, block_scores()
            label_kernels.count_clusters(self._layout, some, *rows, tables, masses)
            return tables, masses

        # Each run allocates tables, so large tables are counted in one run.
        if n_bytes > LARGEST_TABLES_PER_RUN_BYTES:
            parts = [count(np.arange(len(self._n_open)))]
        else:
            parts = list(self._map_superblocks(count))
        tables = np.sum([tables for tables, _ in parts], axis=0)[:, :, :-1]
        counts = sparse.csr_array(tables.reshape(n_clusters, -1))
        masses = np.sum([masses for _, masses in parts], axis=0)
        return ClusterTables(counts, masses, self._table_shape, self.resolution)

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        if not self._tables_fit(clusters):
            return super().best_members(clusters)
        tables = clusters.padded

        def find(some: Superblocks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            found = np.full((2, len(clusters)), -1)
            rows = self._blocked.order, self._labels, self._units
            label_kernels.best_members(self._layout, some, *rows, tables, block_scores(), *found)
            return found[0], found[1]

        found: list[Candidate | None] = [None] * len(clusters)
        for places, scores in self._map_superblocks(find):
            for cluster in np.flatnonzero(places >= 0).tolist():
                place = int(places[cluster])
                row, units = int(self._blocked.order[place]), int(self._units[place])
                candidate = Candidate(row, int(scores[cluster]), units)
                found[cluster] = better_candidate(found[cluster], candidate)
        return found

    def members(self, cluster: int) -> Members:
        places = np.flatnonzero(self._labels == cluster)
        numbers = self._blocked.order[places]
        rising = np.argsort(numbers)
        return Members(numbers[rising], self._steps[places[rising]])

    def restore(self, members: Members, cluster: int) -> None:
        places = self._places_of(members.rows)
        self._labels[places] = cluster
        self._steps[places] = members.steps
        blocks, bits = np.divmod(places, BLOCK)
        np.bitwise_and.at(self._open, blocks, ~(np.uint64(1) << bits.astype(np.uint64)))
        self._count_open()

    def row_results(self, clusters: ClusterTables) -> RowResults:
        if not self._tables_fit(clusters):
            return self._row_results_one_by_one(clusters)
        tables, n_rows = clusters.padded, len(self._labels)
        denominators = self.resolution * clusters.masses
        results = RowResults(
            np.empty(n_rows, np.int64), np.empty(n_rows), np.empty(n_rows, np.int32)
        )

        def fill(some: Superblocks) -> None:
            label_kernels.row_results(
                self._layout,
                some,
                self._blocked.order,
                self._labels,
                self._steps,
                tables,
                denominators,
                block_scores(),
                *results,
            )

        for _ in self._map_superblocks(fill):
            pass
        return results

    def _rows_to_judge(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        if rule.offsets is None or not self._tables_fit(clusters):
            return super()._rows_to_judge(rule, clusters, sources)
        offsets, tables = rule.offsets, clusters.padded
        denominators = self.resolution * clusters.masses
        closeness = tables * (2 / denominators)[:, np.newaxis, np.newaxis]
        content, own_low = np.empty((2, len(self._open)), dtype=np.int64)

        def judge(some: Superblocks) -> None:
            label_kernels.judge_blocks(
                self._layout,
                some,
                self._labels,
                tables,
                clusters.by_cell.indptr,
                clusters.by_cell.indices,
                closeness,
                offsets,
                np.full(len(clusters), -1),
                content,
                own_low,
            )

        for _ in self._map_superblocks(judge):
            pass
        sure = np.flatnonzero(content >= 0)
        weakest = np.full(len(clusters), UNKNOWN)
        label_kernels.weakest_rows(
            self._layout,
            sure[np.argsort(own_low[sure], kind="stable")],
            content,
            own_low,
            tables,
            len(self._labels),
            block_scores(),
            weakest,
        )
        weakest_staying = np.where(weakest < UNKNOWN, weakest / denominators, np.inf)
        unsure = np.flatnonzero(content < 0)
        rows = (unsure[:, np.newaxis] * BLOCK + np.arange(BLOCK)).ravel()
        rows = rows[rows < len(self._labels)]
        return rows[sources[self._labels[rows]]], np.append(weakest_staying, np.inf)

    def _cluster_scores(self, rows: NDArray[np.intp], clusters: ClusterTables) -> NDArray[np.int64]:
        if lists_are_faster(self._blocked, clusters) or not self._tables_fit(clusters):
            return super()._cluster_scores(rows, clusters)
        scores = np.empty((len(rows), len(clusters)), dtype=np.int64)
        label_kernels.cluster_scores(self._layout, rows, clusters.padded, block_scores(), scores)
        return scores

    def _cells_of(self, rows: NDArray[np.intp]) -> Cells:
        return self._blocked.cells(rows)

    def _numbers_of(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        return self._blocked.order[places]

    def _places_of(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        return self._places[numbers].astype(np.intp)

    def _row_results_one_by_one(self, clusters: ClusterTables) -> RowResults:
        scores = np.zeros(len(self._labels), dtype=np.int64)
        for cluster, rows in enumerate(self._rows_by_cluster(len(clusters))):
            scores[rows] = self._scores(rows, clusters.table(cluster))
        # The last entry is for rows in no cluster, whose score is 0.
        sizes = np.append(self.resolution * clusters.masses, 1)
        similarities = scores / sizes[self._labels]
        return RowResults(*map(self._by_row_number, (self._labels, similarities, self._steps)))

    def _by_row_number(self, values: NDArray[Any]) -> NDArray[Any]:
        answer = np.empty_like(values)
        answer[self._blocked.order] = values
        return answer

    def _tables_fit(self, clusters: ClusterTables) -> bool:
        return tables_fit_in_memory(clusters, self._largest_tables_bytes)

    def _map_superblocks(
        self, work: Callable[[Superblocks], T], some: Superblocks | None = None
    ) -> Iterator[T]:
        superblocks = np.arange(len(self._n_open)) if some is None else some
        return map_superblocks(work, superblocks, self._n_jobs, self._superblocks_per_run)
