"""Fit the numbers of the rule, and score it on families that it was not fitted to.

    python benchmarks/choice/fit.py           # fit, print, write weights.json and left_out.json
    python benchmarks/choice/fit.py --try     # print only, in a few minutes, and with ...
        --drop path valley --temperature 3 --ridge 1e-3   # ... another rule
    python benchmarks/choice/fit.py --rebalance   # in a minute or two, fit only the balance between
        one cluster and several, and keep all other numbers

The script reads the files that `collect.py` wrote to build/choice. Scores are for families left out
of the fit: each given family is scored with numbers fitted to all other families. With each family,
another ninth of the generated single clusters is left out. Scores are means over four draws. As in
the package, several draws decide between one cluster and several if the log odds are close to zero.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from collect import FOLDER, Collected, load_all
from fitting import (
    SCORE_RIDGE,
    SPLIT_RIDGE,
    Columns,
    Known,
    Score,
    columns_of,
    fit_gap,
    fit_score,
    fit_several,
    fit_splits,
    has_few_rows,
    out_of_fold,
)
from sets import GIVEN

from pskclust._choice.consensus import most_typical
from pskclust._choice.draws import N_BEST
from pskclust._choice.scoring import (
    SCORE_NAMES,
    SEVERAL_NAMES,
    SPLIT_COLUMNS,
    GapOdds,
    Logistic,
    Weights,
    log_dimension,
)
from pskclust._choice.several import pooled_log_odds
from pskclust._utils.files import replacing

ROOT = Path(__file__).parents[2]
WEIGHTS = ROOT / "src/pskclust/_choice/weights.json"
# The numbers fitted without each family, which benchmarks/quality.py uses.
LEFT_OUT = Path(__file__).parent / "left_out.json"
# Set by hand: nine of ten single clusters stay whole. A larger share would join true clusters.
SHARE_OF_SINGLES_KEPT = 0.9
# The odds of several clusters are multiplied by a power of the intrinsic dimension: in few
# dimensions, borders are easier to see. The power is chosen by scores on families left out.
POWERS_OF_DIMENSION = (0.0, 0.5, 1.0, 1.5, 2.0)
# Odds of candidates are exp(score / temperature); chosen by scores on families left out.
TEMPERATURE = 2.0
_DIGITS = 6


class Rule(NamedTuple):
    """The evidence in the score, and the settings of its fit."""

    names: tuple[str, ...] = SCORE_NAMES
    ridge: float = SCORE_RIDGE
    temperature: float = TEMPERATURE


class Fold(NamedTuple):
    """The sets of one fit, and the sets that it leaves out."""

    left_out: str
    train: list[Known]  # the evidence of each by a split model not fitted to the set
    split: Logistic  # fitted to all of `train`
    held_out: list[Known]  # their evidence by `split`


class Verdict(NamedTuple):
    """The best candidate of a set that was left out, and the log odds of several clusters."""

    each: Collected
    best: int  # candidate; -1 if there is none
    log_odds: float  # that there is more than one cluster

    def raised(self, power: float) -> Verdict:
        """Return the verdict with the odds multiplied by a power of the intrinsic dimension."""
        return self._replace(log_odds=self.log_odds + power * log_dimension(self.each.grown))


class Outcome(NamedTuple):
    """The clustering that was chosen for a set."""

    each: Collected
    chosen: int  # candidate; -1 is one cluster

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


def divide(sets: list[Collected], left_out: str) -> tuple[list[Collected], list[Collected]]:
    """Return the sets to fit to, and those left out: a family, and a ninth of single clusters."""
    singles = [each for each in sets if each.is_single and not each.is_given]
    # Sets of few rows come last, so that adding some does not change the folds of the others.
    singles.sort(key=has_few_rows)
    names = list(dict.fromkeys(each.set_name for each in singles))
    held = set(names[GIVEN.index(left_out) :: len(GIVEN)])
    train = [
        each
        for each in sets
        if each.is_first_draw and each.family != left_out and each.set_name not in held
    ]
    return train, [each for each in sets if each.family == left_out or each.set_name in held]


def make_folds(sets: list[Collected], columns: Columns, cache: Cache) -> list[Fold]:
    """Return a fold for each family of given sets, with split models fitted without it."""
    families = {each.family for each in sets if each.is_given}
    folds = []
    for family in GIVEN:
        if family in families:
            train, held_out = divide(sets, family)
            models = cache.models(family, train, columns)
            split = models[-1]
            held = [Known.by(split, each, columns[each.name]) for each in held_out]
            folds.append(Fold(family, out_of_fold(train, columns, models), split, held))
    return folds


class Cache:
    """A cache of fitted split models on disk; fitting them takes most of the time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "split_models.json"
        files = [[path.name, path.stat().st_mtime] for path in sorted(folder.glob("*.npz"))]
        self._state = [SPLIT_RIDGE, *files]
        self._known: dict[str, Any] = {}
        if self._path.exists():
            content = json.loads(self._path.read_text())
            if content["state"] == self._state:
                self._known = content["models"]

    def models(self, name: str, sets: list[Collected], columns: Columns) -> list[Logistic]:
        if name not in self._known:
            fitted = fit_splits(sets, columns)
            self._known[name] = [[list(one.coefficients), one.constant] for one in fitted]
            write(self._path, {"state": self._state, "models": self._known})
        return [Logistic(np.array(weights), constant) for weights, constant in self._known[name]]


