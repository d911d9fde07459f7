"""The engine that an argument of an estimator means."""

from typing import Any

from vebnn.core.arguments import require_one_of
from vebnn.inference import ENGINES, Engine


def engine_of(name: str, inference: Any, num_rows: int) -> Engine:
    """Return the engine that an argument names, with settings for a number of rows, or is."""
    if isinstance(inference, Engine):
        return inference
    if not isinstance(inference, str):
        raise ValueError(
            f"The `{name}` must be a name or an engine, a subclass of vebnn.inference.Engine. "
            f"Got {inference!r}."
        )
    require_one_of(name, inference, tuple(ENGINES))
    return ENGINES[inference].for_rows(num_rows)
