"""Make small wrong changes to a Python file, one at a time, such as programmers make."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


class Edit(NamedTuple):
    """One change to a file: its line, and the code before and after."""

    line: int
    code: str  # the whole line before the change
    before: str
    after: str
    text: str  # the whole file after the change

    @property
    def change(self) -> str:
        return f"{self.before} -> {self.after}"


def edits(source: str) -> list[Edit]:
    """Return all changes to a file that leave it valid Python, in the order of its lines."""
    tree = ast.parse(source)
    found = [_edit(source, *change) for node in _code(tree) for change in _changes(node)]
    return sorted(found, key=lambda edit: edit.line)


def _edit(source: str, node: ast.stmt | ast.expr, other: ast.AST) -> Edit:
    after = ast.unparse(other)
    if isinstance(node, ast.expr):
        after = f"({after})"
    lines = source.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    start = sum(map(len, lines[:first])) + node.col_offset
    end = sum(map(len, lines[:last])) + (node.end_col_offset or 0)
    whole = b"".join(lines)
    text = (whole[:start] + after.encode() + whole[end:]).decode()
    before = " ".join(whole[start:end].decode().split())
    return Edit(node.lineno, lines[first].decode().strip(), before, after, text)


def _code(node: ast.AST) -> Iterator[ast.stmt | ast.expr]:
    """Yield the nodes whose change could matter.

    Annotations, decorators, imports, messages, bodies of protocols and the argument `strict` are
    left out.
    """
    if isinstance(node, ast.ClassDef) and any(
        isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases
    ):
        return
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, ast.stmt | ast.expr):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _changes(node: ast.stmt | ast.expr) -> Iterator[tuple[ast.stmt | ast.expr, ast.AST]]:
    """Yield the changes at a node: the node or a part of it, and its replacement."""
    match node:
        case ast.Compare(ops=[operator]):
            for kind in _COMPARISONS[type(operator)]:
                yield node, _with(node, ops=[kind()])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in _OPERATORS:
            yield node, _with(node, op=_OPERATORS[type(operator)]())
        case ast.BoolOp(op=operator):
            yield node, _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield node, operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield node, ast.Constant(value + 1)
        case ast.Return(value=ast.expr()):
            yield node, ast.Return(ast.Constant(None))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            # A condition without an operator is negated; others are changed elsewhere.
            if isinstance(test, ast.Name | ast.Call | ast.Subscript | ast.Attribute):
                yield test, ast.UnaryOp(ast.Not(), test)
    if _can_be_left_out(node):
        yield node, ast.Pass()


def _can_be_left_out(node: ast.AST) -> bool:
    """Return whether a statement has an effect and can be removed without undefining a name."""
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            return True
        case ast.Assign(targets=[ast.Subscript()]):
            return True
    return False


def _with(node: ast.AST, **changes: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed
