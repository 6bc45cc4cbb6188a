"""The candidates of several draws, and the one among them that is chosen.

The trees of another draw of partitionings and halves are a little different, and so are the scores
of their cuts. Means over draws vary less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .consensus import Labels, agreements_of_cuts, most_typical
from .draws import Draw
from .scoring import SURE, fitted_weights

# Numbers of draws after which drawing stops if the choice is clear; it always stops after the last.
N_DRAWS = (1, 4, 8)
MAX_DRAWS = N_DRAWS[-1]
# The choice of a candidate is clear if the mean ARI of the best candidates with it, weighted by
# their odds, is at least this.
CLEAR_AGREEMENT = 0.9
# It must also be found again by random halves of the rows with at least this mean Jaccard index,
# which Hennig (2007) calls highly stable. Else the best candidates of one draw may agree with each
# other, but not with those of the next draw.
CLEAR_STABILITY = 0.85
# One cluster or several is clear if the log odds are farther than this from zero. They vary by
# about 0.6 between draws.
CLOSE_TO_ZERO = 1.0


class Place(NamedTuple):
    """A candidate among several draws."""

    draw: int
    candidate: int


class Best(NamedTuple):
    """The best candidates of several draws, and the most typical of them."""

    places: list[Place]  # (b,)
    odds: Floats  # (b,) add up to 1
    labels: list[Labels]  # (b,) of all rows of the sample
    winner: int  # the most typical
    agreement: float  # mean ARI of all with the winner, weighted by odds

    @property
    def place(self) -> Place:
        """The place of the winner."""
        return self.places[self.winner]


class Pool(NamedTuple):
    """Draws of one sample, their best candidates, and whether there are several clusters."""

    draws: list[Draw]
    best: Best
    several: float  # log odds that there is more than one cluster; mean over draws


def pool_draws(drawn: Callable[[list[Draw]], Draw], is_open: bool) -> Pool | None:
    """Draw until the choice is clear, or until there are `MAX_DRAWS` draws.

    `drawn` returns a draw, given those before it. `is_open` is False if the number of clusters is
    given; then one draw is enough. Return None if the first draw has no candidates.
    """
    draws: list[Draw] = []
    log_odds: list[float] = []
    for n_draws in N_DRAWS:
        while len(draws) < n_draws:
            draws.append(drawn(draws))
        best = best_of(draws)
        if best is None:
            return None
        log_odds += [_log_odds_of_several(draw) for draw in draws[len(log_odds) :]]
        pool = Pool(draws, best, sum(log_odds) / len(log_odds))
        if not is_open or is_clear(best.agreement, stability_of(draws, best), pool.several):
            break
    return pool


def is_clear(agreement: float, stability: float, several: float) -> bool:
    """Return whether further draws are unlikely to change the choice.

    If there is clearly one cluster, no candidate is needed, so they need not agree.

    Parameters
    ----------
    agreement : float
        Mean ARI of the best candidates with the chosen one, weighted by their odds.
    stability : float
        How well random halves of the rows find the clusters of the chosen candidate again.
    several : float
        Log odds that there is more than one cluster.
    """
    is_found = agreement >= CLEAR_AGREEMENT and stability >= CLEAR_STABILITY
    return several < -CLOSE_TO_ZERO or (is_found and several > CLOSE_TO_ZERO)


def stability_of(draws: list[Draw], best: Best) -> float:
    """Return how well random halves of the rows find the clusters of the best candidate again."""
    draw, candidate = best.place
    return float(draws[draw].evidence["found"][candidate])


def best_of(draws: list[Draw]) -> Best | None:
    """Return the best candidates of all draws; None if there are none."""
    places = [Place(d, number) for d, draw in enumerate(draws) for number in draw.best()]
    if not places:
        return None
    labels = [draws[place.draw].labels(place.candidate) for place in places]
    alike = agreements_of_cuts([draws[place.draw].cut(place.candidate) for place in places])
    scores = np.array([draws[place.draw].score[place.candidate] for place in places])
    drawn = np.array([place.draw for place in places])
    odds = odds_of(mean_scores(scores, alike, drawn), fitted_weights().temperature)
    return Best(places, odds, labels, *most_typical(alike, odds))


def mean_scores(scores: Floats, alike: Floats, drawn: NDArray[np.int64]) -> Floats:
    """Return, for each candidate, the mean over draws of the score of the most similar candidate.

    Of equally similar candidates of a draw, the highest score counts.

    Parameters
    ----------
    scores : of shape (b,)
        Descending within each draw.
    alike : of shape (b, b)
        ARI of each pair of candidates.
    drawn : of shape (b,)
        The draw of each candidate.
    """
    of_draws = [np.flatnonzero(drawn == draw) for draw in np.unique(drawn)]
    similar = [scores[own[alike[:, own].argmax(axis=1)]] for own in of_draws]
    return np.asarray(np.mean(similar, axis=0))


def odds_of(scores: Floats, temperature: float) -> Floats:
    """Return odds that add up to 1; they are proportional to exp(score / temperature)."""
    odds = np.exp((scores - scores.max()) / temperature)
    return np.asarray(odds / odds.sum())


def _log_odds_of_several(draw: Draw) -> float:
    best = best_of([draw])
    return -SURE if best is None else draw.log_odds_of_several(best.place.candidate)
