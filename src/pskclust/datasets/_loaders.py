"""Loaders of the paper's data sets from a data folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

_VARIABLE = "PSKCLUST_DATA"
_MNIST = "mnist70k.npz"

_SIPU = (
    "It is on the clustering benchmark page http://www.cs.uef.fi/sipu/datasets/; the paper scales "
    "each column to [0, 1]."
)
# The file of each set, and a sentence on where to get it.
_PAPER_SETS = {
    "AC": ("paper/AC.npz", "It is published at https://github.com/zhuye88/IDKC."),
    "aggregation": ("paper/aggregation.npz", _SIPU),
    "spiral": ("paper/spiral.npz", _SIPU),
    "s3": ("paper/s3.npz", _SIPU),
    "4C": ("paper/4C.npz", "It is published at https://github.com/IsolationKernel/psKC."),
}
_PAINTINGS = {
    "autumn_colors": (
        "images/autumn_colors.png",
        "Zhao Mengfu's painting, in the National Palace Museum, Taipei, is in the public domain: "
        "see Wikimedia Commons.",
    ),
    "starry_night_over_the_rhone": (
        "images/starry_night_over_the_rhone.jpg",
        "Vincent van Gogh's painting, in the Musee d'Orsay, Paris, is in the public domain: see "
        "Wikimedia Commons.",
    ),
    "seeding_cc0": (
        "images/seeding_cc0.jpg",
        "It is a CC0 photograph of 5,312 x 2,988 pixels; any large photograph will do instead.",
    ),
}
_SHA256 = {
    "paper/4C.npz": "c540920ce4c45b659e9002d312c1a203f7eaed36097c5cc81de82cecab6f4535",
    "paper/AC.npz": "d97081bd1783ce79fde28d0e4208a793cb6a064df37e3ccd91c33df1863873a9",
    "paper/aggregation.npz": "c432708650ed91908c2fd9ac34cccb81b5fc2bad5ce2429ee3753ea72d58dfa8",
    "paper/s3.npz": "180cc694d0c295605361a00e12f39e962398037a6496cd4a6ea81cca20f056ba",
    "paper/spiral.npz": "deb0bcddec41ee0711e3f9c1837ad96591bbc351df4aa27e56e8a45884ce5298",
    _MNIST: "54ddfe01bb1284d50e5473a31c590ba0e723949b611ce6e7604f2e9473754d8a",
    "images/autumn_colors.png": "e5d025cd08f1b84ed642eb3bfa7578306fa54a98c406f0fd2bcfec9c6137fa84",
    "images/seeding_cc0.jpg": "a5634d1ab5e41a3568e92d4a894a500c92b891f9ff734e50bd224d6e185a605f",
    "images/starry_night_over_the_rhone.jpg": (
        "e3bc9426791ab044f2cfbb2958cac8e907bb685f2c5788e432e6e6b00c7a04d8"
    ),
}


def load_paper_set(
    name: str, folder: str | os.PathLike[str] | None = None, *, verify: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read one of the paper's artificial data sets from the data folder.

    Parameters
    ----------
    name : {"AC", "aggregation", "spiral", "s3", "4C"}
        Name of the set. The file is paper/NAME.npz, with arrays X and y.
    folder : str, path-like or None, default=None
        The data folder; None takes it from the environment variable PSKCLUST_DATA.
    verify : bool, default=True
        Refuse a file whose SHA-256 checksum is not the known one. Set this to False to read another
        version.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
        The rows.
    y : ndarray of int64, shape (n_samples,)
        Class of each row, numbered from 1.

    Raises
    ------
    FileNotFoundError
        If the data folder is not set or lacks the file. The message says where to get the file.
    ValueError
        If the checksum of the file is not the known one, or `name` is unknown.

    See Also
    --------
    make_ring_g : Generate a set like Ring-G of the paper, which was never published.
    load_mnist : Read the handwritten digits of MNIST.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from pskclust.datasets import load_paper_set
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "paper").mkdir()
    ...     np.savez(Path(folder, "paper", "4C.npz"), X=[[0, 1], [2, 3]], y=[1, 2])
    ...     X, y = load_paper_set("4C", folder, verify=False)
    >>> X.shape, y.tolist()
    ((2, 2), [1, 2])
    """
    file, source = _entry(name, _PAPER_SETS)
    with np.load(_verified(file, source, folder, verify)) as arrays:
        return arrays["X"].astype(np.float64), arrays["y"].astype(np.int64)


