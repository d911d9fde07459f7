"""Columns become numbers as learned from the training rows."""

import json
import shlex

import numpy as np
import pandas
import pytest

from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError

ROWS = 30


def table(**columns) -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    return pandas.DataFrame({"x": rng.normal(size=ROWS), "y": rng.normal(size=ROWS), **columns})


def learn(frame: pandas.DataFrame, **options) -> TableEncoder:
    return TableEncoder.fit(frame, ["y"], **options)[0]


def notices(frame: pandas.DataFrame, **options) -> str:
    return " ".join(TableEncoder.fit(frame, ["y"], **options)[1])


def test_numbers_stay_what_they_are() -> None:
    frame = table()
    encoded = learn(frame).encode(frame)
    np.testing.assert_array_equal(encoded.matrix["x"], frame["x"])
    assert list(encoded.matrix.columns) == ["x"]
    assert encoded.notices == ()


def test_missing_numbers_become_the_median_and_are_marked() -> None:
    frame = table(z=[None, *range(1, ROWS)])
    encoder = learn(frame)
    matrix = encoder.encode(frame).matrix
    assert matrix["z"][0] == 15  # the median of 1 … 29
    assert list(matrix["z is missing"]) == [1] + [0] * (ROWS - 1)
    assert "z: 1 missing value replaced by the median, 15, and marked" in notices(frame)


def test_numbers_missing_only_later() -> None:
    encoder = learn(table())
    encoded = encoder.encode(pandas.DataFrame({"x": [None, 0.0]}))
    matrix, (said,) = encoded.matrix, encoded.notices
    assert list(matrix.columns) == ["x"]
    assert matrix["x"][0] == pytest.approx(np.median(table()["x"]))
    assert "x: 1 missing value replaced" in said


def test_categories_are_one_hot_and_unseen_ones_all_zero() -> None:
    frame = table(alloy=["B", "A", "A"] * 10)
    encoder = learn(frame)
    encoded = encoder.encode(pandas.DataFrame({"x": [0.0] * 3, "alloy": ["A", "C", " B "]}))
    matrix, (said,) = encoded.matrix, encoded.notices
    np.testing.assert_array_equal(matrix[["alloy = A", "alloy = B"]], [[1, 0], [0, 0], [0, 1]])
    assert said == (
        "alloy: 1 row with 'C', never seen in training; treated as none of the known categories."
    )


def test_missing_categories_are_a_category() -> None:
    frame = table(alloy=["B", None, "A"] * 10)
    matrix = learn(frame).encode(frame).matrix
    assert list(matrix["alloy = (missing)"][:3]) == [0, 1, 0]
    assert "alloy: 10 missing values taken as a category" in notices(frame)


@pytest.mark.parametrize(
    "values",
    [
        [True, False, True] * 10,
        pandas.Series([1, 2, 1] * 10).astype("category"),
        pandas.Series(["u", "v", "u"] * 10, dtype="string"),
    ],
)
def test_kinds_of_categories(values) -> None:
    matrix = learn(table(c=values)).encode(table(c=values)).matrix
    np.testing.assert_array_equal(matrix.iloc[:3, 1:].sum(axis=1), 1)
    np.testing.assert_array_equal(matrix.iloc[:3, 1], [1, 0, 1])  # the most frequent comes first


def test_numbers_as_categories_match_however_they_are_written() -> None:
    encoder = learn(table(grade=[1, 2, 3] * 10), categorical=["grade"])
    for written in ([1, 2], [1.0, 2.0], ["1", " 2"]):
        encoded = encoder.encode(pandas.DataFrame({"x": [0.0, 0.0], "grade": written}))
        np.testing.assert_array_equal(encoded.matrix[["grade = 1", "grade = 2"]], np.eye(2))
        assert encoded.notices == ()


def test_labels_that_look_like_numbers_are_categories_if_they_come_again_and_again() -> None:
    assert learn(table(alloy=["6061", "7075", "A356"] * 10)).columns[1].kind == "category"


def test_many_categories_keep_the_most_frequent() -> None:
    labels = [f"c{n % 60}" for n in range(200)]
    frame = pandas.DataFrame({"c": labels, "y": np.arange(200.0)})
    encoder, said = TableEncoder.fit(frame, ["y"])
    assert len(encoder.encoded_names) == 50
    assert "only the 50 most frequent" in said[0]
    (notice,) = encoder.encode(frame).notices
    assert "30 rows with 'c50'" in notice
    assert "rare in training" in notice


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([3.0] * ROWS, "it is 3 in every row"),
        (["same"] * ROWS, "same value in every row"),
        ([None] * ROWS, "has no values"),
        ([f"S{n}" for n in range(ROWS)], "like a name or an identifier"),
        ([f"{n}{'ABCDE'[n % 5]}" for n in range(ROWS)], "like a name or an identifier"),
    ],
)
def test_columns_without_information_are_left_out_with_a_notice(values, reason: str) -> None:
    frame = table(c=values)
    assert [column.name for column in learn(frame).columns] == ["x"]
    assert "c: left out, because" in notices(frame)
    assert reason in notices(frame)


