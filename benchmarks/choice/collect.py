"""Compute the candidates of every set, their evidence and their ARI, and keep them on disk.

    python benchmarks/choice/collect.py --data DIR [--sets "fcps_*" drawn_one_003] [--jobs 2]

Each draw of a set has a file in build/choice, which `fit.py` reads (iris.npz, iris~1.npz, ...).
Given sets and generated single clusters have sixteen draws, other generated sets one draw. Each
draw has its own kernels and halves.

Draws whose file exists are skipped, so an interrupted run can be continued. `--fresh` computes all
of them again, as is necessary after a change of candidates or evidence.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.random import RandomState
from sets import SINGLES, LabelledSet, all_sets, family_of, n_classes

from pskclust._choice.choose import MAX_ROWS
from pskclust._choice.consensus import Cut
from pskclust._choice.evidence import Candidate, Evidence, gather_evidence
from pskclust._choice.noise import find_noise
from pskclust._choice.pooling import MAX_DRAWS
from pskclust._choice.reassignment import reassigned_by
from pskclust._choice.sample import Sample
from pskclust._choice.scales import sizes_for
from pskclust._choice.similarity import draw_nested_cells, nearest_of, shared_cells
from pskclust._choice.split_tree import SplitTree
from pskclust._choice.stability import grow_trees, min_rows_for
from pskclust._utils.files import replacing
from pskclust._utils.parallel import one_blas_thread

FOLDER = Path(__file__).parents[2] / "build/choice"
N_PARTITIONS = 100
_DRAW = "~"


@dataclass(frozen=True, eq=False)
class Collected:
    """The candidates of a set, with their evidence and ARI."""

    name: str
    is_given: bool
    numbers: list[int]  # number of classes of each reference
    grown: Any  # as the package's Grown: n_rows, dimension, empty_gap, kind and psi of each tree
    evidence: Evidence
    ari: np.ndarray  # (c,) of each candidate, with the reference that fits it best
    ari_of_one: float  # ARI if all rows are one cluster
    same_class: list[np.ndarray]  # (s,) for each tree, see _same_class
    trees: list[tuple[np.ndarray, np.ndarray]]  # owners (s,) and leaves (n,) of each tree

    @property
    def family(self) -> str:
        return family_of(self.name)

    @property
    def set_name(self) -> str:
        """The name without the number of the draw."""
        return self.name.partition(_DRAW)[0]

    @property
    def is_first_draw(self) -> bool:
        return _draw_number(self.name) == 0

    @property
    def is_single(self) -> bool:
        """Whether all rows are one cluster."""
        return max(self.numbers) == 1

    @property
    def ceiling(self) -> float:
        """The ARI of the best candidate, including a single cluster of all rows."""
        return float(max(self.ari_of_one, self.ari.max(initial=-1)))

    @property
    def n_clusters(self) -> np.ndarray:
        return np.array([candidate.n_clusters for candidate in self.evidence.candidates])

    def cuts(self, numbers: np.ndarray) -> list[Cut]:
        """Return candidates as cuts of trees of the rows of the sample.

        The trees are new at each call, because what they compute about themselves takes memory.
        """
        trees = [
            SplitTree(each.tree.kind, each.tree.psi, owners, np.zeros(len(owners)), leaves, leaves)
            for each, (owners, leaves) in zip(self.grown.trees, self.trees, strict=True)
        ]
        some = [self.evidence.candidates[number] for number in numbers]
        return [Cut(trees[each.tree], each.n_clusters) for each in some]


def collect(each: LabelledSet, seed: int = 0) -> Collected:
    """Return the candidates of a sample of a set, with their evidence and their ARI.

    As in a fit, noise is first left out of the sample; in the ARI, noise rows count as one cluster.
    `seed` is the number of the draw. Of more than `MAX_ROWS` rows, each draw has its own sample,
    but the ARI is that of the rows of the first sample, which follow their nearest rows.
    """
    points, references = each.points, each.references
    rng = RandomState(seed)
    rows = _sampled(len(points), 0)
    with one_blas_thread:
        # Noise has its own random generator, so that trees do not depend on it.
        rule = find_noise(points[rows], RandomState((0, 2)))
        is_noise = rule(points[rows])
        kept, noise = rows[~is_noise], rows[is_noise]
        own = points[_sampled(len(points), seed)]
        own = own[~rule(own)]
        grown = grow_trees(Sample(own), sizes_for(own), N_PARTITIONS, rng)
        evidence = gather_evidence(grown)
        cells, psi = grown.placing_cells, grown.placing_centres.shape[1]
        trees = [each.tree for each in grown.trees]
        if seed and len(points) > MAX_ROWS:
            trees = [tree.over(nearest_of(points[kept], own)) for tree in trees]
            first = Sample(points[kept])
            drawn = draw_nested_cells(first.distances, first.near, [psi], N_PARTITIONS, rng)
            cells = drawn.cells[0]
    names = [np.unique(classes[classes > 0]) for classes in references]

    def ari(labels: np.ndarray) -> float:
        # Noise is one more cluster, after all others.
        found = np.append(labels, np.full(len(noise), labels.max() + 1))
        both = np.append(kept, noise)
        return max(
            _rand_index(_counts(found, classes[both], some, labels.max() + 2))
            for classes, some in zip(references, names, strict=True)
        )

    shared = shared_cells(cells, psi).astype(np.float32)
    counts = [_Counts.of(shared, tree) for tree in trees]

    def labels(candidate: Candidate) -> np.ndarray:
        """Return the clusters that a fit would have if it chose the candidate."""
        cut = trees[candidate.tree].cut(candidate.n_clusters)
        return reassigned_by(counts[candidate.tree], cut, len(cells), min_rows_for(len(kept)))

    return Collected(
        _name_of_draw(each.name, seed),
        each.is_given,
        [n_classes(classes[rows]) for classes in references],
        grown,
        evidence,
        np.array([ari(labels(candidate)) for candidate in evidence.candidates]),
        ari(np.zeros(len(kept), dtype=np.int64)),
        [_same_class(tree, references[0][kept], names[0]) for tree in trees],
        [(tree.owners, tree.leaves) for tree in trees],
    )


def _sampled(n_rows: int, draw: int) -> np.ndarray:
    """Return the rows of the sample of a draw, ascending."""
    return np.sort(RandomState((draw, 1)).permutation(n_rows)[:MAX_ROWS])


@dataclass(frozen=True, eq=False)
class _Counts:
    """Counts of the cells that rows share with clusters; fast if clusters are nearly cuts."""

    shared: np.ndarray  # (n, n) cells that pairs of rows share, whole numbers
    with_leaves: np.ndarray  # (n, l) the same for rows and leaves
    leaves: np.ndarray  # (n,) the leaf of each row
    first: np.ndarray  # (l,) a row of each leaf

    @classmethod
    def of(cls, shared: np.ndarray, tree: SplitTree) -> _Counts:
        _, first, leaves = np.unique(tree.leaves, return_index=True, return_inverse=True)
        return cls(shared, shared @ _members(leaves, len(first)), leaves, first)

    def __call__(self, labels: np.ndarray) -> np.ndarray:
        """Return the number of cells that each row shares with the rows of each cluster."""
        n_clusters, of_leaves = int(labels.max()) + 1, labels[self.first]
        counts = self.with_leaves @ _members(of_leaves, n_clusters)
        whole = of_leaves[self.leaves]
        moved = np.flatnonzero(labels != whole)
        change = _members(labels[moved], n_clusters) - _members(whole[moved], n_clusters)
        return (counts + self.shared[:, moved] @ change).astype(np.float64)


def _members(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return a table with 1 for the cluster of each row, (n, k)."""
    table = np.zeros((len(labels), n_clusters), dtype=np.float32)
    table[np.arange(len(labels)), labels] = 1
    return table


