"""Choices of the rule for sets that were left out of its fit, and the scores of these choices.

As in the package, more draws of a set decide if fewer do not give a clear choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from collect import Collected
from fitting import Known, fit_gap, fit_several
from sets import GIVEN

from pskclust._choice.consensus import agreements_of_cuts
from pskclust._choice.draws import N_BEST
from pskclust._choice.pooling import N_DRAWS, Compared, is_clear, is_found_again
from pskclust._choice.scoring import SURE, Boosted, GapOdds, Logistic, log_dimension

# Set by hand: nine of ten single clusters stay whole. The larger this share, the more true clusters
# are joined.
SHARE_OF_SINGLES_KEPT = 0.9


class Several(NamedTuple):
    """The fitted model of one cluster or several."""

    logistic: Logistic
    gap: GapOdds

    @classmethod
    def fitted(cls, known: list[Known], score: Boosted) -> Several:
        return cls(fit_several(known, score), fit_gap([one.each for one in known]))

    def log_odds(self, known: Known, best: int) -> float:
        """Return the log odds of several clusters, given the best candidate."""
        row = np.array(known.of_several(best))
        gap = self.gap.log_odds(known.each.grown.empty_gap)
        return float(self.logistic.log_odds(row)) + gap


class Choice(NamedTuple):
    """The most typical candidate, and the log odds that there is more than one cluster."""

    each: Collected  # the draw that has the candidate
    best: int  # its number; -1 if there is none
    n_draws: int  # that it was chosen from
    is_found: bool  # whether other draws are likely to choose a similar candidate
    log_odds: float

    def raised(self, power: float) -> Choice:
        """Return the choice with the odds multiplied by a power of the intrinsic dimension."""
        return self._replace(log_odds=self.log_odds + power * log_dimension(self.each.grown))


class Verdict(NamedTuple):
    """The choices from a growing number of draws of a set; the last one is from all draws."""

    choices: list[Choice]

    def raised(self, power: float) -> Verdict:
        return Verdict([choice.raised(power) for choice in self.choices])

    def at(self, threshold: float) -> Choice:
        """Return the choice that counts if log odds up to `threshold` mean one cluster."""
        for choice in self.choices:
            if is_clear(choice.n_draws, choice.is_found, choice.log_odds - threshold):
                break
        return choice


class Outcome(NamedTuple):
    """The clustering that was chosen for a set."""

    each: Collected
    chosen: int  # candidate; -1 is one cluster
    n_draws: int

    @property
    def n_clusters(self) -> int:
        return 1 if self.chosen < 0 else self.each.evidence.candidates[self.chosen].n_clusters

    @property
    def ari(self) -> float:
        return self.each.ari_of_one if self.chosen < 0 else float(self.each.ari[self.chosen])

    @property
    def is_off(self) -> bool:
        """Whether the number of clusters is wrong by more than a factor of two."""
        found = self.n_clusters
        return all(max(found / true, true / found) > 2 for true in self.each.numbers)


def verdicts(
    held_out: list[Known], score: Boosted, several: Several, temperature: float
) -> list[Verdict]:
    """Return a verdict for each draw of the sets that were left out."""
    draws_of: dict[str, list[Known]] = defaultdict(list)
    for known in held_out:
        draws_of[known.each.set_name].append(known)
    return [
        verdict
        for draws in draws_of.values()
        for verdict in _of_set(draws, score, several, temperature)
    ]


def _of_set(
    draws: list[Known], score: Boosted, several: Several, temperature: float
) -> list[Verdict]:
    """Return the verdicts of the draws of one set."""
    scores = [known.scores(score) if len(known.each.ari) else np.zeros(0) for known in draws]
    best = [np.argsort(-some, kind="stable")[:N_BEST] for some in scores]
    drawn = np.repeat(np.arange(len(draws)), [len(some) for some in best])
    numbers = np.concatenate(best).astype(int)
    cuts = [cut for each, own in zip(draws, best, strict=True) for cut in each.each.cuts(own)]
    alike = agreements_of_cuts(cuts)
    high = np.concatenate([some[own] for some, own in zip(scores, best, strict=True)])
    compared = Compared(high, drawn, alike, temperature)

    @cache
    def log_odds(draw: int) -> float:
        typical = compared.choice([draw])
        if typical is None:
            return -SURE
        return several.log_odds(draws[draw], int(numbers[typical.winner]))

    @cache
    def choice_from(group: tuple[int, ...]) -> Choice:
        typical, n_draws = compared.choice(group), len(group)
        if typical is None:
            return Choice(draws[group[0]].each, -1, n_draws, True, -np.inf)
        own, number = draws[drawn[typical.winner]], int(numbers[typical.winner])
        stability = float(own.evidence["found"][number])
        repeatability = compared.repeatability(group)
        is_found = is_found_again(n_draws, typical.agreement, stability, repeatability)
        mean = float(np.mean([log_odds(draw) for draw in group]))
        return Choice(own.each, number, n_draws, is_found, mean)

    def verdict(draw: int) -> Verdict:
        """Return the choices from one draw, and from its group of each larger number of draws."""
        groups = [
            tuple(range(draw // n * n, draw // n * n + n)) for n in N_DRAWS if n <= len(draws)
        ]
        return Verdict([choice_from(group) for group in groups])

    return [verdict(draw) for draw in range(len(draws))]


def threshold_of(found: Iterable[Choice], share: float) -> float:
    """Return the log odds up to which a share of the single clusters stays whole."""
    singles = np.sort([one.log_odds for one in found if one.each.is_single])
    return float(singles[int(np.ceil(share * len(singles))) - 1]) if len(singles) else 0.0


def balanced(
    found: list[Verdict], share: float = SHARE_OF_SINGLES_KEPT
) -> tuple[float, list[Outcome]]:
    """Return the threshold that leaves a share of the single clusters whole, and the choices."""
    threshold = threshold_of([verdict.choices[0] for verdict in found], share)
    # Which draws are pooled depends on the threshold.
    for _ in range(3):
        threshold = threshold_of([verdict.at(threshold) for verdict in found], share)
    return threshold, decided(found, threshold)


def decided(found: list[Verdict], threshold: float) -> list[Outcome]:
    """Return the choice for each draw of a set."""
    choices = [verdict.at(threshold) for verdict in found]
    return [
        Outcome(one.each, one.best if one.log_odds > threshold else -1, one.n_draws)
        for one in choices
    ]


def figures(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the scores on sets that were left out: means, by family, and of single clusters."""
    given = [one for one in outcomes if one.each.is_given]
    by_family = {
        family: _figures_of([one for one in given if one.each.family == family])
        for family in GIVEN
        if any(one.each.family == family for one in given)
    }
    singles = [one for one in outcomes if one.each.is_single]
    return {
        "mean_of_families": _mean(each["ari"] for each in by_family.values()),
        "mean_of_sets": _figures_of(given),
        "families": by_family,
        "single_clusters_kept": _mean(one.n_clusters == 1 for one in singles),
        "draws": _mean(one.n_draws for one in given),
    }


