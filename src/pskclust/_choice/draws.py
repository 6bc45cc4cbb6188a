"""One draw of partitionings and halves: its trees, and the scores of their cuts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .consensus import Cut
from .evidence import Evidence
from .scoring import fitted_weights, scored_evidence, scores, split_logits
from .several import log_odds_of_several
from .stability import Grown

# Number of candidates of a draw, by score, that may be chosen.
N_BEST = 40


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
        # Several draws are kept at a time.
        grown = grown.without_tables()
        return cls(grown, found, logits, evidence, scores(evidence, weights))

    def over(self, first: Draw, nearest: NDArray[np.intp]) -> Draw:
        """Return the draw with its trees over the rows of the sample of the first draw.

        Each of these rows follows its nearest row in the own sample. Cuts with a cluster that no
        row follows are left out.
        """
        trees = [replace(each, tree=each.tree.over(nearest)) for each in self.grown.trees]
        grown = replace(
            self.grown,
            n_rows=first.grown.n_rows,
            trees=trees,
            placing_centres=first.grown.placing_centres,
            placing_cells=first.grown.placing_cells,
        )
        most = [each.tree.n_splits + 1 for each in trees]
        is_too_fine = [each.n_clusters > most[each.tree] for each in self.found.candidates]
        return self._replace(grown=grown).without(np.array(is_too_fine, dtype=bool))

    def without(self, left_out: NDArray[np.bool_]) -> Draw:
        """Return the draw without some of its candidates: their scores become minus infinity."""
        return self._replace(score=np.where(left_out, -np.inf, self.score))

    def best(self) -> NDArray[np.intp]:
        """Return the candidates with the best finite scores, best first."""
        best = np.argsort(-self.score, kind="stable")[:N_BEST]
        return best[np.isfinite(self.score[best])]

    def labels(self, number: int) -> NDArray[np.int64]:
        """Return the cluster of each row in a candidate."""
        tree, n_clusters = self.cut(number)
        return tree.cut(n_clusters)

    def cut(self, number: int) -> Cut:
        """Return a candidate as a cut of a tree."""
        candidate = self.found.candidates[number]
        return Cut(self.grown.trees[candidate.tree].tree, candidate.n_clusters)

    def log_odds_of_several(self, best: int) -> float:
        """Return the log odds that there is more than one cluster, given the best candidate."""
        return log_odds_of_several(self.grown, self.found, self.evidence, best, fitted_weights())
