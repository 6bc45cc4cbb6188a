"""Figure 2: the fall of similarity with the distance from a dense and from a sparse cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from figure1 import COLOURS, density_estimate, isolation_kernel
from framework import Comparison, Outcome, Settings

from pskclust.datasets import make_varied_densities

TITLE = "Figure 2: falling off the cliff"
PLACES = {
    "Figure 2": "similarity falls off faster from a dense cluster than from a sparse one",
    "Proposition 1": "K-hat falls off sharply outside a cluster, and faster from a denser cluster",
}
N_CORE, REACH = 50, 1.5


class Fall(NamedTuple):
    """The point where half of a similarity is left, and the mean slope up to it."""

    distance: float
    similarity: float
    slope: float


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    X, y = make_varied_densities(random_state=0)
    kernel = isolation_kernel(X)
    distances = np.linspace(0, REACH, 301)
    # Both walks lead into the gap between the two clusters, from opposite sides.
    curves = []
    for cluster, direction in ((1, 1), (2, -1)):
        core = densest(X[y == cluster])
        walk = core.mean() + direction * distances
        curves.append(kernel.point_set_similarity(walk[:, np.newaxis], [core])[:, 0])
        settings.tell(cluster / 2)
    dense, sparse = (fall(distances, curve) for curve in curves)
    outcome.comparisons.append(
        Comparison(
            "similarity falls faster with the distance from the dense cluster",
            "yes",
            f"down to half of it, by {dense.slope:.2f} per unit of distance, against "
            f"{sparse.slope:.2f} from the sparse cluster",
            dense.slope > sparse.slope,
        )
    )
    left = [float(curve[-1] / curve[0]) for curve in curves]
    outcome.comparisons.append(
        Comparison(
            "similarity falls off sharply",
            "yes",
            f"at distance {REACH} from the dense cluster, {left[0]:.0%} of it is left",
            left[0] < 0.1,
            place="Proposition 1",
        )
    )
    outcome.findings = {
        "Figure 2": f"slope {dense.slope:.2f} from the dense cluster, {sparse.slope:.2f} from the "
        "sparse one",
        "Proposition 1": f"at distance {REACH}, similarity to the dense cluster is {left[0]:.0%} "
        f"of that at distance 0; to the sparse one, {left[1]:.0%}",
    }
    outcome.picture(
        settings,
        "figure2.png",
        _figure(distances, curves, (dense, sparse)),
        "Similarity to the 50 densest rows of the dense cluster and of the sparse one, against the "
        "distance from them; circles mark where half of the similarity is left.",
    )
    outcome.values = {"dense_slope": dense.slope, "sparse_slope": sparse.slope}
    outcome.notes.append(
        "The data and the kernel are those of Figure 1. Distances are measured from the mean of "
        "the 50 rows, which replaces the paper's preimage of their mean embedding."
    )
    return outcome


def densest(rows: np.ndarray) -> np.ndarray:
    density = density_estimate(rows).score_samples(rows)
    return rows[np.argsort(-density, kind="stable")[:N_CORE]]


def fall(distances: np.ndarray, curve: np.ndarray) -> Fall:
    """Return where and how steeply a similarity falls to half of its value at distance 0."""
    half = int((curve <= curve[0] / 2).argmax())
    drop = curve[0] - curve[half]
    return Fall(distances[half], curve[half], float(drop / distances[half]))


def _figure(distances, curves, falls):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    labels = "x, from the dense $C^2$", "y, from the sparse $C^3$"
    for curve, one, label, colour, style in zip(
        curves, falls, labels, COLOURS[1:], ("-", "--"), strict=True
    ):
        ax.plot(distances, curve, style, color=colour, label=f"{label}: slope {-one.slope:.2f}")
        ax.plot(one.distance, one.similarity, "o", color=colour, markerfacecolor="white")
    ax.set(xlabel="distance from the cluster", ylabel=r"$\hat{K}$", xlim=(0, REACH), ylim=(0, None))
    ax.legend(frameon=False)
    return figure
