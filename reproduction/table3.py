"""Table 3: Zhao Mengfu's Autumn Colors, segmented by colour."""

from __future__ import annotations

import numpy as np
from framework import Comparison, Outcome, Settings
from images import painting, segment, show_clusters, to_lab

TITLE = "Table 3: Autumn Colors"


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    image = painting(settings, "autumn_colors")
    colours = to_lab(image)
    settings.tell(0.1)
    coarse = segment(image, psi=8)
    show_clusters(
        outcome, settings, image, coarse, "table3_psi8", "Autumn Colors at psi 8, tau 0.1."
    )
    settings.tell(0.5)
    fine = segment(image, psi=24)
    show_clusters(
        outcome, settings, image, fine, "table3_psi24", "Autumn Colors at psi 24, tau 0.1."
    )
    largest = coarse.cluster_sizes_.max() / len(coarse.labels_)
    outcome.comparisons.append(
        Comparison(
            "psi 8: background and landscape come apart",
            "two distinctive clusters: the background (with the red stamps) and the landscape",
            f"{coarse.n_clusters_} clusters; the largest, the background, has {largest:.0%}",
            bool(coarse.n_clusters_ >= 2 and largest < 0.95),
        )
    )
    seals = _reddest_cluster(colours, fine.labels_)
    outcome.comparisons.append(
        Comparison(
            "psi 24: the red seals are a cluster",
            "a cluster of the red stamps (class 7)",
            f"cluster {seals['cluster']}: {seals['share']:.2%} of the pixels, of which "
            f"{seals['purity']:.0%} are red, and {seals['recall']:.0%} of all red ones",
            bool(seals["purity"] > 0.5 and seals["recall"] > 0.5),
        )
    )
    outcome.values = {
        "clusters_psi8": coarse.n_clusters_,
        "largest_share_psi8": largest,
        "seal_purity_psi24": seals["purity"],
        "seal_recall_psi24": seals["recall"],
    }
    outcome.notes.append(
        f"{image.shape[1]} x {image.shape[0]} pixels (the paper's copy has 2,005 x 500). Red means "
        "a of CIELAB above 5: the ink of the seals, and little else (some leaves and roofs)."
    )
    return outcome


def _reddest_cluster(colours: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return how well the cluster with the most red ink holds the red ink."""
    red = colours[:, 1] > 5
    members = labels >= 0
    red_members = np.bincount(labels[members & red], minlength=labels.max() + 1)
    sizes = np.bincount(labels[members])
    cluster = int((red_members**2 / np.maximum(sizes, 1)).argmax())
    return {
        "cluster": cluster,
        "share": sizes[cluster] / len(labels),
        "purity": red_members[cluster] / sizes[cluster],
        "recall": red_members[cluster] / max(1, red.sum()),
    }
