"""Parts of a sample, grown by plain NumPy and by compiled code."""

from __future__ import annotations

from itertools import chain

from numpy.testing import assert_array_equal

from pskclust._choice import sample as _kernel_sweep
from pskclust._choice.sample import grow_parts


def both_ways(monkeypatch, data, recipe, kernels, n_jobs=1):
    plain = grow_parts(data, recipe, kernels, n_jobs)
    with monkeypatch.context() as patch:
        patch.setattr(_kernel_sweep, "MIN_ROWS_FOR_COMPILED", 0)
        return plain, grow_parts(data, recipe, kernels, n_jobs)


def assert_same_parts(plain, compiled):
    for one, other in zip(chain(*plain), chain(*compiled), strict=True):
        for name in ("cells", "labels", "steps", "seeds", "n_steps"):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