def best_candidate(known: Known, score: Score, temperature: float) -> int:
    """Return the number of the candidate that the package would choose, or -1 for none."""
    if not len(known.each.ari):
        return -1
    scores = score.of(known)
    best = np.argsort(-scores, kind="stable")[:N_BEST]
    odds = np.exp((scores[best] - scores[best[0]]) / temperature)
    labels = [known.each.labels(number) for number in best]
    return int(best[most_typical(labels, odds / odds.sum())])


class Several(NamedTuple):
    """The fitted model of one cluster or several."""

    logistic: Logistic
    gap: GapOdds

    @classmethod
    def fitted(cls, known: list[Known], score: Score) -> Several:
        return cls(fit_several(known, score), fit_gap([one.each for one in known]))

    def log_odds(self, known: Known, best: int) -> float:
        """Return the log odds of several clusters, given the best candidate."""
        row = np.array(known.of_several(best))
        gap = self.gap.log_odds(known.each.grown.empty_gap)
        return float(self.logistic.log_odds(row)) + gap


def fitted(known: list[Known], rule: Rule) -> tuple[Score, Several]:
    """Return the fitted score, and the fitted model of one cluster or several."""
    score = fit_score(known, rule.names, rule.ridge)
    return score, Several.fitted(known, score)


def verdicts(
    held_out: list[Known], score: Score, several: Several, temperature: float
) -> list[Verdict]:
    """Return a verdict for each set that was left out."""
    found = []
    for known in held_out:
        best = best_candidate(known, score, temperature)
        log_odds = several.log_odds(known, best) if best >= 0 else -np.inf
        found.append(Verdict(known.each, best, log_odds))
    return found


def power_of_dimension(found: list[Verdict]) -> float:
    """Return the largest power whose score is within 0.005 of the best; scores vary by 0.01."""

    def figure(power: float) -> float:
        reached = figures(balanced([one.raised(power) for one in found])[1])
        return (reached["mean_of_sets"]["ari"] + reached["mean_of_families"]) / 2

    reached = {power: figure(power) for power in POWERS_OF_DIMENSION}
    best = max(reached.values())
    return max(power for power, ari in reached.items() if ari >= best - 0.005)


def with_power(several: Several, power: float) -> Several:
    """Return the model of several clusters with its odds multiplied by the power."""
    raised = several.logistic.coefficients.copy()
    raised[SEVERAL_NAMES.index("log_dimension")] += power
    return several._replace(logistic=several.logistic._replace(coefficients=raised))


