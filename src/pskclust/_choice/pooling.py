"""The candidates of several draws, and the one among them that is chosen.

The trees of another draw of partitionings and halves are a little different, and so are the scores
of their cuts. Means over draws vary less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .consensus import Labels, agreements_of_cuts, most_typical
from .draws import Draw
from .scoring import SURE, fitted_weights

# Numbers of draws after which drawing stops if the choice is clear; it always stops after the last.
N_DRAWS = (1, 4, 8, 16)
MAX_DRAWS = N_DRAWS[-1]
# Two clusterings whose ARI is at least this are called alike.
ALIKE = 0.9
# The choice of a single draw is found again if its best candidates are alike, on average weighted
# by their odds, and if random halves of the rows find its clusters with at least this mean Jaccard
# index, which Hennig (2007) calls highly stable.
CLEAR_STABILITY = 0.85
# One cluster or several is clear if the mean log odds of n draws are farther from zero than this
# divided by the root of n. The log odds of single draws vary by about 0.6.
CLOSE_TO_ZERO = 1.0


class Place(NamedTuple):
    """A candidate among several draws."""

    draw: int
    candidate: int


class Typical(NamedTuple):
    """The most typical of some candidates."""

    odds: Floats  # (m,) of these candidates; add up to 1
    winner: int  # the candidate that is the most typical
    agreement: float  # mean ARI of all with the winner, weighted by odds


class Compared(NamedTuple):
    """The best candidates of several draws, compared with each other."""

    scores: Floats  # (b,) descending within each draw
    drawn: NDArray[np.intp]  # (b,) the draw of each candidate
    alike: Floats  # (b, b) ARI of each pair
    temperature: float

    def choice(self, draws: Sequence[int] | NDArray[np.intp]) -> Typical | None:
        """Return the most typical candidate of some of the draws; None if they have none."""
        members = np.flatnonzero(np.isin(self.drawn, draws))
        if not len(members):
            return None
        alike = self.alike[np.ix_(members, members)]
        means = mean_scores(self.scores[members], alike, self.drawn[members])
        odds = odds_of(means, self.temperature)
        winner, agreement = most_typical(alike, odds)
        return Typical(odds, int(members[winner]), agreement)

    def repeatability(self, draws: Sequence[int]) -> float:
        """Return how well halves of the draws repeat the choice of all of them.

        The result is the smallest ARI between the choices of all draws, of a half, and of the other
        half. 2^w draws are halved in w ways, by each binary digit of their places, so that any two
        draws are in different halves at least once. Of a single draw, it is 1.
        """
        numbers, places = np.array(draws), np.arange(len(draws))
        whole, least = self.choice(numbers), 1.0
        for way in range((len(draws) - 1).bit_length()):
            is_first = places >> way & 1 == 1
            halves = [self.choice(numbers[own]) for own in (is_first, ~is_first)]
            winners = [choice.winner for choice in (whole, *halves) if choice is not None]
            if len(winners) < 3:
                return 0.0
            least = min(least, float(self.alike[np.ix_(winners, winners)].min()))
        return least


class Best(NamedTuple):
    """The best candidates of several draws, and the most typical of them."""

    places: list[Place]  # (b,)
    odds: Floats  # (b,) add up to 1
    labels: list[Labels]  # (b,) of all rows of the sample
    winner: int  # the most typical
    agreement: float  # mean ARI of all with the winner, weighted by odds
    repeatability: float  # see `Compared`

    @property
    def place(self) -> Place:
        """The place of the winner."""
        return self.places[self.winner]


class Pool(NamedTuple):
    """Draws, their best candidates, and the log odds that there is more than one cluster."""

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
        stability = stability_of(draws, best)
        is_found = is_found_again(n_draws, best.agreement, stability, best.repeatability)
        if not is_open or is_clear(n_draws, is_found, pool.several):
            break
    return pool


def is_found_again(n_draws: int, agreement: float, stability: float, repeatability: float) -> bool:
    """Return whether other draws are likely to choose a similar candidate.

    Of several draws, the choices of all of them and of both halves must be alike, however they are
    halved. A single draw cannot be halved: its best candidates must be alike, and stable.

    Parameters
    ----------
    n_draws : int
        Number of draws that the choice was made from.
    agreement : float
        Mean ARI of the best candidates with the chosen one, weighted by their odds.
    stability : float
        How well random halves of the rows find the clusters of the chosen candidate again.
    repeatability : float
        See :meth:`Compared.repeatability`.
    """
    if n_draws > 1:
        return repeatability >= ALIKE
    return agreement >= ALIKE and stability >= CLEAR_STABILITY


def is_clear(n_draws: int, is_found: bool, several: float) -> bool:
    """Return whether further draws are unlikely to change the choice.

    If there is clearly one cluster, no candidate is needed, so none need be found again. `several`
    are the log odds that there is more than one cluster.
    """
    close = CLOSE_TO_ZERO / math.sqrt(n_draws)
    return several < -close or (is_found and several > close)


def stability_of(draws: list[Draw], best: Best) -> float:
    """Return how well random halves of the rows find the clusters of the best candidate again."""
    draw, candidate = best.place
    return float(draws[draw].evidence["found"][candidate])


def best_of(draws: list[Draw]) -> Best | None:
    """Return the best candidates of all draws; None if there are none."""
    places = [Place(d, number) for d, draw in enumerate(draws) for number in draw.best()]
    compared = Compared(
        np.array([draws[place.draw].score[place.candidate] for place in places]),
        np.array([place.draw for place in places]),
        agreements_of_cuts([draws[place.draw].cut(place.candidate) for place in places]),
        fitted_weights().temperature,
    )
    labels = [draws[place.draw].labels(place.candidate) for place in places]
    everything = list(range(len(draws)))
    typical = compared.choice(everything)
    if typical is None:
        return None
    repeatability = compared.repeatability(everything)
    return Best(places, typical.odds, labels, typical.winner, typical.agreement, repeatability)


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
