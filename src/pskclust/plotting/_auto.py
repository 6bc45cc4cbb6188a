"""AutoDisplay: the candidates that a choice was made from, and the evidence for each."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._choice.choose import AutoChoice, Option
from .._utils.palette import cluster_colours
from ._axes import grid_of_axes

_EVIDENCE = {
    "stability": "o",
    "least_stability": "v",
    "agreement": "s",
    "separation": "D",
    "overlap": "x",
}


class AutoDisplay:
    """The best candidates of a choice: the odds of each, and the evidence for it.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    choice : AutoChoice

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, *, choice: AutoChoice) -> None:
        self.choice = choice

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Draw the choice that a fitted estimator made.

        Parameters
        ----------
        estimator : PSKC
            Fitted without `tau`.

        Returns
        -------
        display : AutoDisplay
        """
        check_is_fitted(estimator)
        if estimator.auto_ is None:
            raise ValueError("The model chose nothing: its clusters grew. Fit it without tau.")
        return cls(choice=estimator.auto_).plot()

    def plot(self) -> Self:
        """Draw the odds of candidates as bars, and their evidence from 0 to 1 beside them."""
        options = list(dict.fromkeys([*self.choice.candidates, self.choice.chosen]))
        height = 1.6 + 0.32 * len(options)
        self.axes_ = grid_of_axes(None, (9, height), n_columns=2, sharey=True)[0]
        self.figure_ = self.axes_[0].figure
        odds, evidence = self.axes_
        places = np.arange(len(options))
        is_chosen = [option == self.choice.chosen for option in options]
        colours = ["#1f6f8b" if chosen else "#b8c4cc" for chosen in is_chosen]
        odds.barh(places, [option.odds for option in options], color=colours)
        odds.set_yticks(places, [_name(option) for option in options], fontsize=8)
        odds.invert_yaxis()
        odds.set_xlabel("odds")
        for (name, marker), colour in zip(
            _EVIDENCE.items(), cluster_colours(len(_EVIDENCE))[:-1], strict=True
        ):
            shown = [(place, getattr(option, name)) for place, option in enumerate(options)]
            known = [(value, place) for place, value in shown if value is not None]
            if known:
                label = name.replace("_", " ")
                evidence.plot(*np.array(known).T, marker, ls="", color=colour, label=label, ms=6)
        evidence.set(xlabel="evidence", xlim=(-0.05, 1.05))
        evidence.legend(fontsize=7, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3)
        evidence.grid(axis="y", lw=0.4)
        self.figure_.suptitle(self.choice.reason, fontsize=8, x=0.02, ha="left")
        return self


def _name(option: Option) -> str:
    if option.n_clusters == 1:
        return "1 cluster"
    return f"{option.n_clusters} clusters ({option.kind}, psi {option.psi})"
