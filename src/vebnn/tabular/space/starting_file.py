"""A file that describes the space of a model's training rows, to be edited by its user."""

import json
import re

from vebnn.tabular.columns import CategoryColumn, Column
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.space.axes import MOST_STEPS

_OPENING = """# Where measurements are possible. A column has
#   a range of numbers or dates     { range = [20, 400] }, also with step = 10 or log = true
#   one of some values              { values = ["A", "B"] }, also with cost = [3, 1], one for each
#   what others determine           { formula = "100 - copper - nickel" }
#   or always the same value        1.5
# Ranges and values below are those of the training rows.

# What every candidate must meet. Names with spaces stand in `backticks`.
constraints = [
    # "copper + nickel <= 5",
]

# What a measurement costs, in any unit: a number, or an expression such as
# cost = "1 + 0.01 * temperature"

[columns]
"""


def starting_file(encoder: TableEncoder) -> str:
    """Return a space file with the ranges and values of a model's training rows."""
    lines = [f"{_key(column.name)} = {_described(column)}" for column in encoder.columns]
    return _OPENING + "\n".join(lines) + "\n"


def _described(column: Column) -> str:
    if isinstance(column, CategoryColumn):
        values = ", ".join(_text(label) for label in column.present or [column.typical])
        return f"{{ values = [{values}] }}"
    if isinstance(column, DateColumn):
        low, high = (column.written(end).replace(" ", "T") for end in (column.low, column.high))
        # A time needs its seconds in TOML.
        low, high = (f"{end}:00" if end.count(":") == 1 else end for end in (low, high))
        return low if low == high else f"{{ range = [{low}, {high}] }}"
    if column.low == column.high:
        return _number(column.low)
    step = ", step = 1" if column.whole and column.high - column.low <= MOST_STEPS else ""
    return f"{{ range = [{_number(column.low)}, {_number(column.high)}]{step} }}"


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    """Return a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
