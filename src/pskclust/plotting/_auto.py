"""AutoDisplay: the numbers of clusters that a choice considered, with odds and evidence."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._choice.options import AutoChoice, NumberOption
from .._utils.palette import cluster_colours
from .._utils.wording import percentage
from ._axes import grid_of_axes, without_frame
from .fitted_rows import model_of

_EVIDENCE = {
    "stability": "o",
    "least_stability": "v",
    "agreement": "s",
    "separation": "D",
    "overlap": "x",
}
_LONGEST_LINE, _LONGEST_WORD = 110, 10
_CHOSEN, _OTHER = "#1f6f8b", "#b8c4cc"


class AutoDisplay:
    """Display of the numbers of clusters that a choice considered, with odds and evidence.

    The odds of a number are the sum over the listed candidates with this number of clusters. The
    evidence is that of the best of these candidates.

    Use :meth:`from_estimator` to draw the choice of a fitted model.

    Parameters
    ----------
    choice : AutoChoice
        The choice to draw: the attribute `auto_` of a model that was fitted without `tau`.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
        Axes of the odds, and axes of the evidence.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    MergeTreeDisplay : Draw the tree that the chosen clusters were cut from.
    pskclust.PSKC : Estimator whose attribute `auto_` holds the choice.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.plotting import AutoDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(random_state=0).fit(X)
    >>> display = AutoDisplay.from_estimator(model)
    >>> display.choice.chosen.n_clusters
    3
    >>> [ax.get_xlabel() for ax in display.axes_]
    ['odds', 'evidence']
    """

    def __init__(self, *, choice: AutoChoice) -> None:
        self.choice = choice

    @classmethod
    def from_estimator(cls, estimator: Any, X: object = None, *, figure: Any = None) -> Self:
        """Draw the choice of a fitted model.

        Parameters
        ----------
        estimator : PSKC or Pipeline
            A model, or a pipeline that ends in one, fitted without `tau`.
        X : None
            Ignored, so that all displays can be called with the rows as second argument.
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : AutoDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If the model was fitted with `tau`, so that its clusters grew and were not chosen.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import AutoDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> len(AutoDisplay.from_estimator(model).axes_)
        2
        """
        model = model_of(estimator)
        if model.auto_ is None:
            raise ValueError(
                "There are no candidates to draw: with tau, clusters grow and none is chosen. "
                "Fit the model without tau."
            )
        return cls(choice=model.auto_).plot(figure=figure)

    def plot(self, *, figure: Any = None) -> Self:
        """Draw the odds as bars and, beside them, the evidence as marks from 0 to 1.

        Parameters
        ----------
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : AutoDisplay
            The drawn display.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import AutoDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> AutoDisplay(choice=model.auto_).plot().axes_[0].get_xlabel()
        'odds'
        """
        options = self.choice.numbers
        self.axes_ = grid_of_axes(
            figure,
            (9, 2.3 + 0.28 * len(options)),
            n_columns=2,
            sharey=True,
            gridspec_kw={"width_ratios": [2, 3]},
        )[0]
        self.figure_ = self.axes_[0].figure
        self._draw_odds(options)
        self._draw_evidence(options)
        for ax in self.axes_:
            without_frame(ax)
            ax.tick_params(axis="y", length=0)
        clauses = self.choice.reason.replace("; ", ";\n").splitlines()
        lines = [line for clause in clauses for line in _wrapped(clause)]
        self.figure_.suptitle("\n".join(lines), fontsize=10)
        return self

    def _draw_odds(self, options: Sequence[NumberOption]) -> None:
        ax = self.axes_[0]
        places = np.arange(len(options))
        is_chosen = [option.is_chosen for option in options]
        shades = [_CHOSEN if chosen else _OTHER for chosen in is_chosen]
        bars = ax.barh(places, [option.odds for option in options], color=shades, height=0.72)
        ax.bar_label(bars, [percentage(option.odds) for option in options], padding=3, fontsize=8)
        names = ax.set_yticks(places, [_name(option) for option in options], fontsize=9)
        for name, chosen in zip(names, is_chosen, strict=True):
            name.label1.set_fontweight("bold" if chosen else "normal")
        ax.set(xlabel="odds", xlim=(0, 1.18 * max(option.odds for option in options)))
        ax.set_ylim(len(options) - 0.4, -0.6)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        ax.locator_params(axis="x", nbins=4)

    def _draw_evidence(self, options: Sequence[NumberOption]) -> None:
        ax = self.axes_[1]
        ax.hlines(np.arange(len(options)), 0, 1, color="#e3e6e9", lw=0.8, zorder=0)
        for (name, marker), colour in zip(
            _EVIDENCE.items(), cluster_colours(len(_EVIDENCE))[:-1], strict=True
        ):
            values = [getattr(option, name) for option in options]
            known = [(value, place) for place, value in enumerate(values) if value is not None]
            if known:
                # Overlap is the only evidence that is better if it is low.
                label = name.replace("_", " ") + (" (low is good)" if name == "overlap" else "")
                # Marks are hollow, so that one does not hide another with nearly the same value.
                look = {"ls": "", "color": colour, "mfc": "none", "ms": 7, "mew": 1.6}
                ax.plot(*np.array(known).T, marker, label=label, **look)
        ax.set(xlabel="evidence", xlim=(-0.03, 1.03))
        if ax.get_legend_handles_labels()[0]:
            self.figure_.legend(
                loc="outside lower right", ncols=len(_EVIDENCE), fontsize=8, frameon=False
            )


def _wrapped(clause: str) -> list[str]:
    """Return a clause in lines of about the same length."""
    n_lines = -(-len(clause) // _LONGEST_LINE)
    return textwrap.wrap(clause, min(_LONGEST_LINE, len(clause) // n_lines + _LONGEST_WORD))


def _name(option: NumberOption) -> str:
    return "1 cluster" if option.n_clusters == 1 else f"{option.n_clusters:,} clusters"
