"""Streams of text files, decompressed if their extension says so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from .formats import COMPRESSIONS


@contextlib.contextmanager
def opened_stream(path: Path) -> Iterator[tuple[Any, Callable[[], float]]]:
    """Yield a stream of decompressed bytes, and a function that returns the fraction read."""
    size = max(1, path.stat().st_size)
    compression = COMPRESSIONS.get(path.suffix.lower())
    with pa.OSFile(str(path)) as raw:
        stream = pa.CompressedInputStream(raw, compression) if compression else raw

        def share() -> float:
            return 1.0 if raw.closed else min(1.0, raw.tell() / size)

        yield stream, share


def line_blocks(stream: Any, size: int) -> Iterator[bytes]:
    """Yield the bytes of a stream in blocks of whole lines; a block has about `size` bytes."""
    rest = b""
    while piece := stream.read(size):
        lines, newline, piece = piece.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = b""
        rest += piece
    if rest:
        yield rest
