"""Draw the pictures of docs/how-it-works.md.

python docs/make_method_pictures.py [--folder FOLDER]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt
from make_pictures import save_figure

from pskclust import PSKC, IsolationKernel
from pskclust.plotting import cluster_colours

PSI, TAU = 32, 0.01
COLOURS = cluster_colours(9)
DENSE_POINT, SPARSE_POINT = (0.0, 2.0), (7.5, 2.5)
# Similarities whose places are lines, and the widths of the lines.
LEVELS = {0.1: 0.8, 0.3: 1.4, 0.6: 2.2}
WINDOW = (-3.3, 11.4), (-3.2, 6.6)


def make_rows() -> np.ndarray:
    """Return a dense arc, a dense blob below it, and a sparse blob beside them."""
    rng = np.random.RandomState(3)
    angle = rng.uniform(0, np.pi, 700)
    arc = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle)]) + rng.normal(0, 0.15, (700, 2))
    blob = rng.normal((0, -1.2), 0.3, (300, 2))
    sparse = rng.normal((7.2, 1.8), 1.35, (260, 2))
    return rng.permutation(np.concatenate([arc, blob, sparse]))


def plane(n_columns: int = 420) -> tuple[np.ndarray, tuple[int, int]]:
    """Return points all over the window, and the shape of their grid."""
    (left, right), (bottom, top) = WINDOW
    n_rows = int(n_columns * (top - bottom) / (right - left))
    x, y = np.meshgrid(np.linspace(left, right, n_columns), np.linspace(bottom, top, n_rows))
    return np.column_stack([x.ravel(), y.ravel()]), x.shape


def panels(n_panels: int, height: float = 2.6) -> tuple[plt.Figure, list[plt.Axes]]:
    figure, axes = plt.subplots(
        1, n_panels, figsize=(9.4, height), layout="constrained", squeeze=False
    )
    for each in axes[0]:
        each.set(aspect="equal", xlim=WINDOW[0], ylim=WINDOW[1], xticks=[], yticks=[])
    return figure, list(axes[0])


def shade(axes: plt.Axes, values: np.ndarray, shape: tuple[int, int], **how: object) -> object:
    return axes.imshow(
        values.reshape(shape), origin="lower", extent=(*WINDOW[0], *WINDOW[1]), zorder=0, **how
    )


def draw_cells(X: np.ndarray, folder: Path) -> None:
    """Three random partitionings of the same rows."""
    kernel = IsolationKernel(psi=PSI, n_partitions=3, random_state=1).fit(X)
    points, shape = plane()
    figure, axes = panels(3)
    cells = kernel.cells(points)
    shuffled = np.random.RandomState(0).permutation(PSI)
    for number, each in enumerate(axes):
        shade(each, shuffled[cells[:, number]], shape, cmap="Pastel1", interpolation="nearest")
        each.contour(
            *(grid.reshape(shape) for grid in points.T),
            cells[:, number].reshape(shape),
            levels=np.arange(PSI) + 0.5,
            colors="white",
            linewidths=0.5,
        )
        each.scatter(*X.T, s=1.5, color="0.15", linewidths=0)
        each.set_title(f"partitioning {number + 1}", fontsize=10)
    save_figure(figure, folder / "method_cells.png")


def draw_kernel(X: np.ndarray, folder: Path) -> None:
    """Similarity of all places to two points: isolation kernel and Gaussian kernel."""
    points, shape = plane()
    kernel = IsolationKernel(psi=PSI, n_partitions=1000, random_state=0).fit(X)
    figure, axes = panels(2, height=3.4)
    for each, title in zip(axes, ("isolation kernel", "Gaussian kernel"), strict=True):
        each.scatter(*X.T, s=2, color="0.6", linewidths=0)
        each.set_title(title, fontsize=10)
        for point, colour in ((DENSE_POINT, COLOURS[0]), (SPARSE_POINT, COLOURS[3])):
            if title.startswith("iso"):
                values = kernel.similarity(points, [point])[:, 0]
            else:
                values = np.exp(-((points - point) ** 2).sum(axis=1) / 0.8)
            each.contour(
                *(grid.reshape(shape) for grid in points.T),
                values.reshape(shape),
                levels=[*LEVELS],
                colors=[colour],
                linewidths=[*LEVELS.values()],
            )
            each.scatter(*point, s=40, marker="X", color=[colour], edgecolors="white", zorder=3)
    lines = [
        plt.Line2D([], [], color="0.3", lw=width, label=level) for level, width in LEVELS.items()
    ]
    axes[0].legend(
        handles=lines, title="similarity", fontsize=8, title_fontsize=8, loc="lower right"
    )
    save_figure(figure, folder / "method_kernel.png")


def draw_set(X: np.ndarray, folder: Path) -> None:
    """Similarity of all places to each of the three clusters."""
    points, shape = plane()
    model = PSKC(psi=PSI, tau=TAU, n_partitions=300, random_state=0).fit(X)
    figure, axes = panels(model.n_clusters_)
    similarity = model.similarity(points)
    for cluster, each in enumerate(axes):
        shown = shade(each, similarity[:, cluster], shape, cmap="Blues", vmin=0, vmax=0.25)
        members = model.labels_ == cluster
        each.scatter(*X[~members].T, s=1.5, color="0.55", linewidths=0)
        each.scatter(*X[members].T, s=1.5, color=COLOURS[3], linewidths=0)
        each.contour(
            *(grid.reshape(shape) for grid in points.T),
            similarity[:, cluster].reshape(shape),
            levels=[TAU],
            colors="black",
            linestyles="dashed",
            linewidths=0.8,
        )
        each.set_title(f"G = cluster {cluster}, {members.sum()} rows", fontsize=10)
    figure.colorbar(shown, ax=axes, shrink=0.8, label="similarity to G", extend="max")
    save_figure(figure, folder / "method_set.png")


def draw_growth(X: np.ndarray, folder: Path) -> None:
    """Clusters found one after the other, the last at three moments."""
    model = PSKC(psi=PSI, tau=TAU, random_state=0, refine=False).fit(X)
    arc = model.n_clusters_ - 1
    last = model.n_iter_[arc]
    figure, axes = panels(4, height=2.2)
    for each, step in zip(axes, (None, 0, round(0.6 * last), last), strict=True):
        grown = model.labels_ < arc if step is None else model.labels_ >= 0
        if step is not None:
            grown &= (model.labels_ < arc) | (model.growth_step_ <= step)
        each.scatter(*X[~grown].T, s=2, color="0.75", linewidths=0)
        each.scatter(*X[grown].T, s=3, c=COLOURS[model.labels_[grown]], linewidths=0)
        seeds = model.seeds_[: arc if step is None else arc + 1]
        each.scatter(*X[seeds].T, s=45, marker="X", color="white", edgecolors="black", zorder=3)
        n_members = np.count_nonzero(grown & (model.labels_ == arc))
        title = f"{arc} clusters found" if step is None else f"step {step}: {n_members} rows"
        each.set_title(title, fontsize=10)
    save_figure(figure, folder / "method_growth.png")


def draw_refinement(folder: Path) -> None:
    """Two blobs that touch: the first cluster grows into the second, and gives rows back."""
    rng = np.random.RandomState(2)
    X = np.concatenate([rng.normal((0, 0), 0.8, (500, 2)), rng.normal((3.6, 0), 0.8, (500, 2))])
    before = PSKC(psi=8, tau=0.05, random_state=2, refine=False).fit(X)
    after = PSKC(psi=8, tau=0.05, random_state=2).fit(X)
    moved = before.labels_ != after.labels_
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.2), layout="constrained")
    for each, model, title in zip(axes, (before, after), ("grown", "refined"), strict=True):
        each.scatter(*X.T, s=6, c=COLOURS[model.labels_], linewidths=0)
        each.scatter(
            *X[moved].T,
            s=26,
            facecolors="none",
            edgecolors="black",
            linewidths=0.7,
            label=f"the {moved.sum()} rows that move",
        )
        each.set(aspect="equal", xticks=[], yticks=[])
        each.set_title(f"{title}: objective {model.objective_:.1f}", fontsize=10)
    axes[0].legend(fontsize=8, loc="upper left")
    save_figure(figure, folder / "method_refinement.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "pictures")
    folder = parser.parse_args().folder
    X = make_rows()
    for draw in (draw_cells, draw_kernel, draw_set, draw_growth):
        draw(X, folder)
    draw_refinement(folder)


if __name__ == "__main__":
    main()