def threshold_of(found: list[Verdict], share: float = SHARE_OF_SINGLES_KEPT) -> float:
    """Return the log odds up to which a share of the single clusters stays whole."""
    singles = np.sort([one.log_odds for one in found if one.each.is_single])
    return float(singles[int(np.ceil(share * len(singles))) - 1]) if len(singles) else 0.0


def pooled(found: list[Verdict], threshold: float) -> list[Verdict]:
    """Return the verdicts with log odds pooled over further draws, as the package does."""
    draws: dict[str, list[Verdict]] = {}
    for one in found:
        draws.setdefault(one.each.set_name, []).append(one)

    def log_odds(one: Verdict) -> float:
        own = draws[one.each.set_name]
        place = own.index(one)
        drawn = [each.log_odds - threshold for each in (*own[place:], *own[:place])]
        others = iter(drawn[1:])
        # If there are fewer draws than in the package, their mean replaces the missing ones.
        pooled = pooled_log_odds(drawn[0], lambda: next(others, float(np.mean(drawn))))
        return threshold + pooled

    return [one._replace(log_odds=log_odds(one)) for one in found]


def balanced(
    found: list[Verdict], share: float = SHARE_OF_SINGLES_KEPT
) -> tuple[float, list[Outcome]]:
    """Return the threshold that leaves a share of the single clusters whole, and the choices."""
    threshold = threshold_of(found, share)
    # Which log odds are pooled depends on the threshold.
    for _ in range(3):
        threshold = threshold_of(pooled(found, threshold), share)
    return threshold, decided(pooled(found, threshold), threshold)


def decided(found: list[Verdict], threshold: float) -> list[Outcome]:
    """Return the choice for each set."""
    return [Outcome(one.each, one.best if one.log_odds > threshold else -1) for one in found]


# Scores.


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
    }


def trade(found: list[Verdict]) -> dict[str, dict[str, float | None]]:
    """Return the scores if a share of the single clusters is left whole, by share."""
    answer = {}
    for share in (0.0, 0.6, 0.7, 0.8, 0.85, 0.9):
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
    if found["single_clusters_kept"] is not None:
        lines.append(f"single clusters left whole: {found['single_clusters_kept']:.3f}")
    return "\n".join(lines)


# Output files.


def content_of(
    split: Logistic, score: Score, several: Several, threshold: float, temperature: float
) -> dict[str, Any]:
    """Return fitted numbers by name, as the package reads them."""
    weights = dict(zip(score.names, score.weights, strict=True))
    return {
        "split": _content_of(split, SPLIT_COLUMNS),
        "score": {
            "temperature": temperature,
            # Weights that the limit on their sign keeps at zero are left out.
            "weights": {
                name: round(float(weight), _DIGITS)
                for name, weight in weights.items()
                if abs(weight) >= 0.5 * 10.0**-_DIGITS
            },
        },
        # There is more than one cluster where the log odds are above zero.
        "several": _content_of(_shifted(several.logistic, threshold), SEVERAL_NAMES),
        "empty_gap": _rounded(several.gap),
    }


def _shifted(model: Logistic, threshold: float) -> Logistic:
    return model._replace(constant=model.constant - threshold)


def _rounded(gap: GapOdds) -> dict[str, float]:
    return {name: round(value, _DIGITS) for name, value in gap._asdict().items()}


def _content_of(model: Logistic, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "constant": round(model.constant, _DIGITS),
        "weights": {
            name: round(float(weight), _DIGITS)
            for name, weight in zip(names, model.coefficients, strict=True)
        },
    }


