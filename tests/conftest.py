"""Fixtures and settings for all tests."""

from __future__ import annotations

import os

# scikit-learn skips one of its estimator checks without it; SciPy reads it when imported.
os.environ["SCIPY_ARRAY_API"] = "1"

import hypothesis
import numpy as np
import pytest

pytest.register_assert_rewrite("tests.helpers")

from pskclust._kernels.select import can_compile  # noqa: E402
from tests.helpers.shapes import three_blobs  # noqa: E402

# The same examples every time, so that a failure is a failure of the change at hand; look for
# new ones with HYPOTHESIS_PROFILE=explore. `make test-fast` uses "fast".
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeat")
MAX_EXAMPLES_IF_FAST = 10
hypothesis.settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile(
    "fast", parent=hypothesis.settings.get_profile("repeat"), max_examples=MAX_EXAMPLES_IF_FAST
)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile(PROFILE)


# All of tests/kernels is about compiled code.
collect_ignore = [] if can_compile() else ["kernels"]


def pytest_report_header():
    if not can_compile():
        return "numba is not there: tests of compiled code, tests/kernels among them, are left out"
    return None


def pytest_collection_modifyitems(items):
    """Leave out tests that need numba where it is not; limit examples in the profile "fast"."""
    for item in items:
        if not can_compile() and item.get_closest_marker("numba"):
            item.add_marker(pytest.mark.skip(reason="it is about compiled code, without numba"))
    _limit_examples(items)


def _limit_examples(items):
    """Limit the examples of tests that ask for a number of their own, in the profile "fast"."""
    if PROFILE != "fast":
        return
    for function in {getattr(item, "function", None) for item in items}:
        asked = getattr(function, "_hypothesis_internal_use_settings", None)
        if asked is not None and asked.max_examples > MAX_EXAMPLES_IF_FAST:
            function._hypothesis_internal_use_settings = hypothesis.settings(
                asked, max_examples=MAX_EXAMPLES_IF_FAST
            )


@pytest.fixture
def blobs():
    """Three well-separated blobs, 300 rows."""
    return three_blobs()


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


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the pictures of reports empty: drawing takes longest, and captions stay."""
    from pskclust.report import _pictures

    def picture(size, draw, caption):
        return _pictures.EmbeddedPicture("data:image/png;base64,", caption)

    monkeypatch.setattr(_pictures, "_picture", picture)


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    """The command line, in a folder of the test."""
    from tests.helpers.cli import Commands

    monkeypatch.chdir(tmp_path)
    return Commands(capsys)
