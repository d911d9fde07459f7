"""Numbers for JSON, which has no infinity."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """Return a document with null for numbers that are not finite, such as overflown errors."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
