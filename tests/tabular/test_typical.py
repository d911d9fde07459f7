"""The typical row of a table is one of its rows."""

import numpy as np
import pandas
import pytest

from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.typical import typical_row

SPECIES = ("round", "long", "flat")
SIZES = {"round": (1.0, 1.0), "long": (9.0, 1.0), "flat": (5.0, 8.0)}


def penguins(rng: np.random.Generator, num_rows: int = 60) -> pandas.DataFrame:
    """Return a table where sizes follow from the species; their medians fit to none of them."""
    species = np.resize(SPECIES, num_rows)
    sizes = np.array([SIZES[one] for one in species]) + rng.normal(0, 0.1, (num_rows, 2))
    days = pandas.Timestamp("2020-01-01") + pandas.to_timedelta(np.arange(num_rows), "D")
    return pandas.DataFrame(
        {
            "species": species,
            "length": sizes[:, 0],
            "width": sizes[:, 1],
            "seen": days.strftime("%Y-%m-%d"),
            "y": rng.normal(size=num_rows),
        }
    )


def encoded(frame: pandas.DataFrame) -> tuple[TableEncoder, np.ndarray]:
    encoder, _ = TableEncoder.fit(frame, ["y"])
    return encoder, encoder.encode(frame).matrix.to_numpy()


def test_it_is_a_real_row(rng: np.random.Generator) -> None:
    frame = penguins(rng)
    encoder, matrix = encoded(frame)
    found = typical_row(encoder, matrix)
    same = (frame["length"] == found["length"]) & (frame["seen"] == found["seen"])
    assert same.sum() == 1
    row = frame[same].iloc[0]
    assert found == row[["species", "length", "width", "seen"]].to_dict()
    medians = np.array([frame["length"].median(), frame["width"].median()])
    assert all(np.abs(medians - SIZES[one]).max() > 1 for one in SPECIES)


def test_it_has_the_least_total_distance() -> None:
    # By hand: in units of their mean over all pairs (1.76 and 0.48), the distances of the row with 2
    # add up to the least of all rows of the more frequent kind.
    frame = pandas.DataFrame({"x": [0.0, 1, 2, 3, 6], "kind": list("aaabb"), "y": [1.0, 2, 1, 2, 1]})
    encoder, matrix = encoded(frame)
    x = frame["x"].to_numpy()
    distance = np.abs(x[:, None] - x) / np.abs(x[:, None] - x).mean()
    other = frame["kind"].to_numpy()[:, None] != frame["kind"].to_numpy()
    total = (distance + other / other.mean()).sum(1)
    assert np.argmin(total) == 2
    assert typical_row(encoder, matrix) == {"x": 2.0, "kind": "a"}


def test_rows_with_gaps_are_not_typical(rng: np.random.Generator) -> None:
    frame = penguins(rng)
    middle = typical_row(*encoded(frame))["length"]
    frame.loc[frame["length"] == middle, "species"] = None
    found = typical_row(*encoded(frame))
    assert found["length"] != middle
    assert found["species"] in SPECIES


def test_gaps_everywhere_are_filled(rng: np.random.Generator) -> None:
    frame = penguins(rng)
    frame.loc[::2, "width"] = np.nan
    frame.loc[1::2, "seen"] = None
    encoder, matrix = encoded(frame)
    found = typical_row(encoder, matrix)
    by_name = {column.name: column for column in encoder.columns}
    assert None not in found.values()
    filled = [name for name in ("width", "seen") if found[name] == by_name[name].typical]
    assert filled


@pytest.mark.parametrize("missing", [True, False])
def test_rows_are_decoded_as_they_were(rng: np.random.Generator, missing: bool) -> None:
    frame = penguins(rng)
    if missing:
        frame.loc[3, ["species", "length", "seen"]] = [None, np.nan, None]
    encoder, matrix = encoded(frame)
    names = [column.name for column in encoder.columns]
    expected = frame[names].astype(object).where(frame[names].notna(), None)
    for row in range(6):
        assert encoder.decode(matrix[row]) == expected.iloc[row].to_dict()
