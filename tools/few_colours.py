"""Pictures of the pages in few colours, which makes their files small."""

from __future__ import annotations

from PIL import Image

COLOURS = 256
# A photograph has more; a diagram has fewer, and rare ones among them that a legend needs.
MAX_COLOURS_OF_A_DIAGRAM = 20_000


def few_colours(picture: Image.Image, colours: int = COLOURS) -> Image.Image:
    """Return a picture with a palette of its frequent colours, or of all kinds in a diagram."""
    picture = picture.convert("RGB")
    is_diagram = picture.getcolors(MAX_COLOURS_OF_A_DIAGRAM) is not None
    method = Image.Quantize.MAXCOVERAGE if is_diagram else Image.Quantize.MEDIANCUT
    return picture.quantize(colours, method=method, kmeans=2)