def write(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as stream:
        stream.write(json.dumps(content, indent=1).encode() + b"\n")


class Balance(NamedTuple):
    """The threshold between one cluster and several, and the scores that it reaches."""

    threshold: float
    head: dict[str, Any]  # figures, as weights.json has them

    @classmethod
    def of(cls, found: list[Verdict]) -> Balance:
        """Set the threshold by the verdicts on sets left out, and print the scores."""
        threshold, outcomes = balanced(found)
        always, reached = figures(decided(found, -np.inf)), figures(outcomes)
        print(f"If one cluster is never chosen:\n{printed(always)}\n")
        print(f"One cluster where log odds are at most {threshold:.2f}:\n{printed(reached)}")
        balance = trade(found)
        print("\nshare of single clusters left whole: mean ARI of sets, of families")
        for share, each in balance.items():
            print(f"{share}: {each['mean_of_sets']:.3f} {each['mean_of_families']:.3f}")
        head = {"left_out": reached, "left_out_without_one": always, "balance": balance}
        return cls(threshold, head)


def main() -> None:
    arguments = _arguments()
    sets = load_all(arguments.folder)
    if arguments.rebalance:
        rebalance(sets, arguments.weights, arguments.left_out)
    else:
        fit_all(sets, arguments)


def rebalance(sets: list[Collected], weights: Path, left_out: Path) -> None:
    """Fit only the balance between one cluster and several; keep the other models."""
    contents = json.loads(left_out.read_text())
    found = []
    for family, content in contents.items():
        train, held_out = divide(sets, family)
        content["empty_gap"] = _rounded(fit_gap(train))
        numbers = Weights.of(content)
        known = [
            Known.by(numbers.split, each, columns_of(each))
            for each in held_out
            if each.is_given or each.is_single
        ]
        score = Score(numbers.names, numbers.weights)
        several = Several(numbers.several, numbers.empty_gap)
        found += verdicts(known, score, several, numbers.temperature)
    balance = Balance.of(found)
    final = json.loads(weights.read_text())
    final["empty_gap"] = _rounded(fit_gap([each for each in sets if each.is_first_draw]))
    for content in (final, *contents.values()):
        model = _shifted(Weights.of(content).several, balance.threshold)
        content["several"] = _content_of(model, SEVERAL_NAMES)
    write(weights, final | balance.head)
    write(left_out, contents)


def fit_all(sets: list[Collected], arguments: argparse.Namespace) -> None:
    """Fit all numbers, print their scores on families left out, and write them."""
    names = tuple(name for name in SCORE_NAMES if name.split(" * ")[0] not in arguments.drop)
    rule = Rule(names, arguments.ridge, arguments.temperature)
    columns = {each.name: columns_of(each) for each in sets}
    cache = Cache(arguments.folder)
    folds = make_folds(sets, columns, cache)
    found, numbers = [], {}
    for fold in folds:
        score, several = fitted(fold.train, rule)
        numbers[fold.left_out] = (fold.split, score, several)
        found += verdicts(fold.held_out, score, several, rule.temperature)
    power = power_of_dimension(found)
    print(f"{len(sets)} draws of sets, odds times dimension ** {power:g}")
    balance = Balance.of([one.raised(power) for one in found])
    if arguments.dry:
        return
    first = [each for each in sets if each.is_first_draw]
    families = sorted({each.family for each in first})
    given = sum(each.is_given for each in first)
    head = {
        "date": str(date.today()),
        "sets": {"given": given, "generated": len(first) - given, "families": families},
        **balance.head,
        "power_of_dimension": power,
    }
    models = cache.models("", first, columns)
    score, several = fitted(out_of_fold(first, columns, models), rule)
    several = with_power(several, power)
    threshold, temperature = balance.threshold, rule.temperature
    final = content_of(models[-1], score, several, threshold, temperature)
    write(arguments.weights, head | final)
    without = {
        family: content_of(split, score, with_power(several, power), threshold, temperature)
        for family, (split, score, several) in numbers.items()
    }
    write(arguments.left_out, without)
    print(f"\nwritten: {arguments.weights}, {arguments.left_out}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="folder with the files of collect.py"
    )
    parser.add_argument(
        "--rebalance", action="store_true", help="set only the balance of one cluster and several"
    )
    parser.add_argument("--try", dest="dry", action="store_true", help="write nothing")
    parser.add_argument("--drop", nargs="+", default=[], help="evidence to leave out of the score")
    parser.add_argument("--ridge", type=float, default=SCORE_RIDGE)
    parser.add_argument("--temperature", type=float, default=TEMPERATURE)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--left-out", type=Path, default=LEFT_OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
