"""Kinds of the targets of a table: what is refused, what is proposed, what is advised."""

import re

import numpy as np
import pandas
import pytest

from vebnn.tabular.advice import advise
from vebnn.tabular.errors import TableError
from vebnn.tabular.plan import plan_table
from vebnn.tabular.scores import TargetScore
from vebnn.tabular.target_kinds import proposals, require_kinds

rng = np.random.default_rng(0)
COLUMNS = {
    "price": rng.lognormal(10, 1, 60),
    "share": rng.beta(0.5, 0.5, 60),
    "visits": rng.poisson(1.5, 60).astype(float),
    "temperature": rng.normal(20, 3, 60),
    "weight": rng.normal(70, 5, 60),
    "population": np.round(rng.lognormal(10, 1, 60)),
    "yes": rng.integers(0, 2, 60).astype(float),
    "change": rng.standard_t(2, 60),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("price", "positive"),
        ("share", "fraction"),
        ("visits", "count"),
        ("temperature", None),
        ("weight", None),
        ("population", "positive"),
        ("yes", None),
        ("change", None),
    ],
)
def test_kinds_are_proposed_where_ranges_would_be_impossible(name, kind) -> None:
    found = proposals(COLUMNS[name][:, None], [name], ["real"])
    if kind is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(f"All values of {name} are ")
        assert found[0].endswith(f"try --target-kind {kind}.")


def test_proposals_for_several_targets_name_the_kind_of_each() -> None:
    names, kinds = ["change", "price", "share", "visits"], ["real", "real", "real", "count"]
    found = proposals(np.column_stack([COLUMNS[name] for name in names]), names, kinds)
    options = "--target-kind real --target-kind positive --target-kind fraction --target-kind count"
    assert [sentence.split(":")[0].split(" are ")[0] for sentence in found] == [
        "All values of price",
        "All values of share",
    ]
    assert all(sentence.endswith(f": try {options}.") for sentence in found)


def test_nothing_is_proposed_for_a_kind_that_was_chosen() -> None:
    assert proposals(COLUMNS["price"][:, None], ["price"], ["positive"]) == []


def test_plans_have_a_kind_for_every_target() -> None:
    frame = pandas.DataFrame({"x": np.arange(60.0) ** 2, **COLUMNS})
    names = [name for name in COLUMNS if name != "price"]
    plan = plan_table(frame, ["price"], drop=names)
    assert plan.target == "real"
    assert any("try --target-kind positive" in notice for notice in plan.notices)
    drop = [name for name in COLUMNS if name not in ("price", "visits")]
    both = plan_table(frame, ["price", "visits"], drop=drop, target_kinds=["positive", "count"])
    assert both.target == ("positive", "count")
    assert not any("--target-kind" in notice for notice in both.notices)
    drop = [name for name in COLUMNS if name not in ("price", "population")]
    same = plan_table(frame, ["price", "population"], drop=drop, target_kinds=["positive"] * 2)
    assert same.target == "positive"


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        (["log"], "`target-kind` must be"),
        (["positive"] * 3, "once for each target. Got 3 for 2 targets"),
    ],
)
def test_wrong_kinds_get_a_sentence(kinds, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        require_kinds(kinds, ["a", "b"])


def test_one_kind_is_for_all_targets() -> None:
    assert require_kinds(["positive"], ["a", "b"]) == ("positive", "positive")
    assert require_kinds([], ["a", "b"]) == ("real", "real")


def test_impossible_rows_are_named() -> None:
    frame = pandas.DataFrame({"x": np.arange(60.0), "visits": COLUMNS["visits"]})
    first = int(np.argmax(COLUMNS["visits"] == 0)) + 1
    number = int(np.sum(COLUMNS["visits"] == 0))
    sentence = f'Got 0 in row {first}, {number} such rows in all; take the kind "count"'
    with pytest.raises(TableError, match=sentence) as caught:
        plan_table(frame, ["visits"], target_kinds=["positive"])
    assert caught.value.column == "visits"


@pytest.mark.parametrize(
    ("below", "lowest", "words"),
    [
        (0.87, 5.0, "87 % of the 95 % intervals go below 0.*--target-kind positive, or count"),
        (0.87, 0.0, "--target-kind count .* detection limit"),
        (0.87, -3.0, None),
        (0.001, 5.0, None),
    ],
)
def test_advice_warns_of_impossible_ranges(below, lowest, words) -> None:
    score = TargetScore("price", 100, 1.0, 2.0, -1.0, 0.95, 0.95, 1.0, 0.5, below)
    text = " ".join(advise((score,), lowest=(lowest,)))
    if words is None:
        assert "below" not in text
    else:
        assert re.search(words, text)
