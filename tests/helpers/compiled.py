"""Compiled kernels, and the mark of tests about them, which are left out without numba."""

from __future__ import annotations

import importlib

import pytest

from pskclust._kernels import reference
from pskclust._kernels.select import can_compile

# Plain ones stand in for them: the tests that compare the two have the mark.
kernels = importlib.import_module("pskclust._kernels.compiled") if can_compile() else reference
COMPILED_WAYS = ("numba", "compiled", "neighbour blocks", "blocked")


def marked(*ways):
    """Return the values of a parameter of tests, those of compiled code with the mark."""
    return [
        pytest.param(way, marks=pytest.mark.numba) if way.endswith(COMPILED_WAYS) else way
        for way in ways
    ]
