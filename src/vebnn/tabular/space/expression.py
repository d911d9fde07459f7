"""Arithmetic and comparisons of columns, written as text; nothing in it is executed as code.

The text is parsed into a tree, and only the kinds of nodes that are listed here are evaluated.
"""

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vebnn.tabular.errors import TableError, quoted, quoted_list
from vebnn.tabular.values import to_label

LONGEST = 500  # characters
_GRAMMAR = (
    "It may have columns, numbers, + - * / **, brackets, < <= > >= == !=, and, or, not; a name with "
    "spaces stands in `backticks`"
)
_PARTS = re.compile(r"\"[^\"]*\"|'[^']*'|`([^`]+)`")  # text of categories stays as it is

_ARITHMETIC: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_SIGNS: dict[type, Callable] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_ORDERS: dict[type, Callable] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_LOGIC: dict[type, Callable] = {ast.And: np.logical_and, ast.Or: np.logical_or}


@dataclass(frozen=True)
class Expression:
    """An expression of columns, such as ``copper + nickel <= 5`` or ``alloy == "7075"``."""

    text: str
    role: str  # what it is, for messages: "constraint"
    tree: Any
    columns: Mapping[str, str]  # the columns it names, by their name in the tree

    @classmethod
    def parse(cls, text: Any, role: str) -> "Expression":
        """Parse a text.

        Raises:
          TableError: if it is not such an expression.
        """
        if not isinstance(text, str) or not text.strip():
            raise TableError(
                f"A {role} must be text in quotes, such as 'copper + nickel <= 5'. Got {quoted(text)}."
            )
        if len(text) > LONGEST:
            raise TableError(
                f"The {role} {quoted(text)} must have at most {LONGEST} characters. Got {len(text)}."
            )
        between: dict[str, str] = {}  # placeholders of names in backticks

        def replace(found: re.Match) -> str:
            if found[1] is None:
                return str(found[0])
            placeholder = "_" * LONGEST + str(len(between))  # too long to be in the text
            between[placeholder] = found[1]
            return placeholder

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about what looks like a mistake in a program
                tree = ast.parse(_PARTS.sub(replace, text).strip(), mode="eval").body
            names = _names_in(tree)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise TableError(f"The {role} {quoted(text)} cannot be read. {_GRAMMAR}.") from None
        except _NotAllowedError as error:
            wrong = str(error)
            for placeholder, name in between.items():
                wrong = wrong.replace(placeholder, f"`{name}`")
            raise TableError(f"The {role} {quoted(text)} has {wrong}. {_GRAMMAR}.") from None
        return cls(text, role, tree, {name: between.get(name, name) for name in names})

    def truth(self, columns: Mapping[str, np.ndarray], num_rows: int) -> np.ndarray:
        """Return for each row whether a comparison holds.

        Args:
          columns: numbers, or labels of categories as objects.
          num_rows: their length.
        """
        found = self._values(columns)
        if found.dtype != bool:
            raise TableError(
                f"The {self.role} {quoted(self.text)} must be a comparison, which is true or false. "
                f"Add one, such as <= 5."
            )
        return np.broadcast_to(found, num_rows)

    def numbers(self, columns: Mapping[str, np.ndarray], num_rows: int) -> np.ndarray:
        """Return a number for each row."""
        found = self._values(columns)
        if found.dtype == bool or found.dtype == object:
            raise TableError(
                f"The {self.role} {quoted(self.text)} must be a number for every row, not a comparison "
                f"or a category."
            )
        return np.broadcast_to(found, num_rows)

    def _values(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        for name in self.columns.values():
            if name not in columns:
                raise TableError(
                    f"The {self.role} {quoted(self.text)} names {name!r}, which is no column of "
                    f"numbers or categories of the space. These are {quoted_list(columns, 12)}."
                )
        try:
            with np.errstate(all="ignore"):  # what is no number meets no constraint
                named = {name: columns[column] for name, column in self.columns.items()}
                return np.asarray(_evaluate(self.tree, named))
        except _NotAllowedError as error:
            raise TableError(f"The {self.role} {quoted(self.text)} {error}.") from None


class _NotAllowedError(Exception):
    """What an expression has that it may not have."""


def _names_in(tree: Any) -> list[str]:
    """Return the names in a tree, after a check of its nodes."""
    names: dict[str, None] = {}

    def visit(node: Any, depth: int) -> None:
        if depth > 50:
            raise _NotAllowedError("too many brackets inside brackets")
        children: list[Any] = []
        if isinstance(node, ast.Name):
            names[node.id] = None
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str):
            pass
        elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            children = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp) and type(node.op) in {**_SIGNS, ast.Not: None}:
            children = [node.operand]
        elif isinstance(node, ast.Compare) and all(type(one) in _ORDERS for one in node.ops):
            children = [node.left, *node.comparators]
        elif isinstance(node, ast.BoolOp):
            children = node.values
        else:
            raise _NotAllowedError(f"{ast.unparse(node)}, which is not allowed")
        for child in children:
            visit(child, depth + 1)

    visit(tree, 0)
    return list(names)


def _evaluate(node: Any, columns: Mapping[str, np.ndarray]) -> Any:
    match node:
        case ast.Name():
            return columns[node.id]
        case ast.Constant():
            return _constant(node.value)
        case ast.BinOp():
            left, right = (_number(_evaluate(one, columns)) for one in (node.left, node.right))
            return _ARITHMETIC[type(node.op)](left, right)
        case ast.UnaryOp(op=ast.Not()):
            return np.logical_not(_truth(_evaluate(node.operand, columns)))
        case ast.UnaryOp():
            return _SIGNS[type(node.op)](_number(_evaluate(node.operand, columns)))
        case ast.BoolOp():
            parts = [_truth(_evaluate(one, columns)) for one in node.values]
            return _LOGIC[type(node.op)].reduce(np.broadcast_arrays(*parts))  # type: ignore[attr-defined]
    values = [_evaluate(one, columns) for one in (node.left, *node.comparators)]
    pairs = zip(node.ops, values[:-1], values[1:], strict=True)
    found = [_compare(type(one), left, right) for one, left, right in pairs]
    return np.logical_and.reduce(np.broadcast_arrays(*found))


def _constant(value: Any) -> np.ndarray:
    if isinstance(value, bool | str):
        return np.asarray(to_label(value), object)
    try:
        return np.asarray(float(value))
    except OverflowError:
        raise _NotAllowedError(f"has the number {str(value)[:20]}…, which is too large") from None


def _compare(kind: type, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if left.dtype == object or right.dtype == object:
        if kind not in (ast.Eq, ast.NotEq):
            raise _NotAllowedError("orders a category; categories are compared by == and !=")
        if left.dtype != right.dtype:
            # alloy == 7075: the label of the number.
            left, right = (one if one.dtype == object else _labels(one) for one in (left, right))
        return np.asarray(_ORDERS[kind](left, right), bool)
    return np.asarray(_ORDERS[kind](_number(left), _number(right)))


def _labels(numbers: np.ndarray) -> np.ndarray:
    labels = [to_label(float(value)) for value in np.ravel(numbers)]
    return np.array(labels, object).reshape(np.shape(numbers))


def _number(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        raise _NotAllowedError("calculates with a category; categories are compared by == and !=")
    if values.dtype == bool:
        raise _NotAllowedError("calculates with a comparison; write two, with and between them")
    return values


def _truth(values: np.ndarray) -> np.ndarray:
    if values.dtype != bool:
        raise _NotAllowedError("has and, or, or not beside something that is no comparison")
    return values
