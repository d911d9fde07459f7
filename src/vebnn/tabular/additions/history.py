"""How a model of a table came to its rows: each addition, with what it has changed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from vebnn.tabular.additions.kept_rows import KeptRows
from vebnn.tabular.scores import TargetScore

NO_ROWS = (
    "The model keeps no rows, so none can be added: it was fitted with --no-rows, from images or "
    "sequences, in Python, or by an older version. Fit it again with vebnn fit, from a file of all "
    "rows."
)
_POINTS = "points"


class Ignorance(NamedTuple):
    """The epistemic std of one target over fixed points of the space, in its units."""

    target: str
    median: float
    high: float  # 90 % of the points have less


@dataclass(frozen=True)
class Addition:
    """One call of ``vebnn add``."""

    source: str  # name of the file
    time: str  # when the rows were added, in UTC
    num_added: int
    num_trained: int  # with the added rows
    new: tuple[TargetScore, ...]  # of the added rows, by the model before it learned them
    held_out_before: tuple[TargetScore, ...]  # of rows that neither model has learned
    held_out_after: tuple[TargetScore, ...]
    points: str  # where the ignorance is measured
    ignorance_before: tuple[Ignorance, ...]
    ignorance_after: tuple[Ignorance, ...]
    continued: bool  # whether chains were continued; otherwise all was fitted again
    seconds: float

    def describe(self) -> dict[str, Any]:
        """Return the addition as JSON."""
        named = ("new", "held_out_before", "held_out_after", "ignorance_before", "ignorance_after")
        return asdict(self) | {name: [one._asdict() for one in getattr(self, name)] for name in named}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Addition":
        """Return an addition from the JSON of :meth:`describe`."""
        rest = dict(description)
        for name in ("new", "held_out_before", "held_out_after"):
            rest[name] = tuple(TargetScore(**one) for one in rest[name])
        for name in ("ignorance_before", "ignorance_after"):
            rest[name] = tuple(Ignorance(**one) for one in rest[name])
        return cls(**rest)


@dataclass(frozen=True)
class History:
    """All rows of a model, those that were added, and the points where its ignorance is measured."""

    kept: KeptRows
    additions: tuple[Addition, ...] = ()
    points: np.ndarray = field(repr=False, default_factory=lambda: np.zeros((0, 0)))  # encoded
    points_name: str = ""

    def describe(self) -> dict[str, Any]:
        """Return, for JSON, what arrays cannot hold."""
        return {
            "additions": [one.describe() for one in self.additions],
            "points_name": self.points_name,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays to save."""
        return self.kept.arrays() | {_POINTS: self.points}

    @classmethod
    def revive(cls, body: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "History":
        """Return a saved history."""
        kept = KeptRows(**{name: array for name, array in arrays.items() if name != _POINTS})
        additions = tuple(map(Addition.from_description, body["additions"]))
        return cls(kept, additions, arrays[_POINTS], str(body["points_name"]))
