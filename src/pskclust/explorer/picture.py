"""Pictures of fits on a plane, as PNG with a palette."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import optional
from .colours import Rgb, faint_colour, noise_colour, palette, ramp
from .fits import Fit
from .planes import ImagePlane, Plane
from .raster import EMPTY, Frame, Raster
from .subject import ImageSubject

MODES = ("clusters", "similarity", "distribution", "growth", "classes")
# A larger file is written again with half as many pixels in each direction.
MAX_BYTES = 380_000
_STRENGTHS = 6
_LEVELS = 36
_BANDS = 16
_GRID_STEP = 4
_MAX_GRID = 12_000
_WHITE = 255

# Entry of the palette for pixels without a row, which are transparent.
_NOTHING = 0


@dataclass(frozen=True, eq=False)
class Drawing:
    """A fit and the way to draw it."""

    fit: Fit
    colours: NDArray[np.int64]  # (k,) colour number of each cluster
    mode: str = "clusters"
    theme: str = "light"
    isolated: tuple[int, ...] = ()  # clusters to show alone
    step: int | None = None  # growth step to show; None for all steps

    @property
    def in_isolated(self) -> NDArray[np.bool_]:
        """Mask of the rows in the isolated clusters."""
        return np.isin(self.fit.labels, self.isolated)


class Picture(NamedTuple):
    """A PNG file and, if its colours stand for values, the largest of these values."""

    content: bytes
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Ink:
    """Colours, and the index of each row's colour."""

    colours: Rgb  # (m, 3)
    of_rows: NDArray[np.uint8]  # (n,) number of a colour


