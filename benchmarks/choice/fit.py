"""Fit the numbers of the rule, and score it on families that it was not fitted to.

    python benchmarks/choice/fit.py           # fit, print, write weights.json and left_out.json
    python benchmarks/choice/fit.py --try     # print only, in a few minutes, and with ...
        --drop path valley --temperature 2 --trees 200   # ... another rule
    python benchmarks/choice/fit.py --rebalance   # in a minute or two, fit only the balance between
        one cluster and several, and keep all other numbers

The script reads the files that `collect.py` wrote to build/choice. Scores are for families left out
of the fit: each given family is scored with numbers fitted to all other families. With each family,
another ninth of the generated single clusters is left out. Scores are means over sixteen draws. As
in the package, more draws decide if fewer do not give a clear choice.
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from choices import (
    Several,
    Verdict,
    balanced,
    decided,
    figures,
    printed,
    trade,
    verdicts,
)
from collect import FOLDER, Collected, load_all
from fitting import (
    SPLIT_RIDGE,
    Columns,
    Known,
    Rule,
    columns_of,
    fit_gap,
    fit_scores,
    fit_splits,
    has_few_rows,
    out_of_fold,
)
from sets import GIVEN

from pskclust._choice.scoring import (
    SCORE_NAMES,
    SEVERAL_NAMES,
    SPLIT_COLUMNS,
    Boosted,
    GapOdds,
    Logistic,
    Weights,
)
from pskclust._utils.files import replacing
from pskclust._utils.parallel import one_blas_thread

ROOT = Path(__file__).parents[2]
WEIGHTS = ROOT / "src/pskclust/_choice/weights.json"
# The numbers fitted without each family, which benchmarks/quality.py uses.
LEFT_OUT = Path(__file__).parent / "left_out.json"
# The odds of several clusters are multiplied by a power of the intrinsic dimension: in few
# dimensions, borders are easier to see. The power is chosen by scores on families left out.
POWERS_OF_DIMENSION = (0.0, 0.5, 1.0, 1.5, 2.0)
_DIGITS = 6


class Fold(NamedTuple):
    """The sets of one fit, and the sets that it leaves out."""

    left_out: str
    train: list[Known]  # the evidence of each by a split model not fitted to the set
    split: Logistic  # fitted to all of `train`
    held_out: list[Known]  # their evidence by `split`


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


# Output files.


def content_of(
    split: Logistic, score: Boosted, several: Several, threshold: float, temperature: float
) -> dict[str, Any]:
    """Return fitted numbers by name, as the package reads them."""
    return {
        "split": _content_of(split, SPLIT_COLUMNS),
        "score": {"temperature": temperature, "trees": score.to_lines()},
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
    # Rounding in matrix products depends on the number of threads.
    with one_blas_thread:
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
        several = Several(numbers.several, numbers.empty_gap)
        found += verdicts(known, numbers.score, several, numbers.temperature)
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
    rule = Rule(tuple(arguments.drop), arguments.trees, arguments.temperature)
    columns = {each.name: columns_of(each) for each in sets}
    cache = Cache(arguments.folder)
    folds = make_folds(sets, columns, cache)
    first = [each for each in sets if each.is_first_draw]
    split = cache.models("", first, columns)
    everything = out_of_fold(first, columns, split)
    trains = [*(fold.train for fold in folds), *([] if arguments.dry else [everything])]
    scores = fit_scores(trains, rule)
    found, numbers = [], {}
    for fold, score in zip(folds, scores, strict=False):
        several = Several.fitted(fold.train, score)
        numbers[fold.left_out] = (fold.split, score, several)
        found += verdicts(fold.held_out, score, several, rule.temperature)
    power = power_of_dimension(found)
    print(f"{len(sets)} draws of sets, odds times dimension ** {power:g}")
    balance = Balance.of([one.raised(power) for one in found])
    if arguments.dry:
        return
    families = sorted({each.family for each in first})
    given = sum(each.is_given for each in first)
    head = {
        "date": str(date.today()),
        "sets": {"given": given, "generated": len(first) - given, "families": families},
        **balance.head,
        "power_of_dimension": power,
    }
    several = with_power(Several.fitted(everything, scores[-1]), power)
    threshold = balance.threshold
    final = content_of(split[-1], scores[-1], several, threshold, rule.temperature)
    write(arguments.weights, head | final)
    without = {
        family: content_of(split, score, with_power(several, power), threshold, rule.temperature)
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
    parser.add_argument(
        "--drop", nargs="+", default=[], choices=SCORE_NAMES, help="evidence to leave out"
    )
    parser.add_argument("--trees", type=int, default=Rule().n_trees)
    parser.add_argument("--temperature", type=float, default=Rule().temperature)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--left-out", type=Path, default=LEFT_OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
