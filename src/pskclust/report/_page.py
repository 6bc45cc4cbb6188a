"""HTML of a report. All text from outside passes through `escape`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any, NamedTuple

from .._advice import AdviceRule
from .._choice.choose import AutoChoice, Option
from .._choice.layers import Layer
from .._provenance import arguments
from .._utils.palette import cluster_colours
from ._dark import colour_style
from ._layers import HEAD, NOTE, layer_rows, share_words
from ._pictures import CHOICE, EmbeddedPicture
from ._summary import MAX_COLUMNS, Cluster, Summary, Trait

_LONGEST_TEXT = 80
# A strip extends at least this many standard deviations to each side of the mean of all rows.
_STRIP_REACH = 3.0


class Provenance(NamedTuple):
    """Given parameters, chosen values, and the call that repeats the fit."""

    given: Mapping[str, str]
    choice: str | None  # None if nothing was chosen
    call: str
    rows: str  # description of the rows to fit, such as "the same rows"
    note: str | None  # None if the call returns the same labels every time


class ChoiceContent(NamedTuple):
    """The candidates of a choice, the chosen candidate, and the reason for it."""

    reason: str
    n_rows: int
    candidates: Sequence[Option]
    chosen: Option

    @classmethod
    def of(cls, choice: AutoChoice) -> ChoiceContent:
        listed = tuple(dict.fromkeys([*choice.candidates, choice.chosen]))
        return cls(choice.reason, choice.n_rows, listed, choice.chosen)


class Content(NamedTuple):
    """Content of a report page."""

    title: str
    facts: Mapping[str, str]
    summary: Summary
    names: Sequence[str]
    ids: Sequence[Any] | None
    rows: Any
    similarities: Any
    confidences: Any  # (k,) mean confidence of each cluster; None if clusters grew
    pictures: Sequence[EmbeddedPicture]
    provenance: Provenance
    details: Mapping[str, str]
    choice: ChoiceContent | None  # None if clusters grew
    layers: Sequence[Layer]
    rules: Sequence[AdviceRule]
    hints: Sequence[str]


def page(content: Content) -> str:
    """Return the HTML of the whole page."""
    clusters, *others = (picture for picture in content.pictures if picture.part != CHOICE)
    of_choice = [picture for picture in content.pictures if picture.part == CHOICE]
    parts = [
        f"<header><h1>{text(content.title)}</h1>{_facts(content.facts)}</header>",
        _section("Clusters", _figure(clusters), _cluster_table(content)),
        _section("What distinguishes each cluster", *_cards(content)),
        _section("How the clusters were chosen", *_choice(content.choice, of_choice)),
        _section("Layers", *_layer_table(content)),
        _section(_title_of_profile(content), *map(_figure, others)),
        _section("What to try next", _rules(content.rules), _hints(content.hints)),
        _section("The data", _column_table(content.summary, content.names)),
        _section("Parameters", _provenance(content.provenance), _pairs(content.details)),
    ]
    files = resources.files(__package__)
    return Template((files / "page.html").read_text("utf-8")).substitute(
        title=text(content.title),
        style=(files / "page.css").read_text("utf-8"),
        content="\n".join(part for part in parts if part),
    )


def text(value: object) -> str:
    """Return any value as escaped text on one line, cut to `_LONGEST_TEXT` characters."""
    line = " ".join(str(value).split())
    if len(line) > _LONGEST_TEXT:
        line = line[: _LONGEST_TEXT - 1] + "\u2026"
    return escape(line)


def prose(value: str) -> str:
    """Return sentences in full, escaped: they may contain names from the data."""
    return escape(value)


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


def _section(title: str, *parts: str) -> str:
    inner = "\n".join(part for part in parts if part)
    return f"<section><h2>{title}</h2>\n{inner}</section>" if inner else ""


def _facts(facts: Mapping[str, str]) -> str:
    tiles = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in facts.items()
    )
    return f'<dl class="facts">{tiles}</dl>'


def _figure(picture: EmbeddedPicture) -> str:
    caption = prose(picture.caption)
    dark = picture.dark_source and (
        f'<source media="(prefers-color-scheme: dark)" srcset="{picture.dark_source}">'
    )
    return (
        f'<figure><picture>{dark}<img src="{picture.source}" alt="{caption}"></picture>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _table(head: Sequence[str], body: Iterable[Sequence[str]], numbers_from: int = 1) -> str:
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


def _swatch(colour: Any) -> str:
    return f'<i class="swatch" style="{colour_style(colour)}"></i>'


def _cluster_table(content: Content) -> str:
    summary, confidences = content.summary, content.confidences
    colours = cluster_colours(len(summary.sizes))
    n_rows = int(summary.sizes.sum()) + summary.n_noise
    body = [
        [
            f"{_swatch(colours[cluster])}{cluster}",
            f"{summary.sizes[cluster]:,}",
            f"{summary.sizes[cluster] / n_rows:.1%}",
            *(number(quartile) for quartile in summary.quartiles[cluster]),
            *([] if confidences is None else [f"{confidences[cluster]:.1%}"]),
        ]
        for cluster in range(len(summary.sizes))
    ]
    head = ["cluster", "rows", "share", "similarity, lower quartile", "median", "upper quartile"]
    if confidences is not None:
        head.append("confidence")
    if summary.n_noise:
        share = summary.n_noise / n_rows
        body.append([f"{_swatch(colours[-1])}noise", f"{summary.n_noise:,}", f"{share:.1%}"])
        body[-1] += [""] * (len(head) - 3)
    note = "" if confidences is None else f"<p>{prose(_CONFIDENCE)}</p>"
    return _table(head, body) + note


_CONFIDENCE = (
    "The confidence of a row is the share of the odds held by candidates that agree with its "
    "label. The table shows the mean over each cluster."
)


def _title_of_profile(content: Content) -> str:
    return "How the clusters were found" if content.choice is None else "Sizes and similarities"


def _choice(choice: ChoiceContent | None, pictures: Sequence[EmbeddedPicture]) -> list[str]:
    if choice is None:
        return []
    reason = choice.reason[0].upper() + choice.reason[1:]
    body = [_candidate(option, option == choice.chosen) for option in choice.candidates]
    head = [
        "clusters",
        "tree",
        "psi",
        "odds",
        "stability",
        "least stability",
        "agreement",
        "separation",
        "overlap",
    ]
    rows = f"The choice was made on {choice.n_rows:,} rows. {_EVIDENCE}"
    return [
        f"<p>{prose(reason)}.</p>",
        _table(head, body),
        *map(_figure, pictures),
        f"<p>{prose(rows)}</p>",
    ]


_EVIDENCE = (
    "Odds are the weight of a candidate among all candidates; the odds of all add up to 1. "
    "Stability shows how well trees of half of the rows find its clusters again: the mean over "
    "clusters, and the value of the least stable cluster. Agreement is the same measure for trees "
    "of other psi and of the other kind. Separation shows how much more similar rows are to their "
    "own cluster than to the nearest other cluster. Overlap is the fraction of a row's cells that "
    "belongs to other clusters; low is good."
)


def _candidate(option: Option, is_chosen: bool) -> list[str]:
    one = option.n_clusters == 1
    evidence = (
        option.stability,
        option.least_stability,
        option.agreement,
        option.separation,
        option.overlap,
    )
    name = f"{option.n_clusters:,}"
    return [
        f"<strong>{name}, chosen</strong>" if is_chosen else name,
        "" if one else text(option.kind),
        "" if one else str(option.psi),
        share_words(option.odds),
        *("" if value is None else f"{value:.2f}" for value in evidence),
    ]


def _layer_table(content: Content) -> list[str]:
    """Return the table of layers with a note, or an empty list if the fit is the only layer."""
    if len(content.layers) < 2:
        return []
    body = layer_rows(content.layers, len(content.summary.sizes))
    return [_table(HEAD, body), f"<p>{prose(NOTE)}</p>"]


def _cards(content: Content) -> list[str]:
    colours = cluster_colours(len(content.summary.sizes))
    cards = [
        _card(cluster, colours[cluster.number], content) for cluster in content.summary.clusters
    ]
    if not cards:
        return []
    how = _HOW_TO_READ if content.ids is not None else f"{_HOW_TO_READ} {_FROM_ZERO}"
    parts = [f"<p>{prose(how)}</p>", *cards]
    n_more = len(content.summary.sizes) - len(cards)
    if n_more:
        parts.append(f"<p>And {n_more:,} smaller clusters.</p>")
    return parts


_HOW_TO_READ = (
    "Each cluster is listed with the columns in which it differs most from all rows. In a strip, "
    "grey shows all rows and colour shows the cluster: the mean, and one standard deviation to "
    "either side. Typical members are the row most similar to the cluster, and rows in the more "
    "similar half of the cluster that lie far from each other."
)
_FROM_ZERO = "Rows are counted from 0."


def _card(cluster: Cluster, colour: Any, content: Content) -> str:
    title = f"{_swatch(colour)}Cluster {cluster.number}"
    size = f"{cluster.size:,} rows, {cluster.share:.1%}"
    traits = _table(
        ["column", "mean", "spread", "all rows: mean", "spread", "comparison"],
        [_trait(trait, colour, content) for trait in cluster.traits],
    )
    shown = [trait.column for trait in cluster.traits]
    members = _table(
        ["row", "similarity", *(text(content.names[column]) for column in shown)],
        [
            [
                text(row if content.ids is None else content.ids[row]),
                number(content.similarities[row]),
                *(number(content.rows[row, column]) for column in shown),
            ]
            for row in cluster.members
        ],
    )
    return (
        f"<article><h3>{title} <small>{size}</small></h3>\n{traits}"
        f"<h4>Typical members</h4>\n{members}</article>"
    )


def _trait(trait: Trait, colour: Any, content: Content) -> list[str]:
    columns = content.summary.columns
    return [
        text(content.names[trait.column]),
        number(trait.mean),
        number(trait.spread),
        number(columns.means[trait.column]),
        number(columns.spreads[trait.column]),
        _strip(trait, columns.spreads[trait.column], colour),
    ]


def _strip(trait: Trait, spread: float, colour: Any) -> str:
    """Return a drawing of two ranges: all rows in grey, and the cluster in colour over them."""
    width = trait.spread / spread if spread else 0.0
    reach = max(_STRIP_REACH, abs(trait.difference) + width)
    scale = 50 / reach

    def bar(middle: float, half: float, tall: float, look: str) -> str:
        left, across = 50 + scale * (middle - half), max(0.8, 2 * scale * half)
        top = (14 - tall) / 2
        return f'<rect x="{left:.1f}" y="{top:g}" width="{across:.1f}" height="{tall:g}" {look}/>'

    drawn = [
        bar(0, reach, 0.6, 'class="axis"'),
        bar(0, 1, 14, 'class="whole"'),
        bar(trait.difference, width, 6, f'class="own" style="{colour_style(colour)}"'),
        bar(trait.difference, 0.4 / scale, 14, 'class="mean"'),
    ]
    label = f"{trait.difference:+.1f} standard deviations"
    return (
        f'<svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f"<title>{label}</title>"
        f"{''.join(drawn)}</svg>"
    )


def _column_table(summary: Summary, names: Sequence[str]) -> str:
    columns = summary.columns
    body = [
        [text(names[place]), number(columns.means[place]), number(columns.spreads[place])]
        + [number(value) for value in values]
        for place, values in enumerate(columns.ranges)
    ]
    table = _table(["column", "mean", "spread", "smallest", "median", "largest"], body)
    n_more = len(names) - MAX_COLUMNS
    return table + (f"<p>And {n_more:,} more columns.</p>" if n_more > 0 else "")


def _rules(rules: Sequence[AdviceRule]) -> str:
    lines = "".join(
        f"<tr><td>{text(rule.situation)}</td><td>{text(rule.action)}</td>"
        f"<td><code>{text(arguments(rule.change))}</code></td></tr>"
        for rule in rules
    )
    head = "<tr><th>If</th><th>then</th><th>pass</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{lines}</tbody></table>"


def _hints(hints: Sequence[str]) -> str:
    lines = "".join(f"<li>{prose(hint)}</li>" for hint in hints)
    return f"<ul>{lines}</ul>" if lines else ""


def _provenance(fit: Provenance) -> str:
    given = ", ".join(f"{name} {value}" for name, value in fit.given.items())
    lines = [f"Given: {given or 'nothing'}."]
    if fit.choice is not None:
        lines.append(f"Chosen: {fit.choice}.")
    paragraphs = [f"<p>{prose(line)}</p>" for line in lines]
    call = f"<code>{prose(fit.call)}</code> fitted to {prose(fit.rows)}."
    paragraphs.append(f"<p>Same labels: {call}</p>")
    if fit.note is not None:
        paragraphs.append(f"<p>{prose(fit.note)}</p>")
    return "\n".join(paragraphs)


def _pairs(pairs: Mapping[str, str]) -> str:
    lines = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in pairs.items()
    )
    return f'<dl class="pairs">{lines}</dl>'
