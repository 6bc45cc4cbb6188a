"""Tests that need PyTorch."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs_torch(test):
    """Mark a test that needs PyTorch, which the extras for tests leave out."""
    missing = pytest.mark.skipif(
        find_spec("torch") is None, reason="needs PyTorch; `make check-device` has it"
    )
    return pytest.mark.device(missing(test))
