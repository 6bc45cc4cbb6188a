"""The page index.html of all results: the paper's, ours and the verdicts, side by side."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from verdicts import counted, verdicts

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


def write_page(output: Path, results: dict[str, Any]) -> None:
    sections = "\n".join(_section(name, result) for name, result in results.items())
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Point-set kernel clustering, reproduced</title>
<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>
<h1>Point-set kernel clustering, reproduced</h1>
<p>Tables, figures and propositions of Ting, Wells and Zhu, <i>Point-Set Kernel Clustering</i> (IEEE
TKDE 35(5), 2023), measured by <code>make reproduce</code>. All verdicts are computed from the
measurements.</p>
{_overview(results)}
{sections}
</body></html>
"""
    with replacing(output / "index.html") as stream:
        stream.write(page.encode())


def _overview(results: dict[str, Any]) -> str:
    """Return the table at the top, with a row for each table and figure of the paper."""
    n_agree, n_compared = counted(results)
    rows = [
        [
            f'<a href="#{one.module}">{html.escape(one.place)}</a>',
            html.escape(one.claim),
            html.escape(one.found),
            f'<span class="{one.word.split(",")[0].split(" ")[0]}">{html.escape(one.word)}</span> '
            f"{html.escape(one.why)}",
        ]
        for one in verdicts(results)
    ]
    head = ["", "the paper's claim", "our measurement", "verdict"]
    return f"<p>{n_agree} of {n_compared} comparisons agree.</p>" + _html_table(head, rows)


def _section(name: str, result: dict[str, Any]) -> str:
    parts = [f'<h2 id="{name}">{html.escape(result["title"])}</h2>']
    how = "a subset (--fast), " if result["fast"] else ""
    parts.append(f'<p class="small">{how}{result["seconds"]:.0f} s elapsed</p>')
    for kind in ("left_out", "error"):
        if kind in result:
            word = "Left out" if kind == "left_out" else "Failed"
            return "\n".join(
                [*parts, f'<p class="differs">{word}: {html.escape(result[kind])}</p>']
            )
    parts += [f"<p>{html.escape(note)}</p>" for note in result["notes"]]
    parts += [
        f'<p class="differs">Differs from earlier runs: {html.escape(line)}.</p>'
        for line in result.get("unexpected", [])
    ]
    if result["comparisons"]:
        parts.append(_comparison_table(result["comparisons"]))
    parts += [_table(table) for table in result["tables"]]
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
        rows.append(
            [html.escape(str(comparison[key])) for key in ("what", "paper", "ours")]
            + [f'<span class="{word}">{word}</span> {html.escape(comparison["reason"])}']
        )
    return _html_table(["", "paper", "ours", "verdict"], rows)


def _table(markdown: str) -> str:
    """Return a Markdown table as HTML."""
    lines = [line.strip().strip("|").split("|") for line in markdown.strip().splitlines()]
    head, _, *body = [[html.escape(cell.strip()) for cell in line] for line in lines]
    return _html_table(head, body)


def _html_table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table; the cells are already HTML."""
    lines = ["<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'
