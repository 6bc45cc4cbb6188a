"""Fixtures and settings for all tests."""

from __future__ import annotations

import os

# scikit-learn skips one of its estimator checks without it; SciPy reads it when imported.
os.environ["SCIPY_ARRAY_API"] = "1"

import hypothesis
import numpy as np
import pytest
from sklearn.datasets import make_blobs

# The same examples every time, so that a failure is a failure of the change at hand; look for
# new ones with HYPOTHESIS_PROFILE=explore.
hypothesis.settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture
def blobs():
    """Three well-separated blobs, 300 rows."""
    X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    return X


@pytest.fixture
def scattered():
    """Blobs that touch, of several sizes, with noise: something for every step to do."""
    rng = np.random.RandomState(0)
    sizes, centres, widths = (200, 120, 60), ((0, 0), (2.5, 0.5), (0.5, 3)), (0.6, 0.5, 0.25)
    parts = [
        centre + width * rng.randn(size, 2)
        for size, centre, width in zip(sizes, centres, widths, strict=True)
    ]
    return np.vstack([*parts, rng.uniform(-4, 6, (40, 2))])


@pytest.fixture
def shell(tmp_path):
    """Lines of shell as people type them."""
    from tests.helpers.cli import Shell

    return Shell(tmp_path)
