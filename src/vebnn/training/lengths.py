"""Longer and shorter versions of settings."""

from dataclasses import fields, replace
from typing import Any

from vebnn.training.loop import Training


def stretched(settings: Any, factor: float) -> Any:
    """Multiply every length in some settings; a decay per epoch still ends at the same value."""
    changes: dict[str, Any] = {}
    for one in fields(settings):
        value = getattr(settings, one.name)
        if one.name in ("burn_in", "thinning", "pilot", "num_epochs", "patience") and value is not None:
            changes[one.name] = max(1, round(factor * value))
        elif one.name == "decay":
            changes[one.name] = value ** (1 / factor)
        elif isinstance(value, Training):
            changes[one.name] = stretched(value, factor)
    return replace(settings, **changes)
