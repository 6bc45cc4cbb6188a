"""Fuzz a reader of files with atheris, guided by code coverage.

    python -m tools.fuzz.run {table,image,model} [--seconds 300]

The script needs ``pip install atheris``. The corpus is small, generated, and kept in build/fuzz. If
an input makes a reader fail, it is saved there, and the exit code is not 0.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["pskclust", "zipfile"]):
    import pskclust
    from pskclust import image, tables

from tools.attack import inputs, models

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "build" / "fuzz"
_ENDINGS = tuple(inputs.FORMATS)
_PICTURES = (".png", ".ppm", ".gif", ".bmp", ".tiff", ".jpg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--seconds", type=int, default=300)
    arguments = parser.parse_args()
    seeds, read = READERS[arguments.reader]
    folder = CORPUS / arguments.reader
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds()):
        (folder / f"seed-{number:03}").write_bytes(content)
    warnings.simplefilter("ignore")
    options = [f"-max_total_time={arguments.seconds}", "-timeout=60", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], str(folder), f"-artifact_prefix={folder}-", *options], read)
    atheris.Fuzz()


def _in_a_file(content: bytes, ending: str, read: Callable[[Path], object]) -> None:
    """Read some bytes as a file; only errors that explain a refusal are allowed."""
    with tempfile.TemporaryDirectory(dir=inputs.MEMORY) as folder:
        path = Path(folder, f"file{ending}")
        path.write_bytes(content)
        try:
            read(path)
        except Exception as error:
            if not inputs.is_refusal(error):
                raise


def read_table(content: bytes) -> None:
    """Read a table; the first byte selects its format."""
    if content:
        ending = _ENDINGS[content[0] % len(_ENDINGS)]
        _in_a_file(content[1:], ending, tables.read_table)


def read_image(content: bytes) -> None:
    """Read an image; the first byte selects its extension."""
    if content:
        ending = _PICTURES[content[0] % len(_PICTURES)]
        _in_a_file(content[1:], ending, image.read_image)


def read_model(content: bytes) -> None:
    """Read a model."""
    _in_a_file(content, ".npz", pskclust.load)


def _tables() -> Iterator[bytes]:
    rng = np.random.RandomState(0)
    with tempfile.TemporaryDirectory() as folder:
        for number, ending in enumerate(_ENDINGS * 4):
            path = Path(folder, f"{number}{ending}")
            with contextlib.suppress(Exception):
                inputs.FORMATS[ending](path, rng)
                if path.stat().st_size < 20_000:
                    yield bytes([number % len(_ENDINGS)]) + path.read_bytes()


def _images() -> Iterator[bytes]:
    from PIL import Image

    pixels = np.random.RandomState(0).randint(0, 255, (5, 7, 3)).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        for number, ending in enumerate(_PICTURES):
            for mode in ("RGB", "L"):
                path = Path(folder, f"{mode}{ending}")
                Image.fromarray(pixels).convert(mode).save(path)
                yield bytes([number]) + path.read_bytes()


def _models() -> Iterator[bytes]:
    rng = np.random.RandomState(0)
    with tempfile.TemporaryDirectory() as folder:
        for parameters in models.KINDS.values():
            model = pskclust.PSKC(random_state=0, **{**parameters, "n_partitions": 2})
            model.fit(rng.randn(20, 2)).save(Path(folder, "model.npz"))
            yield Path(folder, "model.npz").read_bytes()


READERS = {
    "table": (_tables, read_table),
    "image": (_images, read_image),
    "model": (_models, read_model),
}

if __name__ == "__main__":
    main()
