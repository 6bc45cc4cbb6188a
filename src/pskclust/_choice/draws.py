"""One draw of partitionings and halves: its trees, and the scores of their cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .consensus import most_typical
from .evidence import Candidate, Evidence
from .scoring import SURE, fitted_weights, scored_evidence, scores, split_logits
from .several import log_odds_of_several
from .stability import Grown

# Number of candidates, by score, that may be chosen.
N_BEST = 40


class Best(NamedTuple):
    """The candidates with the best scores, and the most typical of them."""

    candidates: NDArray[np.intp]  # (b,) numbers of candidates, best first
    odds: Floats  # (c,) of all candidates; those of the best add up to 1
    labels: list[NDArray[np.int64]]  # of the best
    winner: int  # place among the best


class Draw(NamedTuple):
    """Trees of one draw, with the evidence for their cuts and the scores of these."""

    grown: Grown
    found: Evidence
    logits: list[Floats]  # log odds of the splits of each tree
    evidence: dict[str, Floats]
    score: Floats  # (c,)

    @classmethod
    def of(cls, grown: Grown, found: Evidence) -> Draw:
        if not found.candidates:
            return cls(grown, found, [], {}, np.empty(0))
        weights = fitted_weights()
        logits = split_logits(grown, found.splits, weights.split)
        evidence = scored_evidence(grown, found, logits)
        return cls(grown, found, logits, evidence, scores(evidence, weights))

    def best(self) -> Best:
        """Return the best candidates; those with a score of minus infinity are left out."""
        score = self.score
        best = np.argsort(-score, kind="stable")[:N_BEST]
        best = best[np.isfinite(score[best])]
        odds = np.exp((score - score[best[0]]) / fitted_weights().temperature)
        odds /= odds[best].sum()
        labels = [cut_of(self.grown, self.found.candidates[number]) for number in best]
        return Best(best, odds, labels, most_typical(labels, odds[best]))

    def log_odds_of_several(self, best: int | None = None) -> float:
        """Return the log odds that there is more than one cluster.

        `best` is the number of the most typical candidate, if it is known.
        """
        if not self.found.candidates:
            return -SURE
        if best is None:
            candidates, _, _, winner = self.best()
            best = int(candidates[winner])
        return log_odds_of_several(self.grown, self.found, self.evidence, best, fitted_weights())


def cut_of(grown: Grown, candidate: Candidate) -> NDArray[np.int64]:
    """Return the cluster of each row in a candidate."""
    return grown.trees[candidate.tree].tree.cut(candidate.n_clusters)
