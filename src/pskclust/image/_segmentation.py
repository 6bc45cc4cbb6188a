"""Segmentation: the segments of an image as arrays, pictures and files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._estimator import PSKC
from .._utils.files import replacing
from .._utils.optional import optional
from .._utils.wording import percentage
from ._contact_sheet import Tile, contact_sheet
from ._label_map import label_map
from .pixels import WHITE

_CLUSTER_FILE = re.compile(r"cluster_[0-9]+\.png")


@dataclass(frozen=True, eq=False)
class Segmentation:
    """Segmentation of an image, as :func:`segment` returns it.

    Attributes
    ----------
    image : ndarray of uint8, shape (height, width, 3)
        The image in 8 bits, white where it is transparent.
    labels : ndarray of int32, shape (height, width)
        Cluster of each pixel, numbered by size from 0, the largest cluster; -1 for noise and for
        transparent pixels.
    colors : ndarray of uint8, shape (n_clusters, 3)
        Mean colour of each cluster.
    sizes : ndarray of int64, shape (n_clusters,)
        Number of pixels of each cluster.
    model : PSKC
        The fitted model. Its rows are the different colours, or the opaque pixels if `position` was
        above 0. It may number clusters in another order.
    n_clusters : int
        Number of clusters.

    See Also
    --------
    segment : Segment an image by the colours of its pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.image import segment
    >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
    >>> flag[:, :10] = 200, 30, 30
    >>> segmentation = segment(flag, psi=8, tau=0.5, random_state=0)
    >>> segmentation
    Segmentation(30 x 20 pixels, 2 clusters, 0 pixels in no cluster)
    >>> segmentation.labels[0, 0], segmentation.labels[0, -1]
    (np.int32(1), np.int32(0))
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
            f"{noise} pixels in no cluster)"
        )

    def cutout(self, cluster: int) -> NDArray[np.uint8]:
        """Return the pixels of one cluster on a white background.

        Parameters
        ----------
        cluster : int
            Number of the cluster, 0 to n_clusters - 1.

        Returns
        -------
        image : ndarray of uint8, shape (height, width, 3)
            The image, white outside the cluster.

        Raises
        ------
        ValueError
            If there is no such cluster.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.image import segment
        >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
        >>> flag[:, :10] = 200, 30, 30
        >>> segmentation = segment(flag, psi=8, tau=0.5, random_state=0)
        >>> segmentation.cutout(1)[0, [0, -1]].tolist()
        [[200, 30, 30], [255, 255, 255]]
        """
        if not 0 <= cluster < self.n_clusters:
            known = f"clusters 0 to {self.n_clusters - 1}" if self.n_clusters else "no clusters"
            raise ValueError(f"cluster={cluster} does not exist. The image has {known}.")
        member = (self.labels == cluster)[..., np.newaxis]
        return np.where(member, self.image, np.uint8(WHITE))

    def mean_color_image(self) -> NDArray[np.uint8]:
        """Return the image with each pixel in the mean colour of its cluster.

        Returns
        -------
        image : ndarray of uint8, shape (height, width, 3)
            The mean colours; white for noise and transparent pixels.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.image import segment
        >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
        >>> flag[:, :10] = 200, 30, 30
        >>> segmentation = segment(flag, psi=8, tau=0.5, random_state=0)
        >>> segmentation.mean_color_image()[0, 0].tolist()
        [200, 30, 30]
        """
        white = np.full((1, 3), WHITE, dtype=np.uint8)
        painted: NDArray[np.uint8] = np.concatenate([self.colors, white])[self.labels]
        return painted

    def contact_sheet(self, max_clusters: int = 11) -> NDArray[np.uint8]:
        """Return one picture of the image and its largest clusters, each on a white background.

        Parameters
        ----------
        max_clusters : int, default=11
            Largest number of clusters to show, 0 or more.

        Returns
        -------
        sheet : ndarray of uint8, shape (height, width, 3)
            The pictures side by side, with captions.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.image import segment
        >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
        >>> flag[:, :10] = 200, 30, 30
        >>> segmentation = segment(flag, psi=8, tau=0.5, random_state=0)
        >>> segmentation.contact_sheet().dtype
        dtype('uint8')
        """
        shown = min(max_clusters, self.n_clusters)
        name = "1 cluster" if self.n_clusters == 1 else f"{self.n_clusters} clusters"
        tiles = [Tile(lambda: self.image, name, None)]
        for cluster in range(shown):
            share = self.sizes[cluster] / self.labels.size
            tiles.append(
                Tile(
                    lambda cluster=cluster: self.cutout(cluster),  # type: ignore[misc]
                    f"cluster {cluster}: {percentage(share)}",
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
        """Write the segmentation to files in a folder.

        | file | content |
        |---|---|
        | labels.npy | the labels |
        | labels.png | the labels as an image; 255 is noise, 254 is any label above 253 |
        | mean_color.png | each pixel in the mean colour of its cluster |
        | cluster_0.png, ... | the pixels of each cluster on a white background |
        | contact_sheet.png | the image and its largest clusters side by side |

        Parameters
        ----------
        folder : str or path-like
            The folder; it is created if it does not exist.
        force : bool, default=False
            Replace existing files, and delete files such as cluster_5.png of an earlier
            segmentation that had more clusters.
        max_clusters : int or None, default=None
            Largest number of cluster files to write; the largest clusters are written. None writes
            a file for each cluster. Set it if there are very many clusters.

        Returns
        -------
        paths : list of Path
            Paths of the files that were written.

        Raises
        ------
        FileExistsError
            If one of the files exists and `force` is False. In this case, nothing is written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import numpy as np
        >>> from pskclust.image import segment
        >>> flag = np.zeros((20, 30, 3), dtype=np.uint8)
        >>> flag[:, :10] = 200, 30, 30
        >>> segmentation = segment(flag, psi=8, tau=0.5, random_state=0)
        >>> with TemporaryDirectory() as folder:
        ...     print([path.name for path in segmentation.save(folder)][:3])
        ['labels.npy', 'labels.png', 'mean_color.png']
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
        for path in target.iterdir():
            if _CLUSTER_FILE.fullmatch(path.name) and path not in paths:
                path.unlink()
        return paths

    def _writers(self, max_clusters: int | None) -> dict[str, Callable[[BinaryIO], None]]:
        """Return a mapping from each file name to the function that writes the file."""
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
    # Higher compression levels take several times as long and save only a few percent.
    image.save(stream, "PNG", compress_level=3)
