"""One page with all results: the paper's, ours, and the difference, side by side."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pskclust._utils.files import replacing

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1b; background: #fff; }
h1 { font-size: 1.8rem; } h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .92rem; }
th, td { border: 1px solid #d5d5d5; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #f4f4f4; } .scroll { overflow-x: auto; }
.agrees { color: #00664b; } .differs { color: #a33b00; font-weight: 600; }
img { max-width: 100%; } figure { margin: 1rem 0; } figcaption, .small { color: #555; }
"""


def write_page(output: Path, names: Sequence[str], results: dict[str, Any]) -> None:
    made = [name for name in names if name in results]
    sections = "\n".join(_section(name, results[name]) for name in made)
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Point-set kernel clustering, reproduced</title>
<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>
<h1>Point-set kernel clustering, reproduced</h1>
<p>Every table and figure of Ting, Wells and Zhu, <i>Point-Set Kernel Clustering</i> (IEEE TKDE
35(5), 2023), made again by <code>make reproduce</code>. Figures were not tuned to look right: where
ours differ from the paper's, the table says so and gives the reason as far as it is known.</p>
{_disagreements(made, results)}
{sections}
</body></html>
"""
    with replacing(output / "index.html") as stream:
        stream.write(page.encode())


def _disagreements(names: Sequence[str], results: dict[str, Any]) -> str:
    """Return the list of all that differs, first of all."""
    items, n_compared = [], 0
    for name in names:
        for comparison in results[name].get("comparisons", []):
            n_compared += comparison["agrees"] is not None
            if comparison["agrees"] is False:
                text = (
                    f"{comparison['what']}: paper {comparison['paper']}, ours {comparison['ours']}."
                )
                items.append(
                    f'<li><a href="#{name}">{html.escape(results[name]["title"])}</a>: '
                    f"{html.escape(text)} {html.escape(comparison['reason'])}</li>"
                )
    return (
        f"<h2>Where ours differ: {len(items)} of {n_compared} comparisons</h2>"
        f"<ul>{''.join(items)}</ul>"
    )


def _section(name: str, result: dict[str, Any]) -> str:
    parts = [f'<h2 id="{name}">{html.escape(result["title"])}</h2>']
    how = "a subset (--fast), " if result["fast"] else ""
    parts.append(f'<p class="small">{how}{result["seconds"]:.0f} s</p>')
    for kind in ("left_out", "error"):
        if kind in result:
            word = "Left out" if kind == "left_out" else "Failed"
            return "\n".join(
                [*parts, f'<p class="differs">{word}: {html.escape(result[kind])}</p>']
            )
    parts += [f"<p>{html.escape(note)}</p>" for note in result["notes"]]
    parts += [
        f'<p class="differs">Not as in earlier runs: {html.escape(line)}.</p>'
        for line in result.get("unexpected", [])
    ]
    if result["comparisons"]:
        parts.append(_comparison_table(result["comparisons"]))
    parts += [f'<div class="scroll">{_table(table)}</div>' for table in result["tables"]]
    parts += [
        f'<figure><img src="{picture["file"]}" alt="{html.escape(picture["caption"])}">'
        f"<figcaption>{html.escape(picture['caption'])}</figcaption></figure>"
        for picture in result["pictures"]
    ]
    return "\n".join(parts)


def _comparison_table(comparisons: list[dict[str, Any]]) -> str:
    rows = []
    for comparison in comparisons:
        word = {True: "agrees", False: "differs", None: ""}[comparison["agrees"]]
        cells = [html.escape(str(comparison[key])) for key in ("what", "paper", "ours")] + [
            f'<span class="{word}">{word}</span> {html.escape(comparison["reason"])}'
        ]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{word}</th>" for word in ("", "paper", "ours", "difference"))
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _table(markdown: str) -> str:
    """Return a Markdown table as HTML."""
    lines = [line.strip().strip("|").split("|") for line in markdown.strip().splitlines()]
    head, _, *body = lines
    rows = ["<tr>" + "".join(f"<th>{html.escape(cell.strip())}</th>" for cell in head) + "</tr>"]
    rows += [
        "<tr>" + "".join(f"<td>{html.escape(cell.strip())}</td>" for cell in line) + "</tr>"
        for line in body
    ]
    return f"<table>{''.join(rows)}</table>"
