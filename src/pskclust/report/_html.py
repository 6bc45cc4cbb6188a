"""Elements of the page. All text from outside passes through `text` or `prose`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .._utils.wording import percentage
from ._dark import colour_style
from ._pictures import EmbeddedPicture

_LONGEST_TEXT = 80


def text(value: object) -> str:
    """Return any value as escaped text on one line, cut to `_LONGEST_TEXT` characters."""
    line = " ".join(str(value).split())
    if len(line) > _LONGEST_TEXT:
        line = line[: _LONGEST_TEXT - 1] + "\u2026"
    return escape(line)


def breakable(value: object) -> str:
    """Return `text` that may continue on the next line after a sign between words."""
    return re.sub(r"(?<=[^\W_])([_/.])(?=[^\W_])", r"\1<wbr>", text(value))


def prose(value: str) -> str:
    """Return sentences in full, escaped: they may contain names from the data."""
    return escape(value)


def command_words(line: str) -> str:
    """Return a command, escaped, none of whose words is broken after a dash."""
    return " ".join(f"<span>{escape(word)}</span>" for word in line.split(" "))


def number(value: float) -> str:
    """Return a number with at most four significant digits."""
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3e}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    short = f"{value:.{digits}f}"
    return short.rstrip("0").rstrip(".") if "." in short else short


def share_words(share: float) -> str:
    """Return a fraction as a percentage in HTML; small fractions are not rounded to 0%."""
    return escape(percentage(share))


def section(title: str, *parts: str) -> str:
    inner = "\n".join(part for part in parts if part)
    return f"<section><h2>{title}</h2>\n{inner}</section>" if inner else ""


def figure(picture: EmbeddedPicture) -> str:
    caption = prose(picture.caption)
    dark = picture.dark_source and (
        f'<source media="(prefers-color-scheme: dark)" srcset="{picture.dark_source}">'
    )
    return (
        f'<figure><div class="scroll"><picture>{dark}<img src="{picture.source}" alt="{caption}">'
        f"</picture></div><figcaption>{caption}</figcaption></figure>"
    )


def table(head: Sequence[str], body: Iterable[Sequence[str]], numbers_from: int = 1) -> str:
    """Return an HTML table; columns from `numbers_from` on are aligned as numbers."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=n' if place >= numbers_from else ''}>{cell}</{tag}>"
            for place, cell in enumerate(cells)
        )

    lines = "\n".join(f"<tr>{row(cells, 'td')}</tr>" for cells in body)
    return (
        f'<div class="scroll"><table><thead><tr>{row(head, "th")}</tr></thead>\n'
        f"<tbody>{lines}</tbody></table></div>"
    )


def swatch(colour: Any) -> str:
    return f'<i class="swatch" style="{colour_style(colour)}"></i>'


def pairs(pairs: Mapping[str, str]) -> str:
    lines = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in pairs.items()
    )
    return f'<dl class="pairs">{lines}</dl>'
