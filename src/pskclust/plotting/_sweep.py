"""SweepDisplay: the result of a sweep as heat maps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._sweep import SweepResult
from ._axes import grid_of_axes

# More characters than this do not fit side by side under the columns.
_MAX_LETTERS = 28
# In a larger grid, the fields are too small for legible numbers.
_MAX_COLUMNS_WITH_NUMBERS, _MAX_ROWS_WITH_NUMBERS = 12, 16


class SweepDisplay:
    """Display of a sweep as heat maps of clusters, noise and stability over psi and tau.

    A frame marks the pair of psi and tau that :meth:`pskclust.SweepResult.best` returns.

    Use :meth:`from_result` to draw a result.

    Parameters
    ----------
    result : SweepResult
        The result of :func:`pskclust.sweep`.

    Attributes
    ----------
    axes_ : ndarray of three matplotlib Axes
        Axes of the heat maps.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    pskclust.sweep : Fit every pair of psi and tau.
    AutoDisplay : Draw the candidates of a fit without psi and tau.

    Examples
    --------
    >>> from pskclust import sweep
    >>> from pskclust.plotting import SweepDisplay
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> result = sweep(X, psi=[2, 4], tau=[0.1, 0.5], random_state=0)
    >>> [ax.get_title() for ax in SweepDisplay.from_result(result).axes_]
    ['clusters', 'noise', 'stability']
    """

    def __init__(self, *, result: SweepResult) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: SweepResult, *, figure: Any = None) -> Self:
        """Draw the result of :func:`pskclust.sweep`.

        Parameters
        ----------
        result : SweepResult
            The result to draw.
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : SweepDisplay
            The drawn display.

        Examples
        --------
        >>> from pskclust import sweep
        >>> from pskclust.plotting import SweepDisplay
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> result = sweep(X, psi=[2, 4], tau=[0.1, 0.5], random_state=0)
        >>> SweepDisplay.from_result(result).axes_[0].get_xlabel()
        'tau'
        """
        return cls(result=result).plot(figure=figure)

    def plot(self, *, figure: Any = None) -> Self:
        """Draw the heat maps of clusters, noise and stability.

        Parameters
        ----------
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : SweepDisplay
            The drawn display.

        Examples
        --------
        >>> from pskclust import sweep
        >>> from pskclust.plotting import SweepDisplay
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> result = sweep(X, psi=[2, 4], tau=[0.1, 0.5], random_state=0)
        >>> SweepDisplay(result=result).plot().axes_[0].get_ylabel()
        'psi'
        """
        n_psi, n_tau = self.result.n_clusters.shape
        width = max(3.2, min(5.5, 0.62 * n_tau + 0.6))
        height = max(2.6, min(7.0, 0.42 * n_psi + 1.3))
        self.axes_ = grid_of_axes(figure, (3 * width, height), 1, 3, sharey=True)[0]
        self.figure_ = self.axes_[0].figure
        clusters = self.result.n_clusters
        self._draw(0, "clusters", np.log1p(clusters), [f"{number:,}" for number in clusters.flat])
        noise, stability = self.result.noise, self.result.stability
        self._draw(1, "noise", noise, [f"{share:.0%}" for share in noise.flat], (0, 1))
        names = [f"{agreement:.2f}" for agreement in stability.flat]
        self._draw(2, "stability", stability, names, (0, 1))
        self.axes_[0].set_ylabel("psi")
        return self

    def _draw(
        self,
        number: int,
        title: str,
        values: NDArray[np.float64],
        names: list[str],
        limits: tuple[float | None, float | None] = (None, None),
    ) -> None:
        ax = self.axes_[number]
        image = ax.imshow(
            values, cmap="cividis", aspect="auto", origin="lower", vmin=limits[0], vmax=limits[1]
        )
        n_psi, n_tau = values.shape
        ax.set_xticks(np.arange(n_tau), [f"{tau:.3g}" for tau in self.result.tau])
        ax.set_yticks(np.arange(n_psi), [str(psi) for psi in self.result.psi])
        ax.tick_params(length=0)
        if sum(len(f"{tau:.3g}") for tau in self.result.tau) > _MAX_LETTERS:
            ax.tick_params(axis="x", rotation=90)
        ax.spines[:].set_visible(False)
        ax.set(xlabel="tau", title=title)
        if n_tau <= _MAX_COLUMNS_WITH_NUMBERS and n_psi <= _MAX_ROWS_WITH_NUMBERS:
            self._write(ax, names, image)
        self._frame_best(ax)

    def _write(self, ax: Any, names: list[str], image: Any) -> None:
        shades = image.to_rgba(image.get_array())[..., :3] @ [0.30, 0.59, 0.11]
        for (row, column), shade in np.ndenumerate(shades):
            name = names[row * shades.shape[1] + column]
            colour = "black" if shade > 0.5 else "white"
            ax.text(column, row, name, ha="center", va="center", color=colour, fontsize=9)

    def _frame_best(self, ax: Any) -> None:
        from matplotlib.patches import Rectangle

        best = self.result.best()
        column = int(np.flatnonzero(self.result.tau == best["tau"])[0])
        row = int(np.flatnonzero(self.result.psi == best["psi"])[0])
        for colour, line_width in (("white", 4.5), ("#d55e00", 2.5)):
            frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=colour, lw=line_width)
            frame.set(clip_on=False, zorder=5)
            ax.add_patch(frame)