def draw(drawing: Drawing, plane: Plane, raster: Raster, frame: Frame, subject: Any) -> Picture:
    """Return the picture of a fit."""
    if drawing.mode == "distribution":
        return _distribution(drawing, plane, raster, frame, subject)
    on_image = isinstance(plane, ImagePlane)
    ink = _ink(drawing, subject, on_image)
    if drawing.isolated:
        raster = raster.over(drawing.in_isolated)
    # Pixels of an image are all drawn at full strength.
    n_strengths = 1 if on_image else min(_STRENGTHS, 255 // len(ink.colours))
    shown = raster.rows >= 0
    colour = ink.of_rows[np.where(shown, raster.rows, 0)].astype(np.int64)
    if raster.more_rows is not None:
        colour = _most_frequent(colour, ink.of_rows[np.maximum(raster.more_rows, 0)])
    strength = np.minimum(raster.strength.astype(np.int64) * n_strengths // 256, n_strengths - 1)
    numbers = np.where(shown, 1 + colour * n_strengths + strength, _NOTHING).astype(np.uint8)
    colours = np.repeat(ink.colours, n_strengths, axis=0)
    alpha = np.tile(255 * (np.arange(n_strengths) + 1) // n_strengths, len(ink.colours))
    return Picture(encode(numbers, colours, alpha), _high(drawing))


def original(image: ImageSubject, frame: Frame) -> bytes:
    """Return the original image as a PNG with up to 255 colours."""
    pil = optional("PIL.Image", "pskclust.explorer", "explore")
    height, width = image.numbers.shape
    box = frame.box
    across, down = frame.width / (box.right - box.left), frame.height / (box.bottom - box.top)
    left, right = max(0.0, box.left), min(float(width), box.right)
    top, bottom = max(0.0, box.top), min(float(height), box.bottom)
    numbers = np.full((frame.height, frame.width), _NOTHING, dtype=np.uint8)
    if left >= right or top >= bottom:
        return encode(numbers, image.few_colours, np.full(len(image.few_colours), 255))
    x, y = round((left - box.left) * across), round((top - box.top) * down)
    size = max(1, round((right - left) * across)), max(1, round((bottom - top) * down))
    size = min(size[0], frame.width - x), min(size[1], frame.height - y)
    # A smaller picture averages pixels; a larger one shows them as squares.
    how = pil.Resampling.BOX if across < 1 else pil.Resampling.NEAREST
    part: Any = pil.fromarray(image.shown).resize(size, how, (left, top, right, bottom))
    few: Any = pil.new("P", (1, 1))
    few.putpalette(image.few_colours.tobytes())
    found = np.asarray(part.quantize(palette=few, dither=pil.Dither.NONE))
    numbers[y : y + size[1], x : x + size[0]] = found + 1
    return encode(numbers, image.few_colours, np.full(len(image.few_colours), 255))


def encode(numbers: NDArray[np.uint8], colours: Rgb, alpha: NDArray[Any]) -> bytes:
    """Return a PNG with a palette whose entry 0 is transparent; a large picture is reduced."""
    pil = optional("PIL.Image", "pskclust.explorer", "explore")
    image: Any = pil.fromarray(numbers)
    image.putpalette(b"\0\0\0" + colours.tobytes())
    transparency = b"\0" + alpha.astype(np.uint8).tobytes()
    content = io.BytesIO()
    image.save(content, "PNG", compress_level=4, transparency=transparency)
    if content.tell() <= MAX_BYTES:
        return content.getvalue()
    return encode(_halved(numbers), colours, alpha)


def _high(drawing: Drawing) -> float | None:
    if drawing.mode == "similarity":
        return float(drawing.fit.model.similarities_.max(initial=0))
    return float(drawing.fit.n_steps) if drawing.mode == "growth" else None


def _ink(drawing: Drawing, subject: Any, on_image: bool) -> Ink:
    if drawing.mode == "similarity":
        values = drawing.fit.model.similarities_
        return _value_ink(drawing, values / max(values.max(initial=0), 1e-300))
    if drawing.mode == "growth" and drawing.step is None:
        steps = drawing.fit.growth_steps
        return _value_ink(drawing, 1 - np.maximum(steps, 0) / max(1, drawing.fit.n_steps))
    if drawing.mode == "classes":
        return _class_ink(drawing, subject)
    if on_image:
        return _image_ink(drawing, subject)
    return _group_ink(drawing, drawing.fit.labels, drawing.colours)


def _class_ink(drawing: Drawing, subject: Any) -> Ink:
    """Return the colours of known classes; rows without a class are grey."""
    if subject.classes is None:
        raise ValueError("no classes are known. Name their column with --label.")
    return _group_ink(drawing, subject.classes, np.arange(len(subject.class_names)))


def _group_ink(drawing: Drawing, numbers: NDArray[Any], colours_of: NDArray[np.int64]) -> Ink:
    """Return the colours of groups of rows by their `numbers`; -1 is grey."""
    theme = drawing.theme
    of_groups = palette(theme)
    noise, faint = len(of_groups), len(of_groups) + 1
    colours = np.concatenate([of_groups, [noise_colour(theme), faint_colour(theme)]])
    # Index -1 selects the last entry, the colour of noise.
    by_number = np.append(colours_of % len(of_groups), noise).astype(np.uint8)
    return Ink(colours.astype(np.uint8), _dimmed(drawing, by_number[numbers], faint))


def _image_ink(drawing: Drawing, subject: ImageSubject) -> Ink:
    """Return the mean colours of clusters; for isolated clusters, the original colours."""
    fit = drawing.fit
    white = np.full((1, 3), _WHITE, dtype=np.uint8)
    faint = np.array([faint_colour(drawing.theme)])
    if drawing.isolated:
        return _isolated_image_ink(drawing, subject, white)
    means = subject.segments(fit.model).colours
    # A palette has at most 256 entries, so the smallest clusters share a colour.
    last = min(len(means), 252)
    colours = np.concatenate([means[:last], white, faint]).astype(np.uint8)
    by_label = np.append(np.minimum(np.arange(fit.n_clusters), max(0, last - 1)), last)
    of_rows = by_label[fit.labels].astype(np.uint8)
    return Ink(colours, _dimmed(drawing, of_rows, last + 1))


def _isolated_image_ink(drawing: Drawing, subject: ImageSubject, white: Rgb) -> Ink:
    pil = optional("PIL.Image", "pskclust.explorer", "explore")
    member = drawing.in_isolated
    chosen = subject.values[member]
    of_rows = np.zeros(len(member), dtype=np.uint8)
    if not len(chosen):
        return Ink(white, of_rows)
    small: Any = pil.fromarray(chosen[np.newaxis]).quantize(250)
    of_rows[member] = np.asarray(small)[0] + 1
    few = np.array(small.getpalette(), dtype=np.uint8).reshape(-1, 3)
    return Ink(np.concatenate([white, few[:250]]), of_rows)


def _dimmed(drawing: Drawing, of_rows: NDArray[np.uint8], faint: int) -> NDArray[np.uint8]:
    """Return the colours of rows, faint if not isolated or not yet in a cluster."""
    fit = drawing.fit
    if drawing.isolated:
        of_rows = np.where(drawing.in_isolated, of_rows, faint).astype(np.uint8)
    if drawing.step is not None:
        steps = fit.growth_steps
        joined = (steps >= 0) & (steps <= drawing.step)
        of_rows = np.where(joined, of_rows, faint).astype(np.uint8)
    return of_rows


def _value_ink(drawing: Drawing, shares: NDArray[np.float64]) -> Ink:
    """Return colours for values from 0 to 1; noise is grey."""
    theme = drawing.theme
    colours = np.concatenate(
        [ramp(_LEVELS, theme), [noise_colour(theme), faint_colour(theme)]]
    ).astype(np.uint8)
    level = np.minimum((shares * _LEVELS).astype(np.int64), _LEVELS - 1)
    of_rows = np.where(drawing.fit.labels >= 0, level, _LEVELS).astype(np.uint8)
    if drawing.isolated:
        of_rows = np.where(drawing.in_isolated, of_rows, _LEVELS + 1)
    return Ink(colours, of_rows.astype(np.uint8))


def _distribution(
    drawing: Drawing, plane: Plane, raster: Raster, frame: Frame, subject: Any
) -> Picture:
    """Draw similarity over the plane (Definition 1) in bands of colour, with rows as dots."""
    step = _GRID_STEP
    while (frame.width // step + 1) * (frame.height // step + 1) > _MAX_GRID:
        step += 1
    shape = -(-frame.height // step), -(-frame.width // step)
    points = plane.grid(frame, step)
    dots, empty = raster.strength >= 128, np.zeros(raster.rows.shape, dtype=bool)
    if points is None:
        rows = np.maximum(raster.rows[::step, ::step].ravel(), 0)
        points = subject.rows(drawing.fit.settings)[rows]
        dots, empty = empty, raster.rows == EMPTY
    field = _enlarged(_similarities(drawing, points).reshape(shape), step, frame)
    high = float(field.max(initial=0))
    share = field / max(high, 1e-300)
    band = np.minimum((share * _BANDS).astype(np.int64), _BANDS - 1)
    colours = ramp(_BANDS, "light")
    dotted = (0.72 * colours + 0.28 * _WHITE).astype(np.uint8)
    numbers = np.where(empty, _NOTHING, 1 + band + _BANDS * dots).astype(np.uint8)
    content = encode(numbers, np.concatenate([colours, dotted]), np.full(2 * _BANDS, 255))
    return Picture(content, high)


def _most_frequent(first: NDArray[np.int64], others: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the most frequent colour within each pixel; ties go to the first."""
    places = [first, *others.astype(np.int64)]
    best, most = first, np.zeros(first.shape, dtype=np.int64)
    for place in places:
        votes = sum((place == other).astype(np.int64) for other in places)
        best = np.where(votes > most, place, best)
        most = np.maximum(votes, most)
    return best


def _similarities(drawing: Drawing, rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return each row's highest similarity to a cluster, or to an isolated one if there are any."""
    fit = drawing.fit
    if not fit.n_clusters:
        return np.zeros(len(rows))
    similarities = fit.model.similarity(rows)
    if drawing.isolated:
        similarities = similarities[:, fit.order[list(drawing.isolated)]]
    return np.asarray(similarities.max(axis=1))


def _enlarged(field: NDArray[np.float64], step: int, frame: Frame) -> NDArray[np.float64]:
    """Return values at all pixels, interpolated between the centres of squares."""
    pil = optional("PIL.Image", "pskclust.explorer", "explore")
    height, width = field.shape
    image: Any = pil.fromarray(field.astype(np.float32))
    large = image.resize((width * step, height * step), pil.Resampling.BILINEAR)
    return np.asarray(large, dtype=np.float64)[: frame.height, : frame.width]


def _halved(numbers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return every second pixel; for an empty pixel, a neighbour."""
    height, width = (side // 2 * 2 for side in numbers.shape)
    corners = [numbers[row:height:2, column:width:2] for row in (0, 1) for column in (0, 1)]
    small = corners[0].copy()
    for corner in corners[1:]:
        small = np.where(small == _NOTHING, corner, small)
    return small
