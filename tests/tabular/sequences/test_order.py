import numpy as np
import pandas
import pytest

from vebnn.tabular.errors import TableError
from vebnn.tabular.sequences.order import SequenceOrder


def read(**columns) -> SequenceOrder:
    return SequenceOrder.read(pandas.DataFrame(columns), "id", "t")


def test_rows_are_sorted_within_their_sequence_and_it_is_said() -> None:
    found = read(id=["b", "a", "b", "a", "b"], t=[2, 0.5, 0, 1, 1])
    np.testing.assert_array_equal(found.number, [0, 1, 0, 1, 0])
    np.testing.assert_array_equal(found.place, [2, 0, 0, 1, 1])
    assert found.labels == ("b", "a")
    assert found.notices == (
        "id: the rows of 1 of 2 sequences were not in the order of t; they were sorted.",
    )


def test_sorted_rows_need_no_notice_even_if_sequences_alternate() -> None:
    assert read(id=[1, 2, 1, 2], t=[0, 0, 1, 1]).notices == ()


def test_dates_are_an_order() -> None:
    found = read(id=["a"] * 3, t=["2024-03-01", "2024-01-15", "2024-02-01"])
    np.testing.assert_array_equal(found.place, [2, 0, 1])


def test_single_rows_are_named() -> None:
    (notice,) = read(id=["a", "a", "b"], t=[0, 1, 0]).notices
    assert notice == "id: 1 sequence has one row, first in row 3, and so no history."


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": ["a", None], "t": [0, 1]}, "The sequence 'id' is missing in 1 row, first in row 2."),
        ({"id": ["a", "a"], "t": [0, None]}, "The step 't' is missing in 1 row, first in row 2."),
        (
            {"id": ["a", "b", "a", "b", "b"], "t": [0, 1, 1, 2, 1]},
            "rows 2 and 5 of id 'b' both have '1'. Correct the column",
        ),
        ({"id": ["a"] * 4, "t": [1, 1, 2, 2]}, "both have '1', and 1 step more."),
    ],
)
def test_wrong_columns_are_explained(columns: dict, words: str) -> None:
    with pytest.raises(TableError) as caught:
        read(**columns)
    assert words in str(caught.value)
