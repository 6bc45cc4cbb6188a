"""The result of segmenting an image, as arrays, pictures and files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._estimator import PSKC
from .._utils.files import replacing
from .._utils.optional import optional
from ._contact_sheet import Tile, contact_sheet
from ._label_map import label_map
from .pixels import WHITE


@dataclass(frozen=True, eq=False)
class Segmentation:
    """An image and its clusters.

    Attributes
    ----------
    image : ndarray of uint8, shape (height, width, 3)
        The image that was segmented, in eight bits.
    labels : ndarray of int32, shape (height, width)
        The cluster of each pixel, the largest cluster first; -1 for noise and for transparent
        pixels.
    colors : ndarray of uint8, shape (n_clusters, 3)
        The mean colour of each cluster.
    sizes : ndarray of int64, shape (n_clusters,)
        Number of pixels of each cluster.
    model : PSKC
        Fitted to the different colours; its clusters are in the order in which they were found.
    """

    image: NDArray[np.uint8]
    labels: NDArray[np.int32]
    colors: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    model: PSKC

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.colors)

    def __repr__(self) -> str:
        height, width = self.labels.shape
        noise = int(np.count_nonzero(self.labels < 0))
        return (
            f"Segmentation({width} x {height} pixels, {self.n_clusters} clusters, "
            f"{noise} pixels in none)"
        )

    def cutout(self, cluster: int) -> NDArray[np.uint8]:
        """Return the pixels of one cluster, all others white.

        Parameters
        ----------
        cluster : int

        Returns
        -------
        image : ndarray of uint8, shape (height, width, 3)
        """
        if not 0 <= cluster < self.n_clusters:
            raise ValueError(
                f"cluster={cluster} is not there. The image has clusters 0 to "
                f"{self.n_clusters - 1}."
            )
        member = (self.labels == cluster)[..., np.newaxis]
        return np.where(member, self.image, np.uint8(WHITE))

    def mean_color_image(self) -> NDArray[np.uint8]:
        """Return the image with each pixel in the mean colour of its cluster, others white."""
        white = np.full((1, 3), WHITE, dtype=np.uint8)
        painted: NDArray[np.uint8] = np.concatenate([self.colors, white])[self.labels]
        return painted

    def contact_sheet(self, max_clusters: int = 11) -> NDArray[np.uint8]:
        """Return one picture of the image and its largest clusters, each on white.

        Parameters
        ----------
        max_clusters : int, default=11

        Returns
        -------
        sheet : ndarray of uint8, shape (height, width, 3)
        """
        shown = min(max_clusters, self.n_clusters)
        name = "1 cluster" if self.n_clusters == 1 else f"{self.n_clusters} clusters"
        tiles = [Tile(lambda: self.image, name, None)]
        for cluster in range(shown):
            share = self.sizes[cluster] / self.labels.size
            tiles.append(
                Tile(
                    lambda cluster=cluster: self.cutout(cluster),  # type: ignore[misc]
                    f"cluster {cluster}: {share:.1%}",
                    self.colors[cluster],
                )
            )
        return contact_sheet(tiles)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        max_clusters: int | None = None,
    ) -> list[Path]:
        """Write the segmentation to a folder, which is made if it is not there.

        ``labels.npy`` holds the labels. ``labels.png`` is an image with a palette whose numbers
        are the labels: 255 is noise, and 254 stands for all clusters from there on.
        ``mean_color.png`` has each pixel in the mean colour of its cluster, ``cluster_0.png`` and
        so on are the clusters on white, and ``contact_sheet.png`` shows the largest together.

        Parameters
        ----------
        folder : str or path-like
        force : bool, default=False
            Replace files that exist.
        max_clusters : int or None, default=None
            Number of clusters to write on white, the largest first; None for all.

        Returns
        -------
        paths : list of Path
            The files written.

        Raises
        ------
        FileExistsError
            If one of the files exists and `force` is False. Nothing is written then.
        """
        target = Path(folder)
        writers = self._writers(max_clusters)
        paths = [target / name for name in writers]
        for path in paths:
            if path.exists() and not force:
                raise FileExistsError(f"{path} exists. Use force=True to replace it.")
        target.mkdir(parents=True, exist_ok=True)
        for path, write in zip(paths, writers.values(), strict=True):
            with replacing(path) as stream:
                write(stream)
        return paths

    def _writers(self, max_clusters: int | None) -> dict[str, Callable[[BinaryIO], None]]:
        """Return the function that writes each file, by the name of the file."""
        n_cutouts = self.n_clusters if max_clusters is None else min(max_clusters, self.n_clusters)
        digits = len(str(max(0, n_cutouts - 1)))
        writers: dict[str, Callable[[BinaryIO], None]] = {
            "labels.npy": lambda stream: np.save(stream, self.labels),
            "labels.png": lambda stream: _write_png(
                stream, *label_map(self.labels, self.n_clusters)
            ),
            "mean_color.png": lambda stream: _write_png(stream, self.mean_color_image()),
            "contact_sheet.png": lambda stream: _write_png(stream, self.contact_sheet()),
        }
        for cluster in range(n_cutouts):
            writers[f"cluster_{cluster:0{digits}}.png"] = lambda stream, cluster=cluster: (  # type: ignore[misc]
                _write_png(stream, self.cutout(cluster))
            )
        return writers


def _write_png(
    stream: BinaryIO, pixels: NDArray[np.uint8], palette: NDArray[np.uint8] | None = None
) -> None:
    image: Any = optional("PIL.Image", "pskclust.image", "image").fromarray(pixels)
    if palette is not None:
        image.putpalette(palette.tobytes())
    # Higher levels take several times as long for a few percent.
    image.save(stream, "PNG", compress_level=3)
