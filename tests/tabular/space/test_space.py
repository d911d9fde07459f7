"""Spaces read from TOML, for the columns of a small table."""

import re
import tomllib

import numpy as np
import pandas
import pytest
from scipy.stats import qmc

from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError
from vebnn.tabular.space.reading import read_space, space_of
from vebnn.tabular.space.space import Space
from vebnn.tabular.space.starting_file import starting_file

ROWS = 40


@pytest.fixture(scope="module")
def encoder() -> TableEncoder:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "copper": rng.uniform(0, 5, ROWS).round(2),
            "hours at heat": rng.integers(1, 9, ROWS),
            "alloy": rng.choice(["7075", "A356", 'the "new" one'], ROWS),
            "day": pandas.date_range("2024-03-01", periods=ROWS).strftime("%Y-%m-%d"),
            "y": rng.normal(size=ROWS),
        }
    )
    return TableEncoder.fit(frame, ["y"])[0]


FULL = {
    "copper": "{ range = [0, 5] }",
    '"hours at heat"': "{ range = [1, 8], step = 1 }",
    "alloy": '{ values = ["7075", "A356"] }',
    "day": "{ range = [2024-03-01, 2024-03-05] }",
}


def document(above: str = "", **columns: str) -> dict:
    lines = FULL | {"copper" if name == "copper" else name: text for name, text in columns.items()}
    return tomllib.loads(above + "\n[columns]\n" + "\n".join(f"{k} = {v}" for k, v in lines.items()))


def space(encoder: TableEncoder, above: str = "", **columns: str) -> Space:
    return space_of(document(above, **columns), encoder)


def test_candidates_fill_the_space_evenly(encoder: TableEncoder) -> None:
    drawn = space(encoder).draw(1024)
    frame = drawn.frame
    assert (len(frame), drawn.share, drawn.complete, drawn.cost) == (1024, 1, False, None)
    counts, _ = np.histogram(frame["copper"], bins=8, range=(0, 5))
    # Sobol points: an eighth of them in each eighth, but for rounding; random ones scatter by 11.
    np.testing.assert_allclose(counts, 128, atol=2)
    assert set(frame["hours at heat"]) == set(range(1, 9))
    assert frame["alloy"].value_counts().tolist() == [512, 512]
    assert sorted(set(frame["day"])) == [f"2024-03-0{day}" for day in range(1, 6)]
    unit = np.column_stack([frame["copper"] / 5, (frame["hours at heat"] - 0.5) / 8])
    assert (
        qmc.discrepancy(unit) < 0.3 * qmc.discrepancy(np.random.default_rng(0).random((1024, 2))) + 5e-3
    )
    pandas.testing.assert_frame_equal(space(encoder).draw(1024).frame, frame)
    encoder.encode(frame)  # it has the columns of a table


def test_values_can_be_written_down(encoder: TableEncoder) -> None:
    copper = space(encoder, copper="{ range = [0.1, 0.35], step = 0.05 }").draw(64).frame["copper"]
    assert sorted(set(copper)) == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    wide = space(encoder, copper="{ range = [0, 250] }").draw(64).frame["copper"]
    assert np.array_equal(wide, wide.round(1))


def test_log_scale_has_as_many_candidates_in_each_decade(encoder: TableEncoder) -> None:
    copper = space(encoder, copper="{ range = [0.001, 10], log = true }").draw(1024).frame["copper"]
    counts, _ = np.histogram(np.log10(copper), bins=4, range=(-3, 1))
    np.testing.assert_allclose(counts, 256, atol=2)
    assert 0.001 <= copper.min() < 0.0011


def test_a_small_space_is_complete(encoder: TableEncoder) -> None:
    drawn = space(encoder, copper="{ values = [1, 2.5] }", day="2024-03-02").draw()
    assert (drawn.complete, len(drawn.frame)) == (True, 2 * 8 * 2)
    assert not drawn.frame.duplicated().any()
    assert set(drawn.frame["copper"]) == {1, 2.5}
    assert set(drawn.frame["day"]) == {"2024-03-02"}


def test_constraints_hold_and_costs_add_up(encoder: TableEncoder) -> None:
    above = """constraints = ["copper + `hours at heat` <= 6", "alloy == '7075' or copper > 1"]
               cost = "1 + 2 * copper" """
    drawn = space(encoder, above, alloy='{ values = ["7075", "A356"], cost = [10, 0.5] }').draw(512)
    frame = drawn.frame
    assert len(frame) == 512
    assert (frame["copper"] + frame["hours at heat"] <= 6).all()
    assert (frame["copper"][frame["alloy"] == "A356"] > 1).all()
    # The share of the unit square: hours k leaves min(6 − k, 5) of 5 for copper; A356 loses 1 of it.
    shares = [min(6 - k, 5) / 5 for k in range(1, 6)]
    expected = (sum(shares) + sum(max(share - 0.2, 0) for share in shares)) / 8 / 2
    assert drawn.share == pytest.approx(expected, abs=0.02)
    of_alloy = frame["alloy"].map({"7075": 10, "A356": 0.5})
    assert drawn.cost is not None
    np.testing.assert_allclose(drawn.cost, 1 + 2 * frame["copper"] + of_alloy)


def test_a_formula_follows_other_columns(encoder: TableEncoder) -> None:
    quoted = {'"hours at heat"': "{ formula = '10 / copper' }"}
    frame = space(encoder, **quoted).draw(256).frame
    np.testing.assert_allclose(frame["hours at heat"], 10 / frame["copper"])
    assert np.isfinite(frame["hours at heat"]).all()


