"""Imports that are delayed until their modules are used."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

# Modules that scikit-learn imports at once, although few commands use them.
_SELDOM_USED = ("scipy.stats", "pandas", "asyncio", "numpy.f2py", "numpy.testing")


class DelayedModule(ModuleType):
    """Placeholder for a module that is imported when one of its attributes is first used."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), attribute)


@contextlib.contextmanager
def delayed_imports(names: tuple[str, ...]) -> Iterator[None]:
    """Replace modules with placeholders when they are imported within the block."""
    delayed = {
        name: DelayedModule(name)
        for name in names
        if name not in sys.modules and importlib.util.find_spec(name) is not None
    }
    sys.modules.update(delayed)
    # `import numpy.testing` also looks for the attribute `testing` of `numpy`.
    packages = {name: sys.modules.get(name.rpartition(".")[0]) for name in delayed}
    for name, package in packages.items():
        if package is not None:
            setattr(package, name.rpartition(".")[2], delayed[name])
    try:
        yield
    finally:
        for name, module in delayed.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
            inside = vars(packages[name] or module)
            if inside.get(name.rpartition(".")[2]) is module:
                del inside[name.rpartition(".")[2]]


def import_sklearn() -> None:
    """Import scikit-learn without rarely used modules, which takes a fifth of the time."""
    with delayed_imports(_SELDOM_USED):
        importlib.import_module("sklearn.base")