def test_numbered_rows() -> None:
    frame = table(sample_id=range(ROWS))
    assert learn(frame).identifiers == ("sample_id",)
    assert "looks like a row number" in notices(table(step=range(ROWS)))
    assert "row number" not in notices(table(step=[n * n for n in range(ROWS)]))


def test_numbers_stored_as_text_are_numbers() -> None:
    frame = table(t=[f"{n}.5" for n in range(ROWS)])
    assert learn(frame).encode(frame).matrix["t"][2] == 2.5


@pytest.mark.parametrize(
    ("values", "words", "row"),
    [
        ([1.0, np.inf] + [0.0] * 28, "row 2 has inf", 1),
        (["1.5", "n.d.", *map(str, range(28))], "row 2 has 'n.d.'", 1),
        ([f"{n / 2} %" for n in range(ROWS)], "with '%' behind them, such as '0.0 %'", None),
        ([f"{n}°C" for n in range(ROWS)], "with '°C' behind them", None),
        ([f"{n + 1},000" for n in range(ROWS)], "with commas or spaces", None),
        ([[1, 2]] * ROWS, "holds lists", None),
        (pandas.to_timedelta(range(ROWS), unit="h"), "holds durations", None),
        ([f"2024-05-{n + 1:02d}" for n in range(29)] + ["soon"], "row 30 has 'soon'", 29),
        ([1j] * ROWS, "complex", None),
    ],
)
def test_columns_that_cannot_be_used(values, words: str, row: int | None) -> None:
    with pytest.raises(TableError) as caught:
        learn(table(c=values))
    assert words in str(caught.value)
    assert (caught.value.column, caught.value.row) == ("c", row)
    assert learn(table(c=values), drop=["c"]).ignored == ("c",)


def test_all_problems_are_told_at_once() -> None:
    bad = {
        "Date Egg": pandas.to_timedelta(range(ROWS), unit="h"),
        "k$": [f"{n} %" for n in range(ROWS)],
    }
    many = table(**bad, t=[np.inf] + [0.0] * 29)
    with pytest.raises(TableError) as caught:
        learn(many)
    first, *lines, last = str(caught.value).splitlines()
    assert first == "The table has 3 problems:"
    assert [line[:3] for line in lines] == ["1. ", "2. ", "3. "]
    assert "'Date Egg' holds durations" in lines[0]
    assert "row 1 has inf" in lines[2]
    way_out = "To leave these columns out: "
    assert last.startswith(way_out)
    # The options can be pasted.
    pasted = shlex.split(last.removeprefix(way_out))
    assert pasted == ["--drop", "Date Egg", "--drop", "k$", "--drop", "t"]
    encoder = learn(many, drop=pasted[1::2])
    with pytest.raises(TableError, match=r"The table has 2 problems:\n1\. .*'a'.*\n2\. .*'b'"):
        learn(table(), drop=["a", "b"])
    wrong = pandas.DataFrame({"x": ["hot"], "z": ["cold"]})
    with pytest.raises(TableError, match=r"2 problems:\n1\. .*row 1 has 'hot'.*\n2\. .*'cold'"):
        learn(table(z=range(ROWS))).encode(wrong)
    assert [column.name for column in encoder.columns] == ["x"]


def test_rows_are_counted_in_the_whole_table() -> None:
    frame = table(c=[1.0] * 20 + [np.inf] * 10)
    with pytest.raises(TableError, match="row 21 has inf"):
        learn(frame.iloc[15:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drop": ["z"]}, "no column 'z' for drop"),
        ({"categorical": ["z"]}, "no column 'z' for categorical"),
        ({"drop": ["y"]}, "is a target"),
        ({"drop": ["x", "x"]}, "named twice"),
        ({"drop": ["x"]}, "No column is left"),
    ],
)
def test_names_that_do_not_fit(options: dict, words: str) -> None:
    with pytest.raises(TableError, match=words):
        learn(table(), **options)


def test_later_tables() -> None:
    encoder = learn(table(c=["a", "b"] * 15))
    with pytest.raises(TableError, match="lacks 'c'"):
        encoder.encode(table())
    said = encoder.encode(table(c=["a", "b"] * 15, extra=1)).notices
    assert said == ("Ignored, because the model does not know them: 'extra'.",)
    said = encoder.encode(pandas.DataFrame({"x": [99.0], "c": ["a"]})).notices
    assert "1 value outside the training range" in said[0]
    with pytest.raises(TableError, match="row 1 has 'hot'"):
        encoder.encode(pandas.DataFrame({"x": ["hot"], "c": ["a"]}))