def test_starting_file_is_the_space_of_the_training_rows(encoder: TableEncoder) -> None:
    text = starting_file(encoder)
    found = space_of(tomllib.loads(text), encoder)
    frame = found.draw(1024).frame
    column = {one.name: one for one in encoder.columns}
    assert frame["copper"].between(column["copper"].low, column["copper"].high).all()
    assert set(frame["hours at heat"]) == set(range(1, 9))
    assert set(frame["alloy"]) == set(column["alloy"].categories)
    assert frame["day"].min() == "2024-03-01"
    assert not encoder.encode(frame).notices  # nothing is outside of the training range


@pytest.mark.parametrize(
    ("above", "columns", "message"),
    [
        ("", {"copper": "[0, 5]"}, r"'copper' has a list. Write { range = \[0, 5\] }"),
        ("", {"copper": "{ range = [5, 0] }"}, "'copper' must go from a lower to a higher end"),
        ("", {"copper": "{ range = [0, 5], step = 6 }"}, "step of 'copper' must be above 0"),
        (
            "",
            {"copper": "{ range = [0, 5], log = true }"},
            "log scale of 'copper' needs a range above 0",
        ),
        ("", {"copper": "{ range = [0, 5], values = [1] }"}, "'copper' must be { range"),
        ("", {"copper": "{ low = 0 }"}, "Got 'low'"),
        ("", {"copper": "{ values = [] }"}, "values of 'copper' must be a list"),
        ("", {"copper": '"much"'}, "value of 'copper' must be a number. Got 'much'"),
        ("", {"copper": "inf"}, "value of 'copper' must be a number"),
        ("", {"copper": "{ range = [0, 5], cost = [1] }"}, "does not go with 'range'"),
        ("", {"alloy": "{ range = [1, 2] }"}, "'alloy' is a category, which has no range"),
        ("", {"alloy": '{ values = ["7075"], cost = [1, 2] }'}, "number for each of its 1 values"),
        ("", {"alloy": "{ formula = 'copper' }"}, "'alloy' holds no numbers"),
        ("", {"day": '"2024-03-01"'}, "'day' holds dates, written as 2024-05-17 without quotes"),
        ("", {"zinc": "1"}, "has 'zinc', which the model does not know"),
        ("", {"cost": "'copper'"}, "stand above .columns."),
        ("price = 3", {}, "may have .columns., constraints and cost. Got 'price'"),
        ("constraints = 'copper > 1'", {}, "constraints must be a list"),
        ("constraints = ['zinc > 1']", {}, "'zinc > 1' names 'zinc'"),
        ("constraints = ['day > 1']", {}, "names 'day', which is no column of numbers"),
        ("constraints = [3]", {}, "must be text in quotes"),
        ("cost = 'zinc'", {}, "cost 'zinc' names 'zinc'"),
        (
            "constraints = ['copper > 9']",
            {},
            "None of .* points of the space meets the constraint 'copper",
        ),
        ("constraints = ['copper > 3', 'copper < 2']", {}, "meets all constraints; fewest"),
        ("cost = 'copper - 1'", {}, r"cost must be a positive number .* Got -"),
    ],
)
def test_a_wrong_space_is_refused(
    encoder: TableEncoder, above: str, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(TableError, match=message):
        space(encoder, above, **columns).draw(256)


def test_one_message_lists_all_that_is_wrong(encoder: TableEncoder) -> None:
    with pytest.raises(TableError, match="The space has 3 problems") as caught:
        space(encoder, "constraints = ['copper <']", copper="[1]", day="3")
    assert [f"\n{number}. " in str(caught.value) for number in (1, 2, 3)] == [True] * 3


def test_a_missing_column_is_named(encoder: TableEncoder) -> None:
    with pytest.raises(TableError, match="lacks 'copper', 'alloy', 'day'"):
        space_of(tomllib.loads('[columns]\n"hours at heat" = 3'), encoder)


def test_errors_of_the_file_name_the_line(encoder: TableEncoder, tmp_path) -> None:
    path = tmp_path / "space.toml"
    path.write_text("[columns]\ncopper = 3\nalloy = ]")
    with pytest.raises(TableError, match="line 3"):
        read_space(path, encoder)
    path.write_bytes(b"\xff")
    with pytest.raises(TableError, match="not UTF-8"):
        read_space(path, encoder)


@pytest.mark.parametrize(
    ("copper", "words"),
    [
        ("{ range = [0, 1e20], step = 1 }", "with up to 1e+15 steps"),
        ("{ range = [0, 1], step = 1e-320 }", "with up to 1e+15 steps"),
        ("{ range = [-1e308, 1e308] }", "is too wide"),
    ],
)
def test_ranges_beyond_double_precision(encoder: TableEncoder, copper: str, words: str) -> None:
    with pytest.raises(TableError, match=re.escape(words)):
        space(encoder, copper=copper)


def test_a_log_scale_may_span_all_numbers(encoder: TableEncoder) -> None:
    copper = space(encoder, copper="{ range = [1e-300, 1e300], log = true }").draw(64).frame["copper"]
    assert abs(np.median(np.log10(copper))) < 10


def test_whole_numbers_of_many_digits_have_no_step() -> None:
    values = 10.0 ** np.arange(1, 21)
    encoder = TableEncoder.fit(pandas.DataFrame({"count": values, "y": np.arange(20.0)}), ["y"])[0]
    document = tomllib.loads(starting_file(encoder))
    assert document["columns"]["count"] == {"range": [10, 1e20]}
    assert len(space_of(document, encoder).draw(64).frame) == 64
