"""Image segmentation as in the paper: pixels as points in CIELAB, each cluster on white."""

from __future__ import annotations

import numpy as np
from framework import Outcome, Settings

from pskclust import PSKC
from pskclust.datasets import load_painting
from pskclust.plotting import cluster_colours

SHOWN_POINTS = 6_000


def to_lab(image: np.ndarray) -> np.ndarray:
    from skimage.color import rgb2lab

    return rgb2lab(image).reshape(-1, 3)


def segment(image: np.ndarray, psi: int, tau: float = 0.1, seed: int = 42) -> PSKC:
    """Return psKC fitted to the colours of an image, at the paper's other settings."""
    return PSKC(psi=psi, tau=tau, random_state=seed).fit(to_lab(image))


def on_white(image: np.ndarray, labels: np.ndarray, cluster: int) -> np.ndarray:
    """Return the pixels of one cluster, all others white."""
    member = (labels == cluster).reshape(image.shape[:2])
    return np.where(member[..., np.newaxis], image, 255).astype(np.uint8)


def show_clusters(
    outcome: Outcome, settings: Settings, image: np.ndarray, model: PSKC, name: str, caption: str
) -> None:
    """Draw the image, its largest clusters on white, and the clusters in colour space."""
    import matplotlib.pyplot as plt

    shares = model.cluster_sizes_ / len(model.labels_)
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
        pictures.append((title, on_white(image, model.labels_, cluster)))
    for ax in axes.flat:
        ax.axis("off")
    for ax, (title, picture) in zip(axes.flat, pictures, strict=False):
        ax.imshow(picture)
        ax.set_title(title, fontsize=9)
    outcome.picture(settings, f"{name}.png", figure, caption)
    outcome.picture(
        settings,
        f"{name}_colours.png",
        _colour_space(image, model),
        "The same pixels in CIELAB: as they are, and by cluster; noise in grey.",
    )


def _colour_space(image: np.ndarray, model: PSKC):
    import matplotlib.pyplot as plt

    lab = to_lab(image)
    shown = np.random.RandomState(0).choice(len(lab), min(SHOWN_POINTS, len(lab)), replace=False)
    figure = plt.figure(figsize=(10, 4.4), layout="constrained")
    labels = model.labels_[shown]
    colours = cluster_colours(model.n_clusters_)[labels]
    for place, (title, colour) in enumerate(
        (("pixels in their colours", image.reshape(-1, 3)[shown] / 255), ("clusters", colours)),
        start=1,
    ):
        ax = figure.add_subplot(1, 2, place, projection="3d")
        ax.scatter(lab[shown, 1], lab[shown, 2], lab[shown, 0], c=colour, s=4, linewidths=0)
        ax.set(xlabel="a", ylabel="b", zlabel="L", title=title)
    return figure


def painting(settings: Settings, name: str) -> np.ndarray:
    """Return a painting from the data folder."""
    return load_painting(name, folder=settings.data)
