"""Ctrl-C in a fit, at any moment: the estimator is as it was, or wholly fitted."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import pskclust
from pskclust import PSKC, GroupPSKC, IsolationKernel

SOURCE = os.path.dirname(pskclust.__file__)
FITS = {
    "grown": (PSKC(psi=8, tau=0.1, n_partitions=6, random_state=0), {}),
    "chosen": (PSKC(n_partitions=6, random_state=0), {}),
    "kernel": (IsolationKernel(psi=8, n_partitions=6, random_state=0), {}),
    "groups": (
        GroupPSKC(n_partitions=6, random_state=0, n_components=2),
        {"groups": np.repeat(np.arange(15), 4)},
    ),
}


@pytest.fixture(scope="module")
def rows():
    return make_blobs(60, centers=3, cluster_std=0.5, random_state=1)[0]


@pytest.fixture(autouse=True)
def threads_can_fit_afterwards(rows):
    """No lock is kept by a fit that was interrupted."""
    yield
    model = PSKC(psi=8, tau=0.1, n_partitions=6, random_state=0)
    thread = threading.Thread(target=model.fit, args=(rows,), daemon=True)
    thread.start()
    thread.join(60)
    assert hasattr(model, "labels_")


class Interrupt:
    """Raises KeyboardInterrupt at a line of pskclust, by its number in the order of a run."""

    def __init__(self, at: float) -> None:
        self.n_lines, self._at = 0, at

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame, event, argument):
        code = frame.f_code
        # Between the body of `with lock` and the release no signal is handled, but lines are
        # traced: an interrupt there, which cannot happen, would keep the lock.
        is_ours = code.co_filename.startswith(SOURCE) and "ProcessSetting" not in code.co_qualname
        return self._line if is_ours else None

    def _line(self, frame, event, argument):
        if event == "line":
            self.n_lines += 1
            if self.n_lines == self._at:
                raise KeyboardInterrupt
        return self._line


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("again", [False, True], ids=["first fit", "second fit"])
def test_an_interrupt_at_any_line_leaves_all_or_nothing(kind, again, rows):
    model, options = FITS[kind]
    model = type(model)(**model.get_params())
    with Interrupt(np.inf) as run:
        type(model)(**model.get_params()).fit(rows, **options)
    # Everywhere, and at each of the last lines, where attributes are set.
    points = {*np.linspace(1, run.n_lines, 40).astype(int), *range(run.n_lines - 40, run.n_lines)}
    if again:
        model.fit(rows + 1, **options)
    names = set(vars(type(model)(**model.get_params()).fit(rows, **options)))
    for point in sorted(points):
        before = state(model)
        with Interrupt(point), contextlib.suppress(KeyboardInterrupt):
            model.fit(rows, **options)
        assert state(model) == before or set(vars(model)) == names, point


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers are of Unix")
def test_ctrl_c_at_random_moments_leaves_all_or_nothing(rows):
    """The signal itself, which comes between any two steps of Python, also in other packages."""
    assert threading.current_thread() is threading.main_thread()
    rng = np.random.RandomState(0)
    X = np.tile(rows, (20, 1)) + rng.randn(1200, 2) / 10
    expected = set(vars(PSKC(psi=16, tau=0.05).fit(X)))
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    n_interrupted = 0
    try:
        for _ in range(40):
            model = PSKC(psi=16, tau=0.05, n_partitions=20, random_state=0)
            before = state(model)
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.0005, 0.05))
                model.fit(X)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                n_interrupted += 1
            if state(model) != before:
                assert set(vars(model)) == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert n_interrupted
    model.fit(X)
    assert set(vars(model)) == expected
