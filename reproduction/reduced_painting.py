"""Figure 6: density peaks on Autumn Colors at a reduced resolution."""

from __future__ import annotations

import numpy as np
from framework import Comparison, Outcome, Settings, table
from images import Segments, painting, segment, separation, show_clusters, to_lab
from skimage.transform import resize
from sklearn.metrics import adjusted_rand_score

from pskclust.baselines import DensityPeaks

TITLE = "Figure 6: DP on the reduced painting"
PLACES = {
    "Figure 6": "on the painting reduced to the 90,000 pixels that DP can handle, DP does not "
    "clearly separate background and writing; psKC does"
}
N_PIXELS, FAST_PIXELS = 90_000, 5_000
# As shares of the largest distance; the paper's range is 0.001 to 0.4.
BANDWIDTHS, FAST_BANDWIDTHS = (0.01, 0.05, 0.2), (0.01, 0.2)


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    image = painting(settings, "autumn_colors")
    whole = Segments.of(segment(image, psi=8))
    small = reduced(image, FAST_PIXELS if settings.fast else N_PIXELS)
    colours = to_lab(small)
    span = float(np.linalg.norm(np.ptp(colours, axis=0)))
    # As reference, each reduced pixel gets the cluster of the whole painting at its place.
    numbers = np.arange(len(whole.labels)).reshape(image.shape[:2])
    places = [
        np.linspace(0, size - 1, n).round().astype(int)
        for size, n in zip(image.shape, small.shape, strict=False)
    ][:2]
    reference = whole.labels[numbers[np.ix_(*places)]].ravel()
    on_small = Segments.of(segment(small, psi=8))
    found = {"psKC": on_small}
    bandwidths = FAST_BANDWIDTHS if settings.fast else BANDWIDTHS
    for done, share in enumerate(bandwidths):
        model = DensityPeaks(n_clusters=2, bandwidth=share * span).fit(colours)
        found[f"DP, bandwidth {share}"] = Segments.of(model)
        settings.tell((done + 1) / len(bandwidths))
    apart = {name: separation(colours, one) for name, one in found.items()}
    alike = {name: adjusted_rand_score(reference, one.labels) for name, one in found.items()}
    best = max((name for name in found if name != "psKC"), key=lambda name: alike[name])
    less = bool(apart[best] < separation(to_lab(image), whole))
    outcome.comparisons.append(
        Comparison(
            "DP on the reduced painting separates background and writing less clearly than psKC "
            "on the whole painting",
            "yes",
            f"the two largest clusters differ in lightness by {apart[best]:.1f} standard "
            f"deviations ({best}), those of psKC by {separation(to_lab(image), whole):.1f}",
            less,
            "" if less else _as_clear(best, apart[best]),
        )
    )
    show_clusters(
        outcome,
        settings,
        small,
        found[best],
        "figure6",
        f"{best}, on {small.shape[1]} x {small.shape[0]} pixels.",
    )
    outcome.tables.append(_table(found, apart, alike))
    outcome.findings["Figure 6"] = (
        f"on {len(colours):,} pixels DP at its best ({best}) has an adjusted Rand index of "
        f"{alike[best]:.2f} with psKC on the whole painting; psKC on the reduced painting has "
        f"{alike['psKC']:.2f}"
    )
    outcome.values = {
        "ari_DP": alike[best],
        "ari_psKC": alike["psKC"],
        "separation_DP": apart[best],
    }
    return outcome


def reduced(image: np.ndarray, n_pixels: int) -> np.ndarray:
    """Return an image reduced to about `n_pixels`, each the mean of the pixels around it."""
    scale = np.sqrt(n_pixels / (image.shape[0] * image.shape[1]))
    shape = [round(size * scale) for size in image.shape[:2]]
    small = resize(image, (*shape, 3), anti_aliasing=True, preserve_range=True)
    return small.round().astype(np.uint8)


def _as_clear(best: str, value: float) -> str:
    return (
        f"With two clusters, DP also separates by lightness: {value:.1f} standard deviations "
        f"({best}). The paper judges by eye, and does not give the bandwidth."
    )


def _table(found, apart, alike) -> str:
    rows = [
        [
            name,
            str(len(one.sizes)),
            f"{one.sizes.max() / len(one.labels):.0%}",
            f"{apart[name]:.2f}",
            f"{alike[name]:.2f}",
        ]
        for name, one in found.items()
    ]
    head = [
        *("system", "clusters", "share of the largest", "separation in lightness"),
        "ARI with psKC on the whole painting",
    ]
    return table(head, rows)
