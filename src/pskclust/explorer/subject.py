"""Subjects of an explorer: the rows of a table, or the colours of an image."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.odd_columns import (
    ColumnHint,
    OddColumn,
    hints_on_columns,
    not_asked_for,
    odd_columns,
)
from .._data.rows import refuse_other_columns
from .._data.scaling import Preparation, mean_and_deviation
from .._utils.optional import optional
from ..image.colour_spaces import to_space
from ..image.pixels import Colours, Pixels, to_eight_bits
from ..image.segments import Segments
from ..tables.opening import open_table
from ..tables.reading import read_rows
from ..tables.selection import Selection, select
from ..tables.streaming import Call, ways_out
from .settings import Settings

# Seed of samples; the exported code draws the same sample.
SAMPLE_SEED = 0
# Finding the cells of a sample of this size, and drawing its picture, takes about a second.
DEFAULT_SAMPLE = 1_000_000
DEFAULT_SAMPLE_OF_MANY_COLUMNS = 100_000
_MANY_COLUMNS = 8
_PIXELS_FOR_FEW_COLOURS = 100_000
_SPACE_COLUMNS = {
    "lab": ("L", "a", "b"),
    "rgb": ("red", "green", "blue"),
    "hsv": ("saturation x cos(hue)", "saturation x sin(hue)", "value"),
}


class TypedCommand(NamedTuple):
    """The command that started the explorer."""

    changed: Callable[[Mapping[str, Any]], str]  # returns it with other values of options
    as_options: Callable[[str], str]  # writes parameters in a text as options
    hint_words: Callable[[ColumnHint], str]  # ends a hint in the option to add to pskclust fit


@dataclass(frozen=True)
class Origin:
    """The file of the data, and the options of ``pskclust fit`` that read it."""

    path: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    command: TypedCommand | None = None  # None if the explorer was started in Python


_NOWHERE = Origin()


@dataclass(frozen=True, eq=False)
class TableSubject:
    """Rows of a table. Of a large table, a sample is explored; exported labels cover all rows."""

    name: str
    columns: tuple[str, ...]
    everything: NDArray[Any]  # (n_rows, d)
    all_weights: NDArray[np.float64] | None = None  # (n_rows,)
    sample: NDArray[np.int64] | None = None  # (m,) ascending; None if all rows are explored
    origin: Origin = _NOWHERE
    kept: NDArray[np.bool_] | None = None  # rows of the file that are included; None if all
    all_classes: NDArray[Any] | None = None  # (n_rows,) known classes, -1 where unknown
    class_names: tuple[str, ...] = ()  # by number of the class
    hints_on_file: tuple[ColumnHint, ...] = ()
    _preparations: dict[str, Preparation] = field(default_factory=dict, repr=False)
    _prepared: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    is_image = False

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        *,
        name: str = "X",
        columns: tuple[str, ...] | None = None,
        weights: ArrayLike | None = None,
        sample: int | None = None,
        origin: Origin = _NOWHERE,
        kept: NDArray[np.bool_] | None = None,
        classes: NDArray[Any] | None = None,
        class_names: tuple[str, ...] = (),
        hints_on_file: tuple[ColumnHint, ...] = (),
    ) -> TableSubject:
        """Return the subject for array-like data; `sample` is the number of rows to explore."""
        if columns is None and hasattr(X, "columns"):
            columns = tuple(str(column) for column in X.columns)
        refuse_other_columns(X)
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] < 1 or rows.dtype.kind not in "biuf":
            raise ValueError(
                f"X is of type {rows.dtype} and shape {rows.shape}. Pass a table of numbers "
                "of shape (n_samples, n_features)."
            )
        if columns is None:
            columns = tuple(f"column_{number}" for number in range(1, rows.shape[1] + 1))
        if classes is not None and not class_names:
            class_names = tuple(map(str, range(int(np.max(classes)) + 1)))
        weight = None if weights is None else np.asarray(weights, dtype=np.float64)
        chosen = draw_sample(len(rows), rows.shape[1], sample)
        return cls(
            name,
            columns,
            rows,
            weight,
            chosen,
            origin,
            kept,
            classes,
            class_names,
            hints_on_file,
        )

    @classmethod
    def from_file(
        cls, path: str, *, weights: ArrayLike | None = None, sample: int | None = None
    ) -> TableSubject:
        """Return the subject for all columns of a file."""
        file = open_table(Path(path), path)
        with ways_out(file, Call("read_table")):
            columns = select(file).features
            rows = read_rows(file, Selection(columns), report=lambda share: None).numbers
        name, origin = Path(path).name, Origin(path)
        return cls.of(
            rows, name=name, columns=columns, weights=weights, sample=sample, origin=origin
        )

    @property
    def n_rows(self) -> int:
        return len(self.everything)

    @property
    def n_explored(self) -> int:
        return self.n_rows if self.sample is None else len(self.sample)

    @functools.cached_property
    def values(self) -> NDArray[Any]:
        """The explored rows before scaling, (n_explored, d)."""
        return self.everything if self.sample is None else self.everything[self.sample]

    @functools.cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights of the explored rows."""
        if self.all_weights is None or self.sample is None:
            return self.all_weights
        return self.all_weights[self.sample]

    @functools.cached_property
    def classes(self) -> NDArray[Any] | None:
        """The known classes of the explored rows, -1 where unknown."""
        if self.all_classes is None or self.sample is None:
            return self.all_classes
        return self.all_classes[self.sample]

    @functools.cached_property
    def odd_columns(self) -> tuple[OddColumn, ...]:
        """The columns that are probably not meant to be clustered."""
        found = odd_columns(self.everything, self.columns)
        return not_asked_for(found, bool(self.origin.options.get("columns")))

    @functools.cached_property
    def column_hints(self) -> tuple[ColumnHint, ...]:
        """Hints on the file and on odd columns."""
        return (*self.hints_on_file, *hints_on_columns(self.odd_columns))

    @functools.cached_property
    def spreads(self) -> NDArray[np.float64]:
        """The standard deviation of each column."""
        return mean_and_deviation(self.everything, self.all_weights)[1]

    def column_names(self, settings: Settings) -> tuple[str, ...]:
        return self.columns

    def preparation(self, settings: Settings) -> Preparation:
        """Return the scaling of the columns before clustering, fitted to all rows."""
        scaling = settings.scaling
        if scaling not in self._preparations:
            means = self.everything.mean(axis=0, dtype=np.float64)
            self._preparations[scaling] = Preparation.of(
                self.everything, self.columns, scaling, means, self.all_weights
            )
        return self._preparations[scaling]

    def rows(self, settings: Settings) -> NDArray[Any]:
        """Return the explored rows, scaled as for clustering."""
        if settings.scaling not in self._prepared:
            self._prepared[settings.scaling] = self.prepared(self.values, settings)
        return self._prepared[settings.scaling]

    def prepared(self, values: NDArray[Any], settings: Settings) -> NDArray[Any]:
        """Return the given rows, scaled as for clustering."""
        return self.preparation(settings).apply(values)


