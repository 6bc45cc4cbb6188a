"""Clusters of a report as HTML: a table of all, and a card for each of the largest."""

from __future__ import annotations

from typing import Any

from .._utils.palette import cluster_colours
from .._utils.wording import counted
from ._content import Content
from ._dark import colour_style
from ._html import breakable, number, prose, share_words, swatch, table, text
from ._summary import Cluster, Trait

# A strip extends at least this many standard deviations to each side of the mean of all rows.
_STRIP_REACH = 3.0


def cluster_table(content: Content) -> str:
    summary, confidences = content.summary, content.confidences
    colours = cluster_colours(len(summary.sizes))
    n_rows = int(summary.sizes.sum()) + summary.n_noise
    body = [
        [
            f"{swatch(colours[cluster])}{cluster}",
            f"{summary.sizes[cluster]:,}",
            share_words(summary.sizes[cluster] / n_rows),
            *(number(quartile) for quartile in summary.quartiles[cluster]),
            *([] if confidences is None else [share_words(confidences[cluster])]),
        ]
        for cluster in range(len(summary.sizes))
    ]
    head = ["cluster", "rows", "share", "similarity, lower quartile", "median", "upper quartile"]
    if confidences is not None:
        head.append("confidence")
    if summary.n_noise:
        share = share_words(summary.n_noise / n_rows)
        body.append([f"{swatch(colours[-1])}noise", f"{summary.n_noise:,}", share])
        body[-1] += [""] * (len(head) - 3)
    note = _SIMILARITY if confidences is None else f"{_SIMILARITY} {_CONFIDENCE}"
    return table(head, body) + f"<p>{prose(note)}</p>"


_SIMILARITY = (
    "The similarity of a row is the share of its cluster that lies in the same small cell of space "
    "as the row, on average over many random divisions into cells. Low values such as 0.02 are "
    "normal: compare them with each other, not with 1."
)
_CONFIDENCE = (
    "The confidence of a row is the share of the odds held by candidates that agree with its "
    "label. The table shows the mean over each cluster."
)


def cards(content: Content) -> list[str]:
    colours = cluster_colours(len(content.summary.sizes))
    found = [
        _card(cluster, colours[cluster.number], content) for cluster in content.summary.clusters
    ]
    if not found:
        return []
    how = _HOW_TO_READ if content.ids is not None else f"{_HOW_TO_READ} {_FROM_ZERO}"
    parts = [f"<p>{prose(how)}</p>", *found]
    n_more = len(content.summary.sizes) - len(found)
    if n_more:
        parts.append(f"<p>And {counted(n_more, 'smaller cluster')}.</p>")
    return parts


_HOW_TO_READ = (
    "Each cluster is listed with the columns in which it differs most from all rows. In a strip, "
    "grey shows all rows and colour shows the cluster: the mean, and one standard deviation to "
    "either side. Typical members are rows in the half of the cluster with lower outlier scores: "
    "the row nearest to the mean, and rows that lie far from each other."
)
_FROM_ZERO = "Rows are counted from 0."


def _card(cluster: Cluster, colour: Any, content: Content) -> str:
    title = f"{swatch(colour)}Cluster {cluster.number}"
    size = f"{counted(cluster.size, 'row')}, {share_words(cluster.share)}"
    traits = table(
        ["column", "mean", "spread", "all rows: mean", "spread", "comparison"],
        [_trait(trait, colour, content) for trait in cluster.traits],
    )
    shown = [trait.column for trait in cluster.traits]
    members = table(
        ["row", "similarity", *(breakable(content.names[column]) for column in shown)],
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
    """Return a drawing of two ranges: all rows in grey, and the cluster in colour over them.

    A column with the same value in all rows has no ranges to draw.
    """
    if not spread:
        return "constant"
    width = trait.spread / spread
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
