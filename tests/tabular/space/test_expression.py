import numpy as np
import pytest

from vebnn.tabular.errors import TableError
from vebnn.tabular.space.expression import LONGEST, Expression

COLUMNS = {
    "copper": np.array([1.0, 2.0, 4.0]),
    "nickel": np.array([3.0, 3.5, 0.5]),
    "hours at heat": np.array([10.0, 0.0, 5.0]),
    "alloy": np.array(["7075", "A356", "7075"], object),
}


def truth(text: str) -> list[bool]:
    return Expression.parse(text, "constraint").truth(COLUMNS, 3).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("copper + nickel <= 5", [True, False, True]),
        ("1 < copper < 4", [False, True, False]),
        ("-copper ** 2 + 3 * nickel / 2 > 1", [True, True, False]),
        ("`hours at heat` >= 5 and copper != 4", [True, False, False]),
        ("copper == 2 or not nickel > 1", [False, True, True]),
        ('alloy == "7075"', [True, False, True]),
        ("alloy == 7075", [True, False, True]),
        ("not (alloy != 'A356' and copper > 1)", [True, True, False]),
        ("copper / `hours at heat` < 1", [True, False, True]),  # 2 / 0 is no number below 1
        ("9**9**9 > copper", [True, True, True]),  # infinite, at once
        ("1 < 2", [True, True, True]),
    ],
)
def test_comparisons_hold_row_by_row(text: str, expected: list[bool]) -> None:
    assert truth(text) == expected


def test_numbers_are_those_of_the_columns() -> None:
    cost = Expression.parse("1 + 0.5 * copper - `hours at heat`", "cost").numbers(COLUMNS, 3)
    assert cost.tolist() == [-8.5, 2.0, -2.0]
    assert Expression.parse("3", "cost").numbers(COLUMNS, 3).tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "copper.real > 0",
        "copper[0] > 0",
        "(lambda: 1)() > 0",
        "[1 for copper in (1,)] == 1",
        "copper if 1 else nickel",
        "f'{copper}' == 'a'",
        "copper := 3",
        "copper is nickel",
        "copper in (1, 2)",
        "copper @ nickel > 1",
        "copper % 2 == 0",
        "b'a' == alloy",
        "1j > copper",
        "... == copper",
        "copper <",
        "copper; nickel",
        "\0",
        "",
        "-" * 200 + "1 > 0",
        "copper >" + " 1" * LONGEST,
    ],
)
def test_nothing_else_is_read(text: str) -> None:
    with pytest.raises(TableError, match="constraint"):
        Expression.parse(text, "constraint")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iron > 1", "names 'iron', which is no column"),
        ("copper + nickel", "must be a comparison"),
        ("alloy < 'B'", "orders a category"),
        ("alloy + 1 > 2", "calculates with a category"),
        ("(copper > 1) + 1 > 1", "calculates with a comparison"),
        ("copper and nickel > 1", "beside something that is no comparison"),
        ("copper < 1" + "0" * 400, "too large"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        truth(text)


def test_a_cost_is_no_comparison() -> None:
    with pytest.raises(TableError, match="must be a number for every row"):
        Expression.parse("copper > 1", "cost").numbers(COLUMNS, 3)