def trade(found: list[Verdict]) -> dict[str, dict[str, float | None]]:
    """Return the scores if a share of the single clusters is left whole, by share."""
    answer = {}
    for share in (0.0, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95):
        reached = figures(balanced(found, share)[1] if share else decided(found, -np.inf))
        answer[f"{share:.2f}"] = {
            "mean_of_sets": reached["mean_of_sets"]["ari"],
            "mean_of_families": reached["mean_of_families"],
            "wrong_number": reached["mean_of_sets"]["wrong_number"],
        }
    return answer


def _figures_of(outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "sets": len({one.each.set_name for one in outcomes}),
        "ari": _mean(one.ari for one in outcomes),
        "best_candidate": _mean(one.each.ceiling for one in outcomes),
        "wrong_number": _mean(one.is_off for one in outcomes),
    }


def _mean(values: Iterable[float]) -> float | None:
    some = [float(value) for value in values]
    return round(float(np.mean(some)), 3) if some else None


def printed(found: dict[str, Any]) -> str:
    """Return scores as a table for the terminal."""
    lines = [f"{'family left out':18s} sets   ARI  best candidate  number off by more than 2x"]
    rows = found["families"] | {"mean of sets": found["mean_of_sets"]}
    for family, each in rows.items():
        lines.append(
            f"{family:18s} {each['sets']:4d}  {each['ari']:.3f}     {each['best_candidate']:.3f}"
            f"            {each['wrong_number']:.2f}"
        )
    lines.append(f"{'mean of families':18s}       {found['mean_of_families']:.3f}")
    lines.append(f"draws per set: {found['draws']:.1f}")
    if found["single_clusters_kept"] is not None:
        lines.append(f"single clusters left whole: {found['single_clusters_kept']:.3f}")
    return "\n".join(lines)
