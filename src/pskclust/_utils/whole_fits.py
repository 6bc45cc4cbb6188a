"""Fits that take effect completely or not at all."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")

Fit = Callable[Concatenate[Estimator, Arguments], Estimator]


def all_or_nothing(
    *private: str,
) -> Callable[[Fit[Estimator, Arguments]], Fit[Estimator, Arguments]]:
    """Return a decorator for ``fit`` that leaves the estimator unchanged if the fit fails.

    The decorator fits a copy without the attributes of an earlier fit, which are those whose names
    end in an underscore and those named in `private`. The estimator then takes over all attributes
    of the copy in one assignment, which an interrupt cannot split.
    """

    def decorate(fit: Fit[Estimator, Arguments]) -> Fit[Estimator, Arguments]:
        @functools.wraps(fit)
        def fit_copy(
            self: Estimator, /, *arguments: Arguments.args, **options: Arguments.kwargs
        ) -> Estimator:
            copy = object.__new__(type(self))
            copy.__dict__ = {
                name: value
                for name, value in vars(self).items()
                if not name.endswith("_") and name not in private
            }
            fit(copy, *arguments, **options)
            self.__dict__ = copy.__dict__
            return self

        return fit_copy

    return decorate
