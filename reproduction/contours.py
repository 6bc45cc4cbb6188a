"""Appendix A: contours of the Isolation Kernel and of a Gaussian kernel around one point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from framework import Comparison, Outcome, Settings
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import minmax_scale

from pskclust import IsolationKernel

TITLE = "Appendix: contours of two kernels"
PLACES = {
    "Figure 7": "contours of the Isolation Kernel reach farther into sparse regions; those of a "
    "Gaussian kernel are circles"
}
PSI, N_PARTITIONS, SIGMA = 10, 1000, 0.2
COLUMNS = "mean area", "mean concave points"
LEVELS = np.arange(0.1, 1, 0.1)

Similarity = Callable[[np.ndarray], np.ndarray]


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    X = _varied_density()
    centre = _nearest_row(X, np.percentile(X, 75, axis=0))
    kernel = IsolationKernel(psi=PSI, n_partitions=N_PARTITIONS, random_state=0).fit(X)
    kernels: dict[str, Similarity] = {
        "Isolation Kernel": lambda points: kernel.similarity(points, centre)[:, 0],
        "Gaussian kernel": lambda points: rbf_kernel(points, centre, 1 / (2 * SIGMA**2))[:, 0],
    }
    settings.tell(0.2)
    ratios = {name: elongation(X, centre, similarity) for name, similarity in kernels.items()}
    isolation, gaussian = ratios.values()
    outer, half = isolation[0], isolation[np.abs(LEVELS - 0.5).argmin()]
    longer = isolation > 1
    outcome.comparisons += [
        Comparison(
            "the outermost contour of the Isolation Kernel reaches farther into the sparse region",
            "elongated along the sparse region, compressed along the dense one",
            f"{outer:.2f} times as far as into the dense region",
            bool(outer > 1),
        ),
        Comparison(
            "each contour of the Isolation Kernel reaches farther into the sparse region",
            "yes",
            f"{longer.sum()} of {len(longer)} do; the contour at similarity 0.5 reaches "
            f"{half:.2f} times as far",
            bool(longer.all()),
            ""
            if longer.all()
            else f"{longer.sum()} of {len(longer)} contours reach farther; the others are close to "
            "the centre, where both sides are about equally dense.",
        ),
        Comparison(
            "contours of the Gaussian kernel are the same in all directions",
            "symmetrical",
            f"at most {gaussian.max():.2f} times as far into the sparse region",
            bool(np.abs(gaussian - 1).max() < 0.01),
        ),
    ]
    outcome.picture(
        settings,
        "contours.png",
        _figure(X, centre, kernels),
        "Contours of the similarity to the red point, from 0.1 to 0.9; dots are rows.",
    )
    outcome.findings["Figure 7"] = (
        f"the outermost contour of the Isolation Kernel reaches {outer:.2f} times as far into the "
        "sparse region as into the dense one, contours of the Gaussian kernel at most "
        f"{gaussian.max():.2f} times"
    )
    outcome.values = {
        "isolation_elongation_at_0.1": outer,
        "isolation_elongation_at_0.5": half,
        "gaussian_elongation": gaussian.max(),
    }
    outcome.notes.append(
        f"The paper does not name its data set. The data here is {COLUMNS[0]} and {COLUMNS[1]} of "
        "scikit-learn's breast cancer data, scaled to [0, 1]; psi is "
        f"{PSI}, t {N_PARTITIONS}, sigma {SIGMA}."
    )
    return outcome


def _varied_density() -> np.ndarray:
    """Return two columns of real data, dense at low values and sparse at high values."""
    data = load_breast_cancer()
    chosen = [data.feature_names.tolist().index(name) for name in COLUMNS]
    return minmax_scale(data.data[:, chosen])


def _nearest_row(X: np.ndarray, point: np.ndarray) -> np.ndarray:
    return X[[np.linalg.norm(X - point, axis=1).argmin()]]


def elongation(X: np.ndarray, centre: np.ndarray, similarity: Similarity) -> np.ndarray:
    """Return, for each contour, its reach into the sparse region over that into the dense one."""
    towards = np.median(X, axis=0) - centre
    towards /= np.linalg.norm(towards)
    distances = np.linspace(0, 1, 2001)[:, np.newaxis]
    dense, sparse = (
        [distances[found > level].max() for level in LEVELS]
        for found in (similarity(centre + sign * distances * towards) for sign in (1, -1))
    )
    return np.divide(sparse, dense)


def _figure(X: np.ndarray, centre: np.ndarray, kernels: dict[str, Similarity]):
    import matplotlib.pyplot as plt

    ticks = np.linspace(0, 1, 201)
    mesh = np.meshgrid(ticks, ticks)
    points = np.column_stack([axis.ravel() for axis in mesh])
    figure, axes = plt.subplots(
        1, 2, figsize=(10.5, 4.8), layout="constrained", sharex=True, sharey=True
    )
    for ax, (name, similarity) in zip(axes, kernels.items(), strict=True):
        ax.scatter(*X.T, s=4, color="black", linewidths=0, zorder=2)
        heights = similarity(points).reshape(mesh[0].shape)
        lines = ax.contour(*mesh, heights, LEVELS, cmap="viridis", vmin=0, vmax=1, linewidths=1.4)
        ax.scatter(*centre.T, s=60, color="red", edgecolor="white", zorder=3)
        ax.set(title=name, xlabel=COLUMNS[0], aspect="equal", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel(COLUMNS[1])
    figure.colorbar(lines, ax=axes, label="similarity to the red point")
    return figure