def test_targets() -> None:
    encoder = learn(table())
    np.testing.assert_array_equal(encoder.target_values(table())[:, 0], table()["y"])
    with pytest.raises(TableError, match=r"missing in 2 rows, first in row 2"):
        encoder.target_values(pandas.DataFrame({"y": [1.0, None, 3.0, None]}))
    with pytest.raises(TableError, match="no target column 'y'"):
        encoder.target_values(pandas.DataFrame({"x": [1.0]}))


def test_encoder_survives_json() -> None:
    encoder = learn(table(c=["a", None, "b"] * 10, id=range(ROWS), k=1), drop=["x"])
    assert TableEncoder.from_description(json.loads(json.dumps(encoder.describe()))) == encoder


def encode_one(encoder: TableEncoder, code) -> tuple[list[str], tuple[str, ...]]:
    encoded = encoder.encode(pandas.DataFrame({"x": [0.0], "code": [code]}))
    names = [name for name in encoded.matrix.columns if name.startswith("code")]
    return [name for name in names if encoded.matrix[name][0]], encoded.notices


@pytest.mark.parametrize(
    ("trained", "declared", "found"),
    [
        # Read as text beside A9: what is written decides.
        (["007", "7", "A9"], (), {"007": "007", "7": "7", "07": None, 7: "7"}),
        (["007", "012"], ("code",), {"007": "007", "12": None, "012": "012"}),
        # Read as numbers: the number decides, however it is written.
        ([7, 12], ("code",), {"007": "7", "12.0": "12", 12: "12", "1e1": None}),
        (["7.0", "12"], ("code",), {"7": "7", 7.0: "7", "12": "12"}),
        (["1.10", "1.1", "A9"], (), {"1.10": "1.10", "1.1": "1.1"}),
        ([True, False], (), {"TRUE": "True", False: "False"}),
    ],
)
def test_the_model_decides_how_codes_are_read(trained, declared, found) -> None:
    codes = (trained * ROWS)[:ROWS]
    encoder = learn(table(code=codes), categorical=declared)
    for code, label in found.items():
        assert encode_one(encoder, code)[0] == ([f"code = {label}"] if label else [])


def test_rare_categories_are_called_rare() -> None:
    codes = ["a"] * 12 + ["b"] * 10 + ["c"] * 5 + ["d"] * 3
    encoder = learn(table(code=codes), max_categories=2)
    assert encode_one(encoder, "b") == (["code = b"], ())
    _, (rare,) = encode_one(encoder, "d")
    assert "1 row with 'd', rare in training: not among the 2 most frequent" in rare
    _, (unseen,) = encode_one(encoder, "e")
    assert "1 row with 'e', never seen in training" in unseen
    assert "8 rows of others" in notices(table(code=codes), max_categories=2)
    assert "--max-categories 4" in notices(table(code=codes), max_categories=2)
    again = TableEncoder.from_description(json.loads(json.dumps(encoder.describe())))
    assert again == encoder
    # Models of before do not know which categories were rare.
    description = encoder.describe()
    for column in description["columns"]:
        column.pop("rare", None)
    old = TableEncoder.from_description(description)
    assert "'e', rare or never seen in training" in encode_one(old, "e")[1][0]


def test_targets_whose_predictions_would_collide() -> None:
    frame = table(y_aleatoric=range(ROWS))
    with pytest.raises(ValueError, match=r"'y' and 'y_aleatoric' would both .* 'y_aleatoric_std'"):
        TableEncoder.fit(frame, ["y", "y_aleatoric"])


@pytest.mark.parametrize("value", ["", "abc", {}, None])
@pytest.mark.parametrize("name", ["categories", "targets"])
def test_a_description_without_a_list_is_refused(name: str, value) -> None:
    description = learn(table(c=list("ab") * (ROWS // 2))).describe()
    holders = [description, *description["columns"]]
    next(one for one in holders if name in one)[name] = value
    with pytest.raises(TypeError, match=name):
        TableEncoder.from_description(description)


@pytest.mark.parametrize(
    ("name", "value"),
    [("low", None), ("low", "1"), ("high", 10**400), ("median", float("nan")), ("name", 3)],
)
def test_a_description_with_wrong_types_is_refused(name: str, value) -> None:
    description = learn(table()).describe()
    description["columns"][0][name] = value
    with pytest.raises((TypeError, OverflowError)):
        TableEncoder.from_description(description)
