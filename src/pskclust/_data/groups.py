"""Groups of rows, and the check of the `groups` argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Groups:
    """The sorted names of groups, and the index of each row's group."""

    names: NDArray[Any]  # (g,) sorted
    numbers: NDArray[np.intp]  # (n,) index in `names`

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each group."""
        return np.bincount(self.numbers, minlength=len(self.names)).astype(np.int64)


def check_groups(groups: ArrayLike | None, n_rows: int) -> Groups:
    """Return the groups of rows after checking them; with None, each row is a group."""
    if groups is None:
        return Groups(np.arange(n_rows), np.arange(n_rows))
    if isinstance(groups, str):
        raise ValueError(
            f"groups={groups!r} is one name, but every row needs a group. If it is a column of X, "
            f"pass its values and leave it out of X: X.drop(columns={groups!r}), "
            f"groups=X[{groups!r}]."
        )
    names = np.asarray(groups)
    if names.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {names.shape}, but X has {n_rows} rows. Pass the group of each row, "
            f"in an array of shape ({n_rows},)."
        )
    # NaN differs from itself.
    missing = np.flatnonzero((names != names) | (names == np.array(None)))
    if len(missing):
        raise ValueError(
            f"groups[{missing[0]}] is {names[missing[0]]}. Every row needs a group: leave such "
            "rows out, or name their group."
        )
    try:
        found, numbers = np.unique(names, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            f"groups contains names of several types ({error}). Pass numbers only, or strings only."
        ) from error
    return Groups(found, numbers)
