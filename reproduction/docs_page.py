"""Write docs/reproduction.md from reproduction/results.json.

    python reproduction/docs_page.py [--take FOLDER]

`make reproduce` writes into build/reproduction. `--take build/reproduction` copies the results of
that run to results.json and its pictures to docs/. Sentences of the page about agreement are
computed from the results.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from framework import table, write_json
from PIL import Image
from run import EXPECTED, RESULTS
from table1 import bound
from verdicts import comparisons_of, counted, verdicts

sys.path.append(str(Path(__file__).parents[1] / "tools"))
from few_colours import few_colours

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
# Results whose picture is on the page, and its file.
PICTURES = {"table2": "table2.png", "scaleup": "scaleup.png"}
TEMPLATE = HERE / "docs_page.md"
# Results of the authors' program at the printed settings; it was run once, by hand.
FROM_THE_AUTHORS = {
    "AC": "F1 1.000",
    "aggregation": "F1 0.75 to 0.80",
    "s3": "20 to 21 clusters, 125 to 188 rows moved",
    "spiral": "no cluster: psi is capped at the number of rows",
}
# Results whose tables are on the page, and their headings there.
SHOWN = {
    "printed_settings": "The printed settings",
    "table1": "Steps and costs",
    "table3": "Autumn Colors",
    "table5": "MNIST",
    "scaleup": "Scale-up",
    "postprocessing": "Refinement",
    "reduced_painting": "DP on the reduced painting",
    "peers": "The systems compared",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--take", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.take:
        take(options.take, HERE / "results.json", DOCS)
    results = json.loads((HERE / "results.json").read_text())
    (DOCS / "reproduction.md").write_text(page(results))


def take(folder: Path, kept: Path, docs: Path) -> None:
    """Copy the results of a folder over the kept results, and their pictures to `docs`."""
    made = json.loads((folder / "results.json").read_text())
    results = {**json.loads(kept.read_text()), **made}
    write_json(kept, {name: results[name] for name in RESULTS if name in results})
    for name, picture in PICTURES.items():
        if name in made and (folder / picture).exists():
            few_colours(Image.open(folder / picture)).save(docs / picture, optimize=True)


def page(results: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    results = {name: results.get(name) or _not_made(name) for name in RESULTS}
    n_agree, n_compared = counted(results)
    text = TEMPLATE.read_text()
    parts = {
        "overview": _overview(results),
        "counted": f"{n_agree} of {n_compared} comparisons agree.",
        "differences": _differences(results),
        "searched": _searched(results["table2"]),
        "sections": "\n\n".join(
            _section(title, results[name])
            for name, title in SHOWN.items()
            if "tables" in results[name]
        ),
        "left_out": _left_out(results),
        "bounds": _bounds(),
        "authors": _authors_program(results),
    }
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return text.rstrip() + "\n"


def _not_made(name: str) -> dict[str, Any]:
    module = importlib.import_module(name)
    why = f"not in these results; run `make reproduce ONLY={name}` to make it"
    result = {"title": module.TITLE, "places": module.PLACES, "fast": False, "left_out": why}
    earlier = EXPECTED["full"].get(name, {})
    if earlier:
        figures = ", ".join(f"{key} {value:g}" for key, (value, _) in earlier.items())
        result["findings"] = {next(iter(module.PLACES)): f"in an earlier run: {figures}"}
    return result


def _overview(results: dict[str, Any]) -> str:
    rows = []
    for one in verdicts(results):
        subset = " (a subset)" if results[one.module]["fast"] else ""
        verdict = f"**{one.word}**"
        if one.why:
            verdict += f": {_first_sentence(one.why)}"
        rows.append([one.place, one.claim, one.found + subset, verdict])
    head = ["place in the paper", "claim", "our measurement", "verdict"]
    return table(head, [[_cell(cell) for cell in row] for row in rows])


def _first_sentence(why: str) -> str:
    """Return the first sentence of a reason; the table of differences has the whole text."""
    return why.split(". ")[0].rstrip(".") + "."


def _differences(results: dict[str, Any]) -> str:
    rows = []
    for result in results.values():
        for place in result["places"]:
            for one in comparisons_of(result, place):
                if one["agrees"] is False:
                    rows.append([place, one["what"], one["paper"], one["ours"], one["reason"]])
    head = ["place", "statement", "paper", "ours", "why"]
    return table(head, [[_cell(cell) for cell in row] for row in rows])


def _searched(result: dict[str, Any]) -> str:
    """Return a table of the best F1 of each system, with the paper's verdict where it differs."""
    found: dict[str, list[str]] = {}
    for one in result.get("comparisons", []):
        system, data = one["what"].split(" on ")
        paper = "" if one["agrees"] else f" (paper: {one['paper']})"
        found.setdefault("data", [""]).append(data)
        found.setdefault(system, [system]).append(one["ours"].replace(", F1", "") + paper)
    if not found:
        return ""
    head = list(dict.fromkeys(found.pop("data")))
    shown = table(["system", *head[1:]], list(found.values()))
    return "\n\n".join([*result["notes"], shown])


def _section(title: str, result: dict[str, Any]) -> str:
    pictures = [
        f"![{picture['caption']}]({picture['file']})"
        for picture in result["pictures"]
        if picture["file"] in PICTURES.values() and not result["fast"]
    ]
    return "\n\n".join([f"## {title}", *result["notes"], *result["tables"], *pictures])


def _left_out(results: dict[str, Any]) -> str:
    names = [result["title"] for result in results.values() if "left_out" in result]
    subsets = [result["title"] for result in results.values() if result["fast"]]
    lines = [f"Left out here: {'; '.join(names)}."] if names else []
    if subsets:
        lines.append(f"Measured on a subset of settings, sizes or seeds: {'; '.join(subsets)}.")
    return "\n\n".join(lines)


def _bounds() -> str:
    settings = ((0.1, 0.26), (0.01, 0.1), (1e-5, 0.1))
    rows = [[f"{tau:g}", f"{rate:g}", str(bound(tau, rate))] for tau, rate in settings]
    return table(["tau", "rho", "f"], rows)


def _authors_program(results: dict[str, Any]) -> str:
    """Return a table of the results of the authors' program beside ours."""
    printed, refined = (
        results[name].get("values", {}) for name in ("printed_settings", "postprocessing")
    )
    f1 = {name: f"F1 {printed[f'{name}_F1']:.3f}" for name in FROM_THE_AUTHORS if printed}
    if "S3_n_clusters_least" in refined:
        clusters = [refined[f"S3_n_clusters_{end}"] for end in ("least", "most")]
        moved = [5_000 * refined[f"S3_moved_{end}"] for end in ("least", "most")]
        f1["s3"] = (
            f"{clusters[0]:.0f} to {clusters[1]:.0f} clusters, {moved[0]:.0f} to "
            f"{moved[1]:.0f} rows moved"
        )
    rows = [[name, theirs, f1.get(name, "")] for name, theirs in FROM_THE_AUTHORS.items()]
    return table(["data", "authors' program", "here"], rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
