"""A table whose columns a pipeline takes as they are."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.columns import Column
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import Problems, TableError
from vebnn.tabular.pipelines.columns import GivenCategory, GivenNumber
from vebnn.tabular.values import to_labels, to_numbers

MOST_LABELS = 1_000  # of one column


@dataclass(frozen=True)
class PipelineEncoder(TableEncoder):
    """Columns as numbers for reports and curves, and back as the pipeline takes them."""

    column_kinds: ClassVar = {kind.kind: kind for kind in (GivenNumber, GivenCategory)}

    as_array: bool  # whether the pipeline was fitted to an array, not to a frame

    @classmethod
    def of(cls, frame: pandas.DataFrame, targets: tuple[str, ...], *, as_array: bool) -> Self:
        """Return the encoder of training rows without targets.

        Raises:
          TableError: about columns that hold neither numbers nor texts, or too many texts.
        """
        columns, problems = [], Problems("X")
        for name in frame.columns:
            with problems.collected():
                columns.append(_column_of(frame[name]))
        problems.raise_any()
        return cls(tuple(columns), targets, (), (), as_array)

    def given(self, rows: Any) -> pandas.DataFrame | np.ndarray:
        """Return encoded rows as the pipeline takes them."""
        encoded, place, columns = np.asarray(rows, float), 0, {}
        for column in self.columns:
            size = len(column.encoded_names)
            columns[column.name] = column.given(encoded[:, place : place + size])  # type: ignore[union-attr]
            place += size
        if self.as_array:
            return np.column_stack([*columns.values()])
        return pandas.DataFrame(columns, index=getattr(rows, "index", None))

    def comparable(self, numbers: Any) -> np.ndarray:
        """Return single precision: files may lose the last digit of a number."""
        with np.errstate(over="ignore"):
            return np.asarray(numbers, float).astype(np.float32)

    def describe(self) -> dict[str, Any]:
        """Return the encoder as JSON."""
        return super().describe() | {"pipeline": {"as_array": self.as_array}}

    @classmethod
    def from_description(cls, description: dict[str, Any], **more: Any) -> Self:
        """Return an encoder from the JSON of :meth:`describe`."""
        as_array = bool(description["pipeline"]["as_array"])
        return super().from_description(description, as_array=as_array, **more)


def _column_of(series: pandas.Series) -> Column:
    if types.is_numeric_dtype(series.dtype):
        numbers = to_numbers(series)
        if np.isnan(numbers).all():
            raise TableError(f"The column {series.name!r} must hold values. Got none.", series.name)
        return GivenNumber.fit(series.name, numbers)
    present = series.dropna()
    if not all(isinstance(value, str) for value in present):
        raise TableError(
            f"The column {series.name!r} must hold numbers or text, as files do. Got "
            f"{type(next(one for one in present if not isinstance(one, str))).__name__}; convert it "
            f"before fit.",
            series.name,
        )
    labels = to_labels(series)
    if (number := len(set(labels))) > MOST_LABELS:
        raise TableError(
            f"The column {series.name!r} must hold at most {MOST_LABELS:,} different texts. Got "
            f"{number:,}; leave it out of the pipeline.",
            series.name,
        )
    return GivenCategory.fit(series.name, labels, MOST_LABELS)
