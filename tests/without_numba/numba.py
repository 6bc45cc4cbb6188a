"""In place of numba, where PYTHONPATH leads here: `make test-without-numba`."""

raise ModuleNotFoundError("numba is blocked, to try pskclust without it", name="numba")
