"""Turn roles in docstrings, such as :class:`PSKC`, into links of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from griffe import Extension, Module, Object

_ROLE = re.compile(r":(?:class|func|meth):`~?([\w.]+)`")
PACKAGE = "pskclust"


class RolesAsLinks(Extension):
    """A griffe extension that turns each role into a reference, which mkdocs checks."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        if pkg.path != PACKAGE:
            return
        for obj in _objects(pkg):
            if obj.docstring:
                about = obj.docstring
                about.value = _ROLE.sub(lambda role, obj=obj: _link(role[1], obj), about.value)


def _objects(parent: Object) -> Iterator[Object]:
    yield parent
    for member in parent.members.values():
        if not member.is_alias:
            yield from _objects(member)


def _link(name: str, obj: Object) -> str:
    return f"[`{name.removeprefix(f'{PACKAGE}.')}`][{_public_path(name, obj)}]"


def _public_path(name: str, obj: Object) -> str:
    """Return the public path, as on the API pages, of the object that a docstring calls `name`."""
    if name.startswith(f"{PACKAGE}."):
        return name
    module, owner = _public_module(obj), obj if obj.is_class else obj.parent
    if owner is not None and owner.is_class and name in owner.members:
        return f"{module}.{owner.name}.{name}"
    is_at_the_top = name.split(".")[0] in obj.package.members
    return f"{PACKAGE if is_at_the_top else module}.{name}"


def _public_module(obj: Object) -> str:
    """Return the module that users import an object from: the package or a public module."""
    parts = obj.module.path.split(".")
    is_private = len(parts) == 1 or parts[1].startswith("_")
    return ".".join(parts[: 1 if is_private else 2])
