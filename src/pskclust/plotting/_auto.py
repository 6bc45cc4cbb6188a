"""What the choice of psi and of the number of clusters was made of."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._choice.candidates import standard_for
from .._choice.rule import WORTH_OF_ONE, AutoChoice
from .._utils.palette import cluster_colours
from ._axes import grid_of_axes

_MAX_CLUSTERS_SHOWN = 40
# Cuts far below are of no interest.
_LEAST_WORTH = -6


class AutoDisplay:
    """How well each cut is reproduced, what it is worth, and which one was chosen.

    If no cut is above a dashed line, there is one cluster. "As it counts" means that much of what
    is lacking is forgiven where clusters do not touch.

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
            Fitted, with something to choose.

        Returns
        -------
        display : AutoDisplay
        """
        check_is_fitted(estimator)
        if estimator.auto_ is None:
            raise ValueError(
                "The model chose nothing: psi, tau and what else there is were given. Fit it with "
                "psi='auto'."
            )
        return cls(choice=estimator.auto_).plot()

    def plot(self) -> Self:
        """Draw both measures against the number of clusters, a line for each psi."""
        size = (7, 5.6)
        self.axes_ = grid_of_axes(None, size, n_rows=2, sharex=True)[:, 0]
        self.figure_ = self.axes_[0].figure
        psis = sorted({cut.psi for cut in self.choice.cuts})
        colours = cluster_colours(len(psis))
        least = standard_for(self.choice.n_rows).least
        measures = (
            ("credit", "reproduced, as it counts", least, (-0.03, 1.05)),
            ("worth", "worth", WORTH_OF_ONE, (_LEAST_WORTH, None)),
        )
        for ax, (measure, name, threshold, limits) in zip(self.axes_, measures, strict=True):
            for psi, colour in zip(psis, colours, strict=False):
                line = [
                    (cut.n_clusters, getattr(cut, measure))
                    for cut in self.choice.cuts
                    if cut.psi == psi and cut.n_clusters <= self._last
                ]
                ax.plot(*np.array(line).reshape(-1, 2).T, ".-", color=colour, label=f"psi {psi}")
            chosen = self.choice.chosen
            ax.plot(
                chosen.n_clusters, getattr(chosen, measure), "o", ms=12, mfc="none", mec="black"
            )
            ax.axhline(threshold, color="grey", lw=0.8, ls="--")
            ax.set(ylabel=name, ylim=limits)
        if psis:
            self.axes_[0].legend(fontsize=8, ncols=3)
        self.axes_[1].set_xlabel("number of clusters")
        self.axes_[0].set_title(f"psi {chosen.psi}: {self.choice.reason}", fontsize=8)
        return self

    @property
    def _last(self) -> int:
        """The largest number of clusters that is shown."""
        return max(_MAX_CLUSTERS_SHOWN, self.choice.chosen.n_clusters + 5)
