"""Contact sheet: pictures side by side, each with a caption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import optional
from .pixels import WHITE

_WIDTH, _GAP = 1600, 16
_FONT_SIZE, _CAPTION_HEIGHT = 16, 30
_PAPER, _INK, _FRAME = (WHITE, WHITE, WHITE), (40, 40, 40), (205, 205, 205)


class Tile(NamedTuple):
    """One picture of a contact sheet: a function that returns it, and its caption and swatch."""

    picture: Callable[[], NDArray[np.uint8]]
    caption: str
    colour: NDArray[np.uint8] | None  # of the swatch; None draws no swatch


def contact_sheet(tiles: Sequence[Tile]) -> NDArray[np.uint8]:
    """Return a contact sheet of pictures of the same size."""
    pil = optional("PIL.Image", "pskclust.image", "image")
    draw_module = optional("PIL.ImageDraw", "pskclust.image", "image")
    font = optional("PIL.ImageFont", "pskclust.image", "image").load_default(_FONT_SIZE)
    height, width = tiles[0].picture().shape[:2]
    columns = min(len(tiles), 2 if width > 2 * height else 3 if 2 * width > height else 4)
    step = max(1, -(-columns * width // _WIDTH))
    tile_width, tile_height = -(-width // step), -(-height // step)
    # A caption needs a minimum width, even under a small picture.
    across = max(tile_width, 170) + _GAP
    down = tile_height + _CAPTION_HEIGHT + _GAP
    rows = -(-len(tiles) // columns)
    sheet = pil.new("RGB", (columns * across + _GAP, rows * down + _GAP), _PAPER)
    draw = draw_module.Draw(sheet)
    for number, tile in enumerate(tiles):
        left, top = _GAP + number % columns * across, _GAP + number // columns * down
        small = pil.fromarray(tile.picture()).reduce(step)
        sheet.paste(small, (left, top))
        frame = (left - 1, top - 1, left + tile_width, top + tile_height)
        draw.rectangle(frame, outline=_FRAME)
        _write_caption(draw, font, left, top + tile_height, tile)
    return np.asarray(sheet)


def _write_caption(draw: Any, font: Any, left: int, top: int, tile: Tile) -> None:
    middle = top + _CAPTION_HEIGHT // 2 + 1
    if tile.colour is not None:
        half = _FONT_SIZE // 2
        swatch = (left, middle - half, left + 2 * half, middle + half)
        draw.rectangle(swatch, fill=tuple(tile.colour.tolist()), outline=_FRAME)
        left += 2 * half + 8
    draw.text((left, middle), tile.caption, fill=_INK, font=font, anchor="lm")