def load_mnist(
    folder: str | os.PathLike[str] | None = None, *, download: bool = False, verify: bool = True
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Read the 70,000 handwritten digits of MNIST from the data folder, or download them.

    Parameters
    ----------
    folder : str, path-like or None, default=None
        The data folder; None takes it from the environment variable PSKCLUST_DATA. The file is
        mnist70k.npz, with arrays X and y.
    download : bool, default=False
        If the file is missing, download it with ``sklearn.datasets.fetch_openml("mnist_784")``.
    verify : bool, default=True
        Refuse a file whose SHA-256 checksum is not the known one. Set this to False to read another
        version.

    Returns
    -------
    X : ndarray of uint8, shape (70000, 784)
        Pixels of each digit, row by row.
    y : ndarray of int64, shape (70000,)
        The digit of each row, 0 to 9.

    Raises
    ------
    FileNotFoundError
        If the data folder is not set or lacks the file. The message says where to get the file.
    ValueError
        If the checksum of the file is not the known one.

    See Also
    --------
    make_mnist8m_like : Generate any number of deformed digits.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from pskclust.datasets import load_mnist
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "mnist70k.npz"), X=np.zeros((2, 28, 28)), y=[5, 0])
    ...     X, y = load_mnist(folder, verify=False)
    >>> X.shape, y.tolist()
    ((2, 784), [5, 0])
    """
    source = 'Pass download=True to get it with sklearn.datasets.fetch_openml("mnist_784").'
    try:
        path = _verified(_MNIST, source, folder, verify)
    except FileNotFoundError:
        if not download:
            raise
        # This parser works without pandas.
        X, y = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
    else:
        with np.load(path) as arrays:
            X, y = arrays["X"], arrays["y"]
    return X.reshape(len(X), -1).astype(np.uint8, copy=False), y.astype(np.int64)


def load_painting(
    name: str, folder: str | os.PathLike[str] | None = None, *, verify: bool = True
) -> NDArray[np.uint8]:
    """Read a painting that the paper segments, or a large photograph, from the data folder.

    This function needs Pillow: ``pip install "pskclust[image]"``.

    Parameters
    ----------
    name : {"autumn_colors", "starry_night_over_the_rhone", "seeding_cc0"}
        Name of the picture; "seeding_cc0" is the photograph. The file is images/NAME.png or
        images/NAME.jpg.
    folder : str, path-like or None, default=None
        The data folder; None takes it from the environment variable PSKCLUST_DATA.
    verify : bool, default=True
        Refuse a file whose SHA-256 checksum is not the known one. Set this to False to read another
        version.

    Returns
    -------
    image : ndarray of uint8, shape (height, width, 3)
        Red, green and blue of each pixel.

    Raises
    ------
    FileNotFoundError
        If the data folder is not set or lacks the file. The message says where to get the file.
    ValueError
        If the checksum of the file is not the known one, or `name` is unknown.

    See Also
    --------
    pskclust.image.segment : Segment an image by the colours of its pixels.
    pskclust.image.read_image : Read any image file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from pskclust.datasets import load_painting
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "images").mkdir()
    ...     Image.new("RGB", (30, 20)).save(Path(folder, "images", "autumn_colors.png"))
    ...     image = load_painting("autumn_colors", folder, verify=False)
    >>> image.shape
    (20, 30, 3)
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            'load_painting needs pillow. Install it with: pip install "pskclust[image]"'
        ) from error
    file, source = _entry(name, _PAINTINGS)
    with Image.open(_verified(file, source, folder, verify)) as image:
        return np.array(image.convert("RGB"))


def _entry(name: str, known: dict[str, tuple[str, str]]) -> tuple[str, str]:
    if name not in known:
        raise ValueError(f"name={name!r} is not known. Use one of {', '.join(map(repr, known))}.")
    return known[name]


def _verified(file: str, source: str, folder: str | os.PathLike[str] | None, verify: bool) -> Path:
    """Return the path of a file in the data folder; raise an error if it fails the checks."""
    folder = folder or os.environ.get(_VARIABLE)
    if not folder:
        raise FileNotFoundError(
            f"{file} is read from a data folder, but none is set. Pass folder=... or set the "
            f"environment variable {_VARIABLE}. {source}"
        )
    path = Path(folder) / file
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {file} in the data folder {os.fspath(folder)!r}. Pass another folder=... "
            f"or set the environment variable {_VARIABLE}. {source}"
        )
    if verify:
        _check_sum(path, file)
    return path


def _check_sum(path: Path, file: str) -> None:
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != _SHA256[file]:
        raise ValueError(
            f"{path} is not the known {file}: its SHA-256 is {found}, not {_SHA256[file]}. "
            "Download it again, or pass verify=False to use it as it is."
        )
