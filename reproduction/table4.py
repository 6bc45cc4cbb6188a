"""Table 4: Vincent van Gogh's Starry Night over the Rhone, by psKC and by SGL."""

from __future__ import annotations

import numpy as np
from framework import Comparison, Outcome, Settings
from images import Segments, coarser, n_large, painting, segment, segment_by_sgl, show_clusters
from sklearn.metrics import adjusted_rand_score

TITLE = "Table 4: Starry Night over the Rhone"
PLACES = {"Table 4": "four clusters by colour; psKC and SGL have similar outcomes"}
N_CLUSTERS = 4
SIMILAR_ARI = 0.5


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    image = painting(settings, "starry_night_over_the_rhone")
    found = Segments.of(segment(image, psi=16))
    settings.tell(0.4)
    other = segment_by_sgl(image, N_CLUSTERS)
    settings.tell(0.7)
    name = "Starry Night over the Rhone"
    show_clusters(outcome, settings, image, found, "table4", f"{name}, psKC, psi 16, tau 0.1.")
    show_clusters(outcome, settings, coarser(image), other, "table4_sgl", f"{name}, SGL.")
    shares = np.sort(found.sizes)[::-1] / len(found.labels)
    n_shown = n_large(found.sizes, len(found.labels))
    labels = coarser(found.labels.reshape(image.shape[:2])).ravel()
    alike = float(adjusted_rand_score(labels, other.labels))
    outcome.comparisons += [
        Comparison(
            "clusters of psKC that have more than 0.5% of the pixels",
            "four are shown",
            f"{n_shown} of {len(shares)}, shares " + ", ".join(f"{x:.1%}" for x in shares[:6]),
            n_shown == N_CLUSTERS,
            "" if n_shown == N_CLUSTERS else f"At seed 42 there are {n_shown}; see Table 7.",
        ),
        Comparison(
            "SGL and psKC have similar outcomes",
            "similar",
            f"adjusted Rand index of the two {alike:.2f}",
            alike >= SIMILAR_ARI,
            ""
            if alike >= SIMILAR_ARI
            else f"The adjusted Rand index of psKC and SGL is {alike:.2f}, below the limit of "
            f"{SIMILAR_ARI}; the paper judges by eye.",
        ),
    ]
    outcome.findings["Table 4"] = (
        f"psKC: {n_shown} clusters with more than 0.5% of the pixels, the largest with "
        f"{shares[0]:.0%}; adjusted Rand index with SGL {alike:.2f}"
    )
    outcome.values = {
        "clusters": len(shares),
        "largest_share": float(shares[0]),
        "ari_with_SGL": alike,
    }
    outcome.notes.append(
        f"{image.shape[1]} x {image.shape[0]} pixels; the paper's copy has 932 x 687, and is "
        "another photograph of the painting. SGL is run on every second row and column."
    )
    return outcome
