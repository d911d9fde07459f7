"""A file that describes a space, in TOML → :class:`Space`; one message lists all that is wrong."""

import datetime
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from vebnn.tabular.columns import CategoryColumn, Column
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import Problems, TableError, quoted, quoted_list
from vebnn.tabular.space.axes import MOST_STEPS, Axis, Choice, DateRange, Range
from vebnn.tabular.space.expression import Expression
from vebnn.tabular.space.space import Formula, Space

_KEYS = ("range", "step", "log", "values", "cost", "formula")
_EXAMPLES = "{ range = [20, 400] }, { values = [1, 2] } or one value"


def read_space(path: Path, encoder: TableEncoder) -> Space:
    """Read a space for a model.

    Raises:
      FileNotFoundError: if there is no such file.
      TableError: about everything that is wrong in it.
    """
    try:
        document = tomllib.loads(path.read_bytes().decode())
    except UnicodeDecodeError as error:
        raise TableError(
            f"The space {path} is not UTF-8 text: {error.reason}. Save it again."
        ) from None
    except tomllib.TOMLDecodeError as error:
        reason = str(error).removesuffix(".")
        raise TableError(f"The space {path} is no TOML: {reason}. Correct it there.") from None
    return space_of(document, encoder)


def space_of(document: Mapping[str, Any], encoder: TableEncoder) -> Space:
    """Return the space that a TOML document describes, with the errors of :func:`read_space`."""
    _check_keys(document)
    described = document["columns"]
    known = {column.name: column for column in encoder.columns}
    _check_columns(described, known)
    problems = Problems("space")

    axes: list[Axis] = []
    formulas: list[Formula] = []
    for name, column in known.items():
        with problems.collected():
            found = _axis(column, described[name])
            if isinstance(found, Formula):
                formulas.append(found)
            else:
                axes.append(found)
    constraints, cost = [], None
    for text in document.get("constraints", []):
        with problems.collected():
            constraints.append(Expression.parse(text, "constraint"))
    if "cost" in document:
        with problems.collected():
            text = document["cost"]
            cost = Expression.parse(str(text) if isinstance(text, int | float) else text, "cost")
    problems.raise_any()
    if not axes:
        raise TableError("The space has formulas only. Give a column a range or values.")
    space = Space(tuple(axes), tuple(formulas), tuple(constraints), cost)
    space.check()
    return space


def _check_keys(document: Mapping[str, Any]) -> None:
    if not isinstance(document.get("columns"), Mapping):
        raise TableError(
            "The space needs a part [columns] with a line for each column. Write a file to start from "
            "with vebnn suggest MODEL --write-space FILE."
        )
    wrong = [name for name in document if name not in ("columns", "constraints", "cost")]
    if wrong:
        raise TableError(
            f"The space may have [columns], constraints and cost. Got {quoted_list(wrong)}; columns "
            f"belong below the line [columns]."
        )
    if not isinstance(document.get("constraints", []), list):
        raise TableError(
            f"The constraints must be a list, such as ['copper + nickel <= 5']. Got "
            f"{quoted(document['constraints'])}."
        )


def _check_columns(described: Mapping[str, Any], known: Mapping[str, Column]) -> None:
    if absent := [name for name in known if name not in described]:
        raise TableError(
            f"The space lacks {quoted_list(absent)}, which the model was trained with. Add a line for "
            f"each below [columns]: {_EXAMPLES}."
        )
    if unknown := [name for name in described if name not in known]:
        above = (
            " Lines with cost and constraints stand above [columns]."
            if ({"cost", "constraints"} & set(unknown))
            else ""
        )
        raise TableError(
            f"The space has {quoted_list(unknown)}, which the model does not know. Its columns are "
            f"{quoted_list(known, 12)}.{above}"
        )