class ImageSubject:
    """The distinct colours of an image, weighted by their numbers of pixels."""

    is_image = True
    sample = None
    kept = None
    classes = None
    class_names: tuple[str, ...] = ()

    def __init__(self, image: ArrayLike, name: str = "image", origin: Origin = _NOWHERE) -> None:
        pixels = Pixels.of(image)
        colours = Colours(pixels, None)
        self.name, self.origin = name, origin
        self.shown = pixels.shown()
        self.rgb = colours.rgb
        self.counts = colours.counts
        # Colour number of each pixel, -1 if it is transparent.
        self.numbers = colours.spread(np.arange(len(self.rgb), dtype=np.int32))
        self.n_rows = self.n_explored = len(self.rgb)
        self._spaces: dict[str, NDArray[np.float64]] = {}

    @property
    def weights(self) -> NDArray[np.float64]:
        return self.counts.astype(np.float64)

    @property
    def columns(self) -> tuple[str, ...]:
        return _SPACE_COLUMNS["lab"]

    @property
    def values(self) -> NDArray[np.uint8]:
        """The colours in eight bits, (n_explored, 3)."""
        return to_eight_bits(self.rgb)

    def column_names(self, settings: Settings) -> tuple[str, ...]:
        return _SPACE_COLUMNS[settings.color_space]

    def rows(self, settings: Settings) -> NDArray[np.float64]:
        """Return the colours as points of the colour space."""
        space = settings.color_space
        if space not in self._spaces:
            self._spaces[space] = to_space(self.rgb, space)
        return self._spaces[space]

    def prepared(self, values: NDArray[Any], settings: Settings) -> NDArray[Any]:
        return values

    @functools.cached_property
    def few_colours(self) -> NDArray[np.uint8]:
        """Up to 255 colours in which the image can be shown, (m, 3)."""
        pil = optional("PIL.Image", "pskclust.explorer", "explore")
        step = max(1, int(np.sqrt(self.numbers.size / _PIXELS_FOR_FEW_COLOURS)))
        some: Any = pil.fromarray(np.ascontiguousarray(self.shown[::step, ::step]))
        palette = some.quantize(255).getpalette()
        return np.array(palette, dtype=np.uint8).reshape(-1, 3)[:255]

    def segments(self, model: Any) -> Segments:
        """Return the clusters of a fit as `pskclust.image.segment` orders them."""
        return Segments.of(model, self.values, self.counts)


Subject = TableSubject | ImageSubject


def draw_sample(n_rows: int, n_columns: int, size: int | None) -> NDArray[np.int64] | None:
    """Return the numbers of the rows to explore; None for all rows."""
    if size is None:
        many = n_columns > _MANY_COLUMNS
        size = DEFAULT_SAMPLE_OF_MANY_COLUMNS if many else DEFAULT_SAMPLE
    if size < 2:
        raise ValueError(f"sample={size} is too small. Explore 2 rows or more.")
    if n_rows <= size:
        return None
    chosen = np.random.RandomState(SAMPLE_SEED).choice(n_rows, size, replace=False)
    return np.sort(chosen).astype(np.int64)
