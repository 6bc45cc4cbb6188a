"""Verdicts on the paper's tables and figures, computed from comparisons."""

from __future__ import annotations

from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """One table or figure of the paper: its claim, our measurement, and whether they agree."""

    place: str
    module: str
    claim: str
    found: str
    word: str  # "agrees" or "differs", with counts; or why there is no verdict
    why: str


def verdicts(results: dict[str, Any]) -> list[Verdict]:
    """Return a verdict for each table and figure, in the order of the results."""
    return [
        _verdict(name, result, place, claim)
        for name, result in results.items()
        for place, claim in result["places"].items()
    ]


def counted(results: dict[str, Any]) -> tuple[int, int]:
    """Return the number of comparisons that agree, and of all comparisons."""
    known = [
        comparison["agrees"]
        for result in results.values()
        for comparison in result.get("comparisons", [])
        if comparison["agrees"] is not None
    ]
    return sum(known), len(known)


def comparisons_of(result: dict[str, Any], place: str) -> list[dict[str, Any]]:
    """Return the comparisons of one place; those that name no place belong to the first."""
    first = next(iter(result["places"]))
    return [one for one in result.get("comparisons", []) if (one["place"] or first) == place]


def _verdict(name: str, result: dict[str, Any], place: str, claim: str) -> Verdict:
    for kind, word in (("left_out", "left out"), ("error", "failed")):
        if kind in result:
            found = result.get("findings", {}).get(place, "")
            return Verdict(place, name, claim, found, word, result[kind])
    known = [one for one in comparisons_of(result, place) if one["agrees"] is not None]
    differing = [one for one in known if not one["agrees"]]
    found = result["findings"].get(place, "")
    if not known:
        return Verdict(place, name, claim, found, "nothing to compare", "")
    count = f" in {len(known) - len(differing)} of {len(known)}" if len(known) > 1 else ""
    word = f"differs, agrees{count}" if differing and count else "differs"
    reasons = dict.fromkeys(one["reason"] for one in differing if one["reason"])
    return Verdict(
        place, name, claim, found, word if differing else f"agrees{count}", " ".join(reasons)
    )
