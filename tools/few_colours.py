"""Reduce the colours of the pictures on the pages, so that their files are small."""

from __future__ import annotations

from PIL import Image

COLOURS = 256
# Photographs have more colours. A diagram has fewer, and its legend may need rare ones.
MAX_COLOURS_OF_A_DIAGRAM = 20_000


def few_colours(picture: Image.Image, colours: int = COLOURS) -> Image.Image:
    """Return a picture with a palette; the palette of a diagram includes its rare colours."""
    picture = picture.convert("RGB")
    is_diagram = picture.getcolors(MAX_COLOURS_OF_A_DIAGRAM) is not None
    method = Image.Quantize.MAXCOVERAGE if is_diagram else Image.Quantize.MEDIANCUT
    return picture.quantize(colours, method=method, kmeans=2)
