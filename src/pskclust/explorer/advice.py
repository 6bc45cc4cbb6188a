"""Advice on the page: hints, and searches for settings that join or split clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _advice as rules
from .._advice import Hint, Outcome, three_digits
from .._utils.progress import Report
from .._utils.wording import counted
from .control_names import as_controls, button_words
from .fits import Fit, Fitter
from .psi_tau_map import PsiTauMap, Spot
from .settings import MIN_TAU, Settings
from .side_effects import MOST, SECOND, besides

_LOWER = (0.8, 0.65, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
_RAISE_PSI = (1.25, 1.5, 2.0, 3.0, 4.0)
_RAISE_TAU = (1.25, 1.6, 2.0, 3.0, 5.0)
_LOWER_PSI = (0.75, 0.5, 0.35)
_BETTER_BY = 0.1
_NEAR = 4.0
_AS_MANY = 0.7
# Largest change of the number of clusters that is tried.
_MOST_TRIED = 8


def join(
    fitter: Fitter, fit: Fit, pair: tuple[int, int], psi_tau_map: PsiTauMap, report: Report
) -> Hint:
    """Return a hint with the smallest change that joins two clusters, if one is found.

    For grown clusters, tau or psi changes; for chosen clusters, the number of clusters.
    """
    one, other = (fit.labels == cluster for cluster in pair)

    def joined(found: Fit) -> bool:
        first, share = _largest_part(found, one)
        second, other_share = _largest_part(found, other)
        return first == second >= 0 and min(share, other_share) >= MOST

    names = f"clusters {pair[0]} and {pair[1]}"
    if not fit.settings.is_grown:
        found = _first(fitter, _fewer(fit), joined, report)
        if found is None:
            return Hint(
                f"None of the smaller numbers of clusters that were tried joins {names}. Other "
                "clusters join first."
            )
        return _told_number(f"{names.capitalize()} become one", fit, found, pair)
    found = _first(fitter, _looser(fit.settings.of_fit), joined, report)
    if found is None:
        return Hint(
            f"None of the smaller values of tau and psi that were tried joins {names}. They may "
            "differ more than they seem to: try another metric or scaling."
        )
    rule = f"If clusters that should be one are split, lower {_changed(fit, found)}."
    told = _told(f"{names.capitalize()} become one", rule, fit, found, psi_tau_map)
    return told._replace(text=told.text + besides(fit.labels, found.labels, pair))


def split(fitter: Fitter, fit: Fit, cluster: int, psi_tau_map: PsiTauMap, report: Report) -> Hint:
    """Return a hint with the smallest change that splits a cluster, if one is found."""
    member = fit.labels == cluster

    def parted(found: Fit) -> bool:
        inside = found.labels[member]
        counts = np.sort(np.bincount(inside[inside >= 0], minlength=2))[::-1]
        return bool(counts[1] >= SECOND * len(inside))

    if not fit.settings.is_grown:
        found = _first(fitter, _more(fit), parted, report)
        if found is None:
            return Hint(
                f"None of the larger numbers of clusters that were tried splits cluster {cluster}. "
                "Other clusters split first."
            )
        return _told_number(f"Cluster {cluster} becomes two", fit, found, (cluster,))
    limit = fitter.subject.n_explored // 2
    found = _first(fitter, _finer(fit.settings.of_fit, limit), parted, report)
    if found is None:
        return Hint(
            f"None of the larger values of psi and tau that were tried splits cluster {cluster}. "
            "It may be a single cluster in these columns."
        )
    rule = f"If one cluster should be two, raise {_changed(fit, found)}."
    told = _told(f"Cluster {cluster} becomes two", rule, fit, found, psi_tau_map)
    return told._replace(text=told.text + besides(fit.labels, found.labels, (cluster,)))


def hints(fit: Fit, psi_tau_map: PsiTauMap, *, is_image: bool = False) -> list[Hint]:
    """Return the hints that apply to a fit, including a more stable psi and tau if known."""
    unit = "pixels" if is_image else "rows"
    found = rules.hints(Outcome.of(fit.model, fit.sizes, fit.n_noise, unit))
    steadier = _steadier(fit.settings, psi_tau_map) if fit.settings.is_grown else None
    if steadier is not None:
        (psi, tau), here, there = steadier
        clusters = counted(there.clusters, "cluster")
        if psi_tau_map.n_rows < len(fit.labels):
            clusters += f" in a sample of {psi_tau_map.n_rows:,} {unit}"
        found.append(
            Hint(
                f"The stability between two seeds is {here.stability:.2f} near this setting, and "
                f"{there.stability:.2f} at psi {psi}, tau {tau:g}, with {clusters}.",
                {"psi": psi, "tau": tau},
            )
        )
    return found


def to_json(hint: Hint) -> dict[str, Any]:
    """Return a hint as JSON, in the words of the page, with the text of its button."""
    button = None if hint.change is None else button_words(hint.change)
    return {"text": as_controls(hint.text), "change": hint.change, "button": button}


def _place(settings: Settings) -> tuple[int, float]:
    """Return psi and tau of a setting with grown clusters."""
    assert settings.psi is not None
    assert settings.tau is not None
    return settings.psi, settings.tau


def _changed(fit: Fit, found: Fit) -> str:
    """Return the name of the parameter, psi or tau, that differs between two fits."""
    return "tau" if fit.settings.psi == found.settings.psi else "psi"


def _looser(settings: Settings) -> Iterator[Settings]:
    psi, tau = _place(settings)
    for factor in _LOWER:
        if tau * factor >= MIN_TAU:
            yield replace(settings, tau=three_digits(tau * factor))
    for factor in _LOWER_PSI:
        if int(psi * factor) >= 2:
            yield replace(settings, psi=int(psi * factor))


def _finer(settings: Settings, max_psi: int) -> Iterator[Settings]:
    psi, tau = _place(settings)
    for factor in _RAISE_PSI:
        if psi < int(psi * factor) <= max_psi:
            yield replace(settings, psi=int(psi * factor))
    for factor in _RAISE_TAU:
        if tau * factor < 0.9:
            yield replace(settings, tau=three_digits(tau * factor))


def _fewer(fit: Fit) -> Iterator[Settings]:
    # A single cluster joins any two clusters, which helps only if there are just two.
    least = max(2 if fit.n_clusters > 2 else 1, fit.n_clusters - _MOST_TRIED)
    for number in range(fit.n_clusters - 1, least - 1, -1):
        yield replace(fit.settings.of_fit, n_clusters=number)


def _more(fit: Fit) -> Iterator[Settings]:
    most = min(fit.n_clusters + _MOST_TRIED, len(fit.labels))
    for number in range(fit.n_clusters + 1, most + 1):
        yield replace(fit.settings.of_fit, n_clusters=number)


def _first(
    fitter: Fitter,
    candidates: Iterator[Settings],
    wanted: Callable[[Fit], bool],
    report: Report,
) -> Fit | None:
    for settings in candidates:
        try:
            found = fitter.fit(settings, report)
        except ValueError:
            # The rows do not allow this setting, nor the next ones.
            return None
        if wanted(found):
            return found
    return None


def _largest_part(found: Fit, rows: NDArray[np.bool_]) -> tuple[int, float]:
    """Return the cluster with the most of the given rows, and its fraction of these rows."""
    inside = found.labels[rows]
    counts = np.bincount(inside[inside >= 0], minlength=1)
    best = int(counts.argmax())
    share = counts[best] / max(1, len(inside))
    return (best if counts[best] else -1), float(share)


def _told(what: str, rule: str, fit: Fit, found: Fit, psi_tau_map: PsiTauMap) -> Hint:
    now, then = asdict(fit.settings.of_fit), asdict(found.settings)
    change = {name: value for name, value in then.items() if value != now[name]}
    words = " and ".join(f"{name} {value:g} (now {now[name]:g})" for name, value in change.items())
    total = float(found.sizes.sum() + found.n_noise)
    text = (
        f"{rule} {what} at {words}: {counted(found.n_clusters, 'cluster')} in all, "
        f"{found.n_noise / total:.1%} noise."
    )
    near = _nearest(found.settings, psi_tau_map)
    if near is not None:
        text += f" The stability between two seeds is about {near.stability:.2f} there."
    return Hint(text, change)


def _told_number(what: str, fit: Fit, found: Fit, meant: tuple[int, ...]) -> Hint:
    number = found.settings.n_clusters
    words = "1 cluster" if number == 1 else f"{number} clusters"
    more = besides(fit.labels, found.labels, meant)
    return Hint(f"{what} with {words} (now {fit.n_clusters}).{more}", {"n_clusters": number})


def _distance(settings: Settings, place: tuple[int, float]) -> float:
    (psi, tau), (own_psi, own_tau) = place, _place(settings)
    return float(np.hypot(np.log(psi / own_psi), np.log(tau / own_tau)))


def _nearest(settings: Settings, psi_tau_map: PsiTauMap) -> Spot | None:
    spots = psi_tau_map.spots(settings)
    if not spots:
        return None
    place = min(spots, key=lambda place: _distance(settings, place))
    return spots[place] if _distance(settings, place) <= np.log(2) else None


def _steadier(
    settings: Settings, psi_tau_map: PsiTauMap
) -> tuple[tuple[int, float], Spot, Spot] | None:
    """Return a more stable psi and tau nearby, and the map's results for both settings."""
    spots = psi_tau_map.spots(settings)
    here = _nearest(settings, psi_tau_map)
    if here is None:
        return None
    near = {
        place: spot
        for place, spot in spots.items()
        # A single cluster is always stable, so its stability means nothing.
        if _distance(settings, place) <= np.log(_NEAR)
        and spot.clusters >= max(2, _AS_MANY * here.clusters)
    }
    if not near:
        return None
    best = max(near, key=lambda place: (round(near[place].stability, 2), near[place].clusters))
    better = near[best].stability >= here.stability + _BETTER_BY
    return (best, here, near[best]) if better else None
