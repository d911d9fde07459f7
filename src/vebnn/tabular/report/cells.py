"""Cells of the report's tables, each with the key that it is sorted by."""

from typing import Any

import numpy as np
import pandas

from vebnn.tabular.report.summary import number


def cell(value: Any, optional: bool = False) -> dict[str, Any]:
    """Return a number, a text or a gap; what is optional is not printed on paper."""
    plain: dict[str, Any] = {"optional": optional}
    if pandas.isna(value):
        return plain | {"text": "missing", "sort": "", "kind": "missing"}
    if isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_):
        return plain | {"text": number(float(value)), "sort": float(value), "kind": "number"}
    return plain | {"text": str(value), "sort": str(value), "kind": "text"}


def reading_cell(advice: str, why: str) -> dict[str, Any]:
    """Return whether more data would help, with a reason below."""
    return {"text": advice, "sort": advice, "why": why, "kind": "reading", "optional": False}
