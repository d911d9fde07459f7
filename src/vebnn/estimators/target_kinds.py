"""Kinds of targets at the border of an estimator: the user's values and the scale that is learned."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vebnn.core.arguments import require_one_of
from vebnn.prediction.targets import TARGETS, Target

Kinds = tuple[Target, ...]


def require_kinds(target: Any) -> tuple[str, ...]:
    """Return the names of kinds that an argument holds: one for all outputs, or one for each."""
    names = tuple(target) if isinstance(target, list | tuple) else (target,)
    for name in names:
        require_one_of("target", name, tuple(TARGETS))
    if not names:
        raise ValueError('The `target` must name a kind, such as target="positive". Got none.')
    return names


def kinds_of(target: Any, num_outputs: int) -> Kinds:
    """Return the kind of each output."""
    names = require_kinds(target)
    if isinstance(target, str):
        names *= num_outputs
    if len(names) != num_outputs:
        raise ValueError(
            f"The `target` must be one kind, or one for each of the {num_outputs} outputs of y. Got "
            f"{len(names)} kinds."
        )
    return tuple(TARGETS[name] for name in names)


def require_possible(name: str, y: np.ndarray, kinds: Kinds) -> None:
    """Refuse targets ``(rows, ..., outputs)`` that their kind does not allow."""
    for at, kind in enumerate(kinds):
        column = y[..., at]
        wrong = ~kind.allows(column)
        if wrong.any():
            first = tuple(np.argwhere(wrong)[0])
            of_output = f" of output {at}" if len(kinds) > 1 else ""
            raise ValueError(
                f'The `{name}`{of_output} must be {kind.support}, because its kind is "{kind.name}". '
                f"Got {column[first]:g} in row {first[0]}, {int(wrong.sum())} such values in all; "
                f"{kind.way_out}."
            )


def transform(y: np.ndarray, kinds: Kinds) -> np.ndarray:
    """Return targets ``(rows, ..., outputs)`` on the scale that is learned."""
    return _by_output(lambda kind, column: kind.transform(column), kinds, y)


def inverse(z: np.ndarray, kinds: Kinds) -> np.ndarray:
    """Return targets in the user's units from those on the scale that is learned."""
    return _by_output(lambda kind, column: kind.inverse(column), kinds, z)


def transformed_std(y: np.ndarray, std: np.ndarray, kinds: Kinds) -> np.ndarray:
    """Return measurement errors on the scale that is learned, near targets y."""
    return _by_output(lambda kind, y, std: kind.transformed_std(y, std), kinds, y, std)


def _by_output(function: Callable[..., np.ndarray], kinds: Kinds, *values: np.ndarray) -> np.ndarray:
    columns = [function(kind, *(one[..., at] for one in values)) for at, kind in enumerate(kinds)]
    return np.stack(columns, axis=-1)
