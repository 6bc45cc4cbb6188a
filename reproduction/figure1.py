"""Figure 1: the density of a data set beside its similarity distribution."""

from __future__ import annotations

import numpy as np
from framework import Comparison, Outcome, Settings
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from pskclust import IsolationKernel
from pskclust.datasets import make_varied_densities

TITLE = "Figure 1: density and similarity of three clusters"
PLACES = {"Figure 1": "K-hat has a sharper valley between dense clusters than the density"}
PSI, N_PARTITIONS = 16, 1000
COLOURS = "#0072b2", "#d55e00", "#009e73"


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    X, y = make_varied_densities(random_state=0)
    line = np.linspace(X.min() - 0.3, X.max() + 0.3, 1500)
    kde = density_estimate(X)
    settings.tell(0.6)
    density = np.exp(kde.score_samples(line[:, np.newaxis]))
    similarity = similarity_distribution(X, y, line)
    centres = [float(np.median(X[y == cluster])) for cluster in range(3)]
    depths = [valley(line, curve, *centres[:2])[0] for curve in (density, similarity)]
    widths = [valley(line, similarity, *pair)[1] for pair in (centres[:2], centres[1:])]
    outcome.comparisons += [
        Comparison(
            "the valley between the dense clusters is deeper in similarity than in density",
            "yes",
            f"{depths[1]:.0%} of the lower peak in similarity, {depths[0]:.0%} in density",
            depths[1] > depths[0],
        ),
        Comparison(
            "in similarity, the valley between the dense clusters is sharper than the valley "
            "between a dense cluster and the sparse one",
            "yes, significantly",
            f"width at half the depth: {widths[0]:.2f} against {widths[1]:.2f}",
            widths[0] < widths[1],
        ),
    ]
    outcome.picture(
        settings,
        "figure1.png",
        _figure(X, y, line, density, similarity),
        "Left, the density by a Gaussian kernel estimator; right, the similarity K-hat to the most "
        "similar of the three clusters. The strokes below the curves mark the rows.",
    )
    outcome.findings["Figure 1"] = (
        f"depth of the valley between dense clusters: {depths[1]:.0%} of the lower peak in "
        f"similarity, {depths[0]:.0%} in density; its width in similarity: {widths[0]:.2f}, "
        f"against {widths[1]:.2f} for the valley beside the sparse cluster"
    )
    outcome.values = {
        "density_valley": depths[0],
        "similarity_valley": depths[1],
        "dense_valley_width": widths[0],
        "sparse_valley_width": widths[1],
    }
    outcome.notes.append(
        f"The paper gives neither rows nor settings: {len(X):,} rows are generated, with the dense "
        "clusters three standard deviations apart. The bandwidth of the density, "
        f"{kde.bandwidth_:.2f}, has the highest likelihood in cross-validation; psi is {PSI}, t "
        f"{N_PARTITIONS}. K-hat is given the clusters, the density is not. For dense clusters much "
        "farther apart, the density also falls to nearly nothing between them, and its valley is "
        "the deeper of the two."
    )
    return outcome


def density_estimate(X: np.ndarray) -> KernelDensity:
    """Return a Gaussian kernel density estimator, its bandwidth chosen by cross-validation."""
    bandwidths = {"bandwidth": np.geomspace(0.02, 0.5, 15)}
    return GridSearchCV(KernelDensity(), bandwidths, cv=5).fit(X).best_estimator_


def isolation_kernel(X: np.ndarray) -> IsolationKernel:
    return IsolationKernel(psi=PSI, n_partitions=N_PARTITIONS, random_state=0).fit(X)


def similarity_distribution(X: np.ndarray, y: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Return the K-hat of each point of the line with its most similar cluster (Definition 1)."""
    clusters = [X[y == cluster] for cluster in np.unique(y)]
    similarities = isolation_kernel(X).point_set_similarity(line[:, np.newaxis], clusters)
    return similarities.max(axis=1)


def valley(line: np.ndarray, curve: np.ndarray, left: float, right: float) -> tuple[float, float]:
    """Return a valley's depth, as a share of the lower peak, and its width at half the depth."""
    bottom = _nearest(line, left) + curve[(line >= left) & (line <= right)].argmin()
    left_peak = curve[_nearest(line, left - 0.2) : bottom].max()
    right_peak = curve[bottom : _nearest(line, right + 0.2)].max()
    lower_peak = min(left_peak, right_peak)
    high = np.flatnonzero(curve >= (lower_peak + curve[bottom]) / 2)
    width = line[high[high > bottom][0]] - line[high[high < bottom][-1]]
    return float(1 - curve[bottom] / lower_peak), float(width)


def _nearest(line: np.ndarray, place: float) -> int:
    return int(np.searchsorted(line, place))


def _figure(X, y, line, density, similarity):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for ax, curve, label in zip(
        axes, (density, similarity), ("density", r"largest $\hat{K}(x, G^j)$"), strict=True
    ):
        top = curve.max()
        ax.plot(line, curve, color="black", linewidth=1.2)
        for cluster, colour in enumerate(COLOURS):
            rows = X[y == cluster, 0]
            # Each cluster has its own line of strokes, because two clusters overlap.
            height = -0.05 * top * (cluster + 1)
            ax.plot(rows, np.full(len(rows), height), "|", color=colour, alpha=0.4, markersize=6)
            ax.annotate(
                f"$G^{cluster + 1}$", (line[0], height), color=colour, ha="right", va="center"
            )
        ax.set_yticks(ax.get_yticks()[ax.get_yticks() >= 0])  # the strokes are below zero
        ax.set(
            xlabel="x", ylabel=label, xlim=(line[0] - 0.6, line[-1]), ylim=(-0.2 * top, 1.05 * top)
        )
    axes[0].set_title("Density, by a Gaussian kernel estimator")
    axes[1].set_title(r"Similarity $\hat{K}$")
    return figure
