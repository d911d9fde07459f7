"""Sentences for wrong arguments: name, constraint, value received, way out."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def require_whole(name: str, value: Any, smallest: int) -> None:
    """Refuse anything but a whole number of at least ``smallest``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < smallest:
        raise ValueError(f"The `{name}` must be a whole number of at least {smallest}. Got {value!r}.")


def require_number(name: str, value: Any, low: float, high: float, brackets: str = "()") -> None:
    """Refuse anything but a number between two bounds; brackets as in mathematics."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    above = number and (value >= low if brackets[0] == "[" else value > low)
    below = number and (value <= high if brackets[1] == "]" else value < high)
    if not (above and below):
        interval = f"{brackets[0]}{low:g}, {high:g}{brackets[1]}"
        raise ValueError(f"The `{name}` must be a number in {interval}. Got {value!r}.")


def require_one_of(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of some words."""
    if value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"The `{name}` must be one of {words}. Got {value!r}.")