def _name_of_draw(name: str, draw: int) -> str:
    return f"{name}{_DRAW}{draw}" if draw else name


def _draw_number(name: str) -> int:
    return int(name.partition(_DRAW)[2] or 0)


def n_draws(each: LabelledSet) -> int:
    """Return how often a set is drawn.

    Numbers are fitted to the first draw, and scores are those of choices from one draw or more.
    """
    return MAX_DRAWS if each.is_given or each.family in SINGLES else 1


def _counts(
    labels: np.ndarray, classes: np.ndarray, names: np.ndarray, n_labels: int
) -> np.ndarray:
    """Return the number of rows with each label in each of the named classes."""
    counts = [np.bincount(labels[classes == name], minlength=n_labels) for name in names]
    return np.column_stack(counts)


def _same_class(tree: SplitTree, classes: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Return, for each split, the share of the pairs it separates that are of one class."""
    leaves = _counts(tree.leaves, classes, names, tree.n_nodes)
    table = tree.within.T.astype(np.float64) @ leaves
    one, other = table[tree.children[:, 0]], table[tree.children[:, 1]]
    pairs = one.sum(axis=1) * other.sum(axis=1)
    return (one * other).sum(axis=1) / np.maximum(pairs, 1)


def _rand_index(table: np.ndarray) -> float:
    """Return the adjusted Rand index of a contingency table."""

    def pairs(counts: np.ndarray) -> float:
        return float((counts * (counts - 1)).sum() / 2)

    n_rows = table.sum()
    both, one, other = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    by_chance, most = one * other / (n_rows * (n_rows - 1) / 2), (one + other) / 2
    return 1.0 if most == by_chance else (both - by_chance) / (most - by_chance)


def save(collected: Collected, folder: Path) -> None:
    """Write the collected data of a set to a file."""
    grown, evidence = collected.grown, collected.evidence
    arrays = {
        "is_given": collected.is_given,
        "numbers": collected.numbers,
        "n_rows": grown.n_rows,
        "dimension": grown.dimension,
        "empty_gap": grown.empty_gap,
        "kinds": [each.tree.kind for each in grown.trees],
        "psis": [each.tree.psi for each in grown.trees],
        "candidates": np.array(evidence.candidates).reshape(-1, 2),
        "cuts": evidence.cuts,
        "ari": collected.ari,
        "ari_of_one": collected.ari_of_one,
    }
    for number, (owners, leaves) in enumerate(collected.trees):
        arrays[f"splits_{number}"] = evidence.splits[number]
        arrays[f"same_class_{number}"] = collected.same_class[number]
        arrays[f"owners_{number}"] = owners
        arrays[f"leaves_{number}"] = leaves.astype(np.int16)
    with replacing(folder / f"{collected.name}.npz") as stream:
        np.savez_compressed(stream, **arrays)


def load(path: Path) -> Collected:
    """Read a file that `save` has written."""
    with np.load(path) as file:
        content = dict(file)
    kinds, psis = content["kinds"].tolist(), content["psis"].tolist()
    trees = [
        SimpleNamespace(tree=SimpleNamespace(kind=kind, psi=psi))
        for kind, psi in zip(kinds, psis, strict=True)
    ]
    numbers = range(len(trees))
    return Collected(
        path.stem,
        bool(content["is_given"]),
        content["numbers"].tolist(),
        SimpleNamespace(
            n_rows=int(content["n_rows"]),
            dimension=float(content["dimension"]),
            empty_gap=float(content["empty_gap"]),
            trees=trees,
        ),
        Evidence(
            [Candidate(*pair) for pair in content["candidates"].tolist()],
            content["cuts"],
            [content[f"splits_{number}"] for number in numbers],
        ),
        content["ari"],
        float(content["ari_of_one"]),
        [content[f"same_class_{number}"] for number in numbers],
        [(content[f"owners_{number}"], content[f"leaves_{number}"]) for number in numbers],
    )


def load_all(folder: Path) -> list[Collected]:
    """Read the files of all sets, generated sets first."""
    found = [load(path) for path in sorted(folder.glob("*.npz"))]
    return sorted(found, key=lambda each: (each.is_given, each.name))


def _collect_and_save(folder: Path, draw: tuple[LabelledSet, int]) -> str:
    started = time.perf_counter()
    try:
        # Several processes with several threads each would hinder each other.
        with one_blas_thread:
            collected = collect(*draw)
    except Exception:
        return f"{_name_of_draw(draw[0].name, draw[1])} FAILED\n{traceback.format_exc()}"
    save(collected, folder)
    return (
        f"{collected.name}: {collected.grown.n_rows} rows, {len(collected.ari)} candidates, "
        f"best {collected.ceiling:.3f}, {time.perf_counter() - started:.1f} s"
    )


def main() -> None:
    arguments = _arguments()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [
        (each, number)
        for each in all_sets(arguments.data)
        if any(fnmatch.fnmatch(each.name, pattern) for pattern in arguments.sets)
        for number in range(n_draws(each))
        if arguments.fresh or not (folder / f"{_name_of_draw(each.name, number)}.npz").exists()
    ]
    print(f"{len(chosen)} draws to collect into {folder}", flush=True)
    task = partial(_collect_and_save, folder)
    if arguments.jobs == 1:
        for each in chosen:
            print(task(each), flush=True)
    else:
        with ProcessPoolExecutor(arguments.jobs) as pool:
            for line in pool.map(task, chosen):
                print(line, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with benchmark/ and battery/")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="folder for the files")
    parser.add_argument("--sets", nargs="+", default=["*"], help="names or patterns of names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    parser.add_argument("--fresh", action="store_true", help="compute sets again whose file exists")
    return parser.parse_args()


if __name__ == "__main__":
    main()
