"""Parts of a sample, grown by plain NumPy and by compiled code."""

from __future__ import annotations

from itertools import chain

from numpy.testing import assert_array_equal

from pskclust._choice.sample import grow_parts


def both_ways(data, recipe, kernels, n_jobs=1):
    backends = ("numpy", "numba")
    return [grow_parts(data, recipe, kernels, n_jobs, backend) for backend in backends]


def assert_same_parts(plain, compiled):
    for one, other in zip(chain(*plain), chain(*compiled), strict=True):
        for name in ("cells", "labels", "steps", "seeds", "n_steps"):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
