"""Table 3: Zhao Mengfu's Autumn Colors, segmented by colour, by psKC and by SGL."""

from __future__ import annotations

import numpy as np
from framework import Comparison, Outcome, Settings, table
from images import (
    Segments,
    coarser,
    has_a_landscape,
    painting,
    red_ink,
    segment,
    segment_by_sgl,
    separation,
    show_clusters,
    to_lab,
)

TITLE = "Table 3: Autumn Colors"
PLACES = {
    "Table 3": "psKC separates the background from the landscape, and with another psi the red "
    "stamps; SGL separates background and landscape less clearly and has red stamps in several "
    "clusters"
}
N_CLUSTERS = 2


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    image = painting(settings, "autumn_colors")
    colours = to_lab(image)
    coarse, fine = (Segments.of(segment(image, psi)) for psi in (8, 24))
    settings.tell(0.4)
    other = segment_by_sgl(image, N_CLUSTERS)
    colours_of_sgl = to_lab(coarser(image))
    settings.tell(0.8)
    for name, segments, shown, caption in (
        ("table3_psi8", coarse, image, "psKC at psi 8, tau 0.1."),
        ("table3_psi24", fine, image, "psKC at psi 24, tau 0.1."),
        ("table3_sgl", other, coarser(image), f"SGL with {N_CLUSTERS} clusters."),
    ):
        show_clusters(outcome, settings, shown, segments, name, f"Autumn Colors, {caption}")
    largest = coarse.sizes.max() / len(coarse.labels)
    apart = {"psKC": separation(colours, coarse), "SGL": separation(colours_of_sgl, other)}
    landscape = has_a_landscape(coarse.sizes, len(coarse.labels))
    seals = red_ink(colours, fine.labels)
    spread = _share_of_red(colours_of_sgl, other.labels)
    outcome.comparisons += [
        Comparison(
            "psi 8: background and landscape are separated",
            "two distinctive clusters: the background (with the red stamps) and the landscape",
            f"{len(coarse.sizes)} clusters; the largest, the background, has {largest:.0%}",
            landscape,
            "" if landscape else f"The largest cluster has {largest:.0%} of all pixels.",
        ),
        Comparison(
            "psi 24: the red seals are a cluster",
            "a cluster of the red stamps (class 7)",
            f"cluster {seals.cluster}: {seals.share:.2%} of the pixels, of which "
            f"{seals.purity:.0%} are red, and {seals.recall:.0%} of all red ones",
            seals.is_a_cluster,
            "" if seals.is_a_cluster else f"The cluster has {seals.recall:.0%} of the red ink.",
        ),
        Comparison(
            "SGL separates background and landscape less clearly than psKC",
            "yes",
            f"the two largest clusters differ in lightness by {apart['SGL']:.1f} standard "
            f"deviations, those of psKC by {apart['psKC']:.1f}",
            bool(apart["SGL"] < apart["psKC"]),
            "" if apart["SGL"] < apart["psKC"] else _by_lightness(apart),
        ),
        Comparison(
            "SGL has red stamps in several clusters",
            "yes",
            f"no cluster has more than {spread:.0%} of the red pixels",
            bool(spread < 0.95),
            "" if spread < 0.95 else f"{spread:.0%} of the red pixels are in one cluster of SGL.",
        ),
    ]
    outcome.findings["Table 3"] = (
        f"psi 8: {len(coarse.sizes)} clusters, the largest with {largest:.0%} of the pixels; psi "
        f"24: a cluster that is {seals.purity:.0%} red and has {seals.recall:.0%} of all red "
        f"pixels; SGL: at most {spread:.0%} of the red pixels in one cluster"
    )
    outcome.tables.append(_shares({"psKC, psi 8": coarse, "psKC, psi 24": fine, "SGL": other}))
    outcome.values = {
        "clusters_psi8": len(coarse.sizes),
        "largest_share_psi8": largest,
        "seal_purity_psi24": seals.purity,
        "seal_recall_psi24": seals.recall,
        "separation_psKC": apart["psKC"],
        "separation_SGL": apart["SGL"],
        "red_in_one_cluster_SGL": spread,
    }
    outcome.notes.append(
        f"{image.shape[1]} x {image.shape[0]} pixels (the paper's copy has 2,005 x 500). A pixel "
        "is red if its CIELAB coordinate a exceeds 5: the ink of the seals, and little else (some "
        "leaves and roofs). SGL is run on every second row and column."
    )
    return outcome


def _share_of_red(colours: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of all red pixels that lie in the cluster with the most of them."""
    counts = np.bincount(labels[colours[:, 1] > 5])
    return float(counts.max() / counts.sum())


def _by_lightness(apart: dict[str, float]) -> str:
    return (
        f"Given two clusters, SGL cuts the painting by lightness: {apart['SGL']:.1f} against "
        f"{apart['psKC']:.1f} standard deviations. The paper judges by eye."
    )


def _shares(found: dict[str, Segments]) -> str:
    rows = [
        [
            name,
            str(len(one.sizes)),
            ", ".join(f"{size / len(one.labels):.1%}" for size in np.sort(one.sizes)[::-1][:8]),
        ]
        for name, one in found.items()
    ]
    return table(["system", "clusters", "shares of the largest clusters"], rows)