def _axis(column: Column, described: Any) -> Axis | Formula:
    name = column.name
    if isinstance(described, list):
        one_of = f"{{ values = {_toml(described)} }} for one of these"
        between = (
            "" if len(described) != 2 else f"{{ range = {_toml(described)} }} for all between, or "
        )
        raise TableError(f"The column {name!r} has a list. Write {between}{one_of}.")
    if not isinstance(described, Mapping):
        return Choice(name, (_value(column, described),))
    given = [key for key in ("range", "values", "formula") if key in described]
    if len(given) != 1 or any(key not in _KEYS for key in described):
        raise TableError(
            f"The column {name!r} must be {_EXAMPLES}, or {{ formula = '100 - copper' }}. Got "
            f"{quoted_list(described)}."
        )
    allowed = {"range": ("step", "log"), "values": ("cost",), "formula": ()}[given[0]]
    if wrong := [key for key in described if key not in (*given, *allowed)]:
        raise TableError(
            f"The column {name!r} has {quoted_list(wrong)}, which does not go with {given[0]!r}. "
            f"Leave it out."
        )
    if given == ["formula"]:
        if isinstance(column, CategoryColumn | DateColumn):
            raise TableError(f"The column {name!r} holds no numbers, so it cannot have a formula.")
        return Formula(name, Expression.parse(described["formula"], f"formula of {name!r}"))
    if given == ["values"]:
        return _choice(column, described)
    return _range(column, described)


def _choice(column: Column, described: Mapping[str, Any]) -> Choice:
    name, values, costs = column.name, described["values"], described.get("cost", [])
    if not isinstance(values, list) or not values:
        raise TableError(
            f"The values of {name!r} must be a list, such as [1, 2]. Got {quoted(values)}."
        )
    if not isinstance(costs, list) or (costs and len(costs) != len(values)):
        raise TableError(
            f"The cost of {name!r} must be a list with a number for each of its {len(values)} values. "
            f"Got {quoted(costs)}."
        )
    numbers = tuple(_number(name, "cost", value) for value in costs)
    return Choice(name, tuple(_value(column, value) for value in values), numbers)


def _range(column: Column, described: Mapping[str, Any]) -> Axis:
    name, ends = column.name, described["range"]
    if isinstance(column, CategoryColumn):
        raise TableError(
            f"The column {name!r} is a category, which has no range. Write {{ values = [...] }}, with "
            f"some of {quoted_list(column.present)}."
        )
    if not isinstance(ends, list) or len(ends) != 2:
        raise TableError(
            f"The range of {name!r} must be a list of two ends, [low, high]. Got {quoted(ends)}."
        )
    dates = isinstance(column, DateColumn)
    low, high = (_day(name, end) if dates else _number(name, "range", end) for end in ends)
    if not low < high:
        raise TableError(
            f"The range of {name!r} must go from a lower to a higher end. Got {_toml(ends)}; write a "
            f"single value without brackets."
        )
    if not math.isfinite(width := high - low):
        raise TableError(f"The range of {name!r} is too wide. Got {_toml(ends)}; use other units.")
    step = described.get("step")
    if step is not None:
        step = _number(name, "step", step)
        if not 0 < step <= width <= MOST_STEPS * step:
            raise TableError(
                f"The step of {name!r} must be above 0 and at most the width of its range, {width:g}, "
                f"with up to {MOST_STEPS:g} steps. Got {step:g}."
            )
    log = described.get("log", False)
    if not isinstance(log, bool):
        raise TableError(f"The log of {name!r} must be true or false. Got {quoted(log)}.")
    if isinstance(column, DateColumn):
        if log:
            raise TableError(f"The column {name!r} holds dates, which have no log scale. Leave it out.")
        return DateRange(name, low, high, step or 1.0, column.has_times)
    if log and (low <= 0 or step is not None):
        raise TableError(
            f"The log scale of {name!r} needs a range above 0 and no step. Got {_toml(ends)}"
            f"{'' if step is None else f' and step {step:g}'}; leave out log, or change these."
        )
    return Range(name, low, high, step, log)


def _value(column: Column, value: Any) -> Any:
    """Return one value of a column as its table would have it."""
    name = column.name
    if isinstance(column, DateColumn):
        return column.written(_day(name, value))
    if isinstance(column, CategoryColumn):
        if isinstance(value, str | bool | int | float):
            return value
        raise TableError(f"The column {name!r} is a category: text in quotes. Got {quoted(value)}.")
    return _number(name, "value", value)


def _number(name: str, what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TableError(f"The {what} of {name!r} must be a number. Got {quoted(value)}.")
    return float(value)


def _day(name: str, value: Any) -> float:
    if not isinstance(value, datetime.date):  # which includes dates with times
        raise TableError(
            f"The column {name!r} holds dates, written as 2024-05-17 without quotes. Got "
            f"{quoted(value)}."
        )
    stamp = pandas.Timestamp(value).tz_localize(None)
    return float((stamp - pandas.Timestamp(0)) / np.timedelta64(1, "D"))


def _toml(values: list[Any]) -> str:
    return (
        "[" + ", ".join(repr(value) if isinstance(value, str) else str(value) for value in values) + "]"
    )
