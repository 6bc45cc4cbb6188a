"""The result of a sweep, as heat maps."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._sweep import SweepResult
from ._axes import grid_of_axes

# More letters do not fit side by side under the fields.
_MAX_LETTERS = 28
# Numbers in smaller fields cannot be read.
_MAX_COLUMNS_WITH_NUMBERS, _MAX_ROWS_WITH_NUMBERS = 12, 16


class SweepDisplay:
    """Heat maps of clusters, noise and stability over psi and tau; the best entry is framed.

    Make one with :meth:`from_result`.

    Parameters
    ----------
    result : SweepResult

    Attributes
    ----------
    axes_ : ndarray of three matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, *, result: SweepResult) -> None:
        self.result = result

    @classmethod
    def from_result(cls, result: SweepResult, *, figure: Any = None) -> Self:
        """Draw the result of :func:`pskclust.sweep`.

        Parameters
        ----------
        result : SweepResult
        figure : matplotlib Figure or None, default=None
            Where to draw; a new one if None.

        Returns
        -------
        display : SweepDisplay
        """
        return cls(result=result).plot(figure=figure)

    def plot(self, *, figure: Any = None) -> Self:
        """Draw on a figure, or on a new one."""
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
