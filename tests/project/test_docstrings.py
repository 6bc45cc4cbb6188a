"""Every public object has a numpydoc docstring with an example and with its relatives."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

import pskclust

COMMAND_LINE = "cli"
PUBLIC_MODULES = [
    "pskclust",
    *(
        f"pskclust.{module.name}"
        for module in pkgutil.iter_modules(pskclust.__path__)
        if not module.name.startswith("_") and module.name != COMMAND_LINE
    ),
]
SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)


def public_objects():
    """Yield the name and the object of every public class and function, once."""
    seen = set()
    for module in map(importlib.import_module, PUBLIC_MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and value not in seen:
                seen.add(value)
                yield f"{module.__name__}.{name}", value


def public_methods():
    """Yield the name and the function of every public method of this package, once."""
    seen = set()
    for name, value in OBJECTS.items():
        if not inspect.isclass(value):
            continue
        for attribute in sorted(set(dir(value))):
            method = inspect.getattr_static(value, attribute)
            function = getattr(method, "__func__", method)
            if attribute.startswith("_") or not inspect.isfunction(function):
                continue
            if function.__module__.startswith("pskclust") and function not in seen:
                seen.add(function)
                yield f"{name}.{attribute}", function


OBJECTS = dict(public_objects())
METHODS = dict(public_methods())
EVERYTHING = OBJECTS | METHODS


def sections(value):
    """Return the text of each section of a docstring by its title; the summary is under ""."""
    text = inspect.getdoc(value) or ""
    titles = ["", *(found["title"] for found in SECTION.finditer(text))]
    parts = SECTION.split(text)[::2]
    return dict(zip(titles, parts, strict=True))


def parameters(value):
    """Return the names of the parameters of a function, or of the constructor of a class."""
    if inspect.isclass(value) and issubclass(value, Exception):
        return []
    names = inspect.signature(value).parameters
    return [name for name in names if name not in ("self", "cls")]


def documented_names(section):
    """Return the names at the left margin of a section of parameters or attributes."""
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return {name.strip(" *") for line in lines for name in line.partition(" : ")[0].split(",")}


def lacking(title, values):
    return {name for name, value in values.items() if title not in sections(value)}


def test_every_public_object_and_method_has_an_example():
    assert not lacking("Examples", EVERYTHING)


def test_every_public_object_names_its_relatives():
    assert not lacking("See Also", OBJECTS)


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_a_docstring_names_the_thing_and_all_parameters(name):
    found = sections(EVERYTHING[name])
    summary = found[""].partition("\n\n")[0]
    assert summary.endswith((".", ":")), summary
    assert not summary.startswith(("What", "How", "Which", "Where", "Whether")), summary
    known = documented_names(found.get("Parameters", "") + found.get("Attributes", ""))
    assert set(parameters(EVERYTHING[name])) <= known


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_an_example_shows_a_result(name):
    lines = sections(EVERYTHING[name])["Examples"].splitlines()
    assert any(line.strip() and not line.startswith((">>> ", "... ", "...")) for line in lines)
