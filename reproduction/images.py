"""Image segmentation as in the paper: pixels are points in CIELAB, clusters are shown on white."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from framework import Outcome, Settings

from pskclust import PSKC
from pskclust.baselines import SGL
from pskclust.datasets import load_painting
from pskclust.plotting import cluster_colours

SHOWN_POINTS = 6_000
# SGL is run on every second row and column of a painting, to save time.
SGL_STEP = 2


def to_lab(image: np.ndarray) -> np.ndarray:
    from skimage.color import rgb2lab

    return rgb2lab(image).reshape(-1, 3)


def segment(image: np.ndarray, psi: int, tau: float = 0.1, seed: int = 42) -> PSKC:
    """Return a psKC model fitted to the colours of an image."""
    return PSKC(psi=psi, tau=tau, random_state=seed).fit(to_lab(image))


class Segments(NamedTuple):
    """The cluster of each pixel, -1 for noise, and the sizes of the clusters."""

    labels: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, model: Any) -> Segments:
        labels = model.labels_
        return cls(labels, np.bincount(labels[labels >= 0]))


def n_large(sizes: np.ndarray, n_pixels: int) -> int:
    """Return the number of clusters with more than 0.5% of the pixels; only these are shown."""
    return int((sizes > 0.005 * n_pixels).sum())


def has_a_landscape(sizes: np.ndarray, n_pixels: int) -> bool:
    """Return whether Autumn Colors has a cluster besides the background."""
    return bool(len(sizes) >= 2 and sizes.max() < 0.95 * n_pixels)


def coarser(pixels: np.ndarray) -> np.ndarray:
    """Return every second row and column of an image, or of an array with its shape."""
    return pixels[::SGL_STEP, ::SGL_STEP]


def segment_by_sgl(image: np.ndarray, n_clusters: int) -> Segments:
    """Return SGL's clusters of a coarser image, with parameters in the middle of the paper's."""
    model = SGL(n_clusters, n_anchors=40, alpha=1, beta=1e-3, random_state=42)
    return Segments.of(model.fit(to_lab(coarser(image))))


def separation(colours: np.ndarray, segments: Segments) -> float:
    """Return the difference in mean lightness of the two largest clusters over their deviation."""
    first, second = (
        colours[segments.labels == cluster, 0] for cluster in np.argsort(-segments.sizes)[:2]
    )
    spread = np.sqrt((first.var() + second.var()) / 2)
    return float(abs(first.mean() - second.mean()) / spread)


def on_white(image: np.ndarray, labels: np.ndarray, cluster: int) -> np.ndarray:
    """Return the image with all pixels outside one cluster white."""
    member = (labels == cluster).reshape(image.shape[:2])
    return np.where(member[..., np.newaxis], image, 255).astype(np.uint8)


def show_clusters(
    outcome: Outcome,
    settings: Settings,
    image: np.ndarray,
    segments: Segments,
    name: str,
    caption: str,
) -> None:
    """Draw the image, its largest clusters on white, and the clusters in colour space."""
    import matplotlib.pyplot as plt

    shares = segments.sizes / len(segments.labels)
    largest = [c for c in np.argsort(-shares, kind="stable")[:7] if shares[c] > 0.005]
    wide = image.shape[1] > 2 * image.shape[0]
    columns = 2 if wide else 3
    n_pictures = len(largest) + 1
    rows = -(-n_pictures // columns)
    height = rows * (1.6 if wide else 2.6) + 0.4
    figure, axes = plt.subplots(rows, columns, figsize=(11, height), layout="constrained")
    pictures = [("the painting", image)]
    for cluster in largest:
        title = f"cluster {cluster}: {shares[cluster]:.1%}"
        pictures.append((title, on_white(image, segments.labels, cluster)))
    for ax in axes.flat:
        ax.axis("off")
    for ax, (title, picture) in zip(axes.flat, pictures, strict=False):
        ax.imshow(picture)
        ax.set_title(title, fontsize=9)
    outcome.picture(settings, f"{name}.png", figure, caption)
    outcome.picture(
        settings,
        f"{name}_colours.png",
        _colour_space(image, segments),
        "The same pixels in CIELAB, in their own colours and by cluster; noise is grey.",
    )


def _colour_space(image: np.ndarray, segments: Segments):
    import matplotlib.pyplot as plt

    lab = to_lab(image)
    shown = np.random.RandomState(0).choice(len(lab), min(SHOWN_POINTS, len(lab)), replace=False)
    figure = plt.figure(figsize=(10, 4.4), layout="constrained")
    labels = segments.labels[shown]
    colours = cluster_colours(len(segments.sizes))[labels]
    for place, (title, colour) in enumerate(
        (("pixels in their colours", image.reshape(-1, 3)[shown] / 255), ("clusters", colours)),
        start=1,
    ):
        ax = figure.add_subplot(1, 2, place, projection="3d")
        ax.scatter(lab[shown, 1], lab[shown, 2], lab[shown, 0], c=colour, s=4, linewidths=0)
        ax.set(xlabel="a", ylabel="b", zlabel="L", title=title)
    return figure


class RedInk(NamedTuple):
    """The cluster that matches the red ink best, with its purity and recall."""

    cluster: int
    share: float  # of all pixels
    purity: float
    recall: float

    @property
    def is_a_cluster(self) -> bool:
        return bool(self.purity > 0.5 and self.recall > 0.5)


def red_ink(colours: np.ndarray, labels: np.ndarray) -> RedInk:
    """Return the cluster that matches the red ink best: pixels with a CIELAB `a` above 5."""
    red = colours[:, 1] > 5
    members = labels >= 0
    red_members = np.bincount(labels[members & red], minlength=labels.max() + 1)
    sizes = np.bincount(labels[members])
    cluster = int((red_members**2 / np.maximum(sizes, 1)).argmax())
    return RedInk(
        cluster,
        sizes[cluster] / len(labels),
        red_members[cluster] / sizes[cluster],
        red_members[cluster] / max(1, red.sum()),
    )


def painting(settings: Settings, name: str) -> np.ndarray:
    """Return a painting from the data folder; in a fast run, one in 16 of its pixels."""
    image = load_painting(name, folder=settings.data)
    return image[::4, ::4] if settings.fast else image
