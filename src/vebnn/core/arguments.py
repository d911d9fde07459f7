"""Checks of arguments; every message has the name, the constraint and the value received."""

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def require_whole(name: str, value: Any, smallest: int) -> None:
    """Raise ValueError unless the value is a whole number of at least ``smallest``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < smallest:
        raise ValueError(f"The `{name}` must be a whole number of at least {smallest}. Got {value!r}.")


def require_number(name: str, value: Any, low: float, high: float, brackets: str = "()") -> None:
    """Raise ValueError unless the value is a number in an interval, open ``()`` or closed ``[]``."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    above = number and (value >= low if brackets[0] == "[" else value > low)
    below = number and (value <= high if brackets[1] == "]" else value < high)
    if not (above and below):
        interval = f"{brackets[0]}{low:g}, {high:g}{brackets[1]}"
        raise ValueError(f"The `{name}` must be a number in {interval}. Got {value!r}.")


def require_one_of(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise ValueError unless the value is one of the choices."""
    if value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"The `{name}` must be one of {words}. Got {value!r}.")


def require_widths(recipe: str, widths: Any, fewest: int, *, name: str = "widths") -> tuple[int, ...]:
    """Return the widths of a network's layers as a tuple; refuse anything but positive integers."""
    whole = isinstance(widths, tuple | list) and len(widths) >= fewest
    if not whole or any(not isinstance(width, Integral) or width < 1 for width in widths):
        wanted = "at least one positive integer" if fewest else "positive integers"
        raise ValueError(
            f"The `{name}` of {recipe} must be a tuple of {wanted} such as (64, 64). Got {widths!r}."
        )
    return tuple(int(width) for width in widths)


def require_rates(rates: Any) -> tuple[float, ...]:
    """Return the learning rates as a tuple; refuse anything but positive numbers."""
    if not isinstance(rates, tuple | list):
        raise ValueError(
            f"The `learning_rates` must be a tuple of numbers such as (1e-3, 3e-3), or (). "
            f"Got {rates!r}."
        )
    for rate in rates:
        require_number("learning_rates", rate, 0, math.inf)
    return tuple(map(float, rates))


def target_position(target: str | int | None, names: Sequence[str] | None, count: int) -> int:
    """Return the position of one of several targets, given by its name or number.

    None is the only target there is.
    """
    if target is None and count == 1:
        return 0
    known = [] if names is None else list(names)
    if target in known:
        return known.index(str(target))
    whole = isinstance(target, Integral) and not isinstance(target, bool)
    if whole and 0 <= int(target) < count:  # type: ignore[arg-type]
        return int(target)  # type: ignore[arg-type]
    wanted = " or ".join([*map(repr, known), f"a number from 0 to {count - 1}"])
    raise ValueError(f"The `target` must be {wanted}. Got {target!r}.")
