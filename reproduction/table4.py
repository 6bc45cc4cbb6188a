"""Table 4: Vincent van Gogh's Starry Night over the Rhone, segmented by colour."""

from __future__ import annotations

from framework import Comparison, Outcome, Settings
from images import painting, segment, show_clusters

TITLE = "Table 4: Starry Night over the Rhone"


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    image = painting(settings, "starry_night_over_the_rhone")
    settings.tell(0.2)
    model = segment(image, psi=16)
    settings.tell(0.7)
    show_clusters(
        outcome, settings, image, model, "table4", "Starry Night over the Rhone, psi 16, tau 0.1."
    )
    shares = model.cluster_sizes_ / len(model.labels_)
    outcome.comparisons.append(
        Comparison(
            "the night and the lights come apart",
            "clusters by colour: sky and water, lights, shore",
            f"{model.n_clusters_} clusters, shares "
            + ", ".join(f"{share:.1%}" for share in sorted(shares, reverse=True)[:6]),
            bool(model.n_clusters_ >= 2),
        )
    )
    outcome.values = {"clusters": model.n_clusters_, "largest_share": float(shares.max())}
    outcome.notes.append(
        f"{image.shape[1]} x {image.shape[0]} pixels; the paper's copy has 932 x 687, and is "
        "another photograph of the painting."
    )
    return outcome
