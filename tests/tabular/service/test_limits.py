"""Requests that are too large, or that would become so, are refused before they cost anything."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from httpx import Client

from alloys import alloys
from vebnn.tabular.model import TableModel

FEATURES = ["alloy", "temperature", "ageing", "annealed"]
ROW = {"alloy": "A356", "temperature": 150, "ageing": 3, "annealed": True}
MEGABYTE = 1_000_000


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Return the most memory that a test has taken, in bytes."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def test_unknown_fields_are_dropped_with_a_notice(client: Client) -> None:
    plain = client.post("/predict", json={"rows": [ROW, ROW]}).json()
    rows = [ROW | {"colour": "red"}, ROW | {"shape": "round"}]
    answer = client.post("/predict", json={"rows": rows}).json()
    assert answer["predictions"] == plain["predictions"]
    assert answer["notices"][-1].endswith("does not know them: 'colour', 'shape'.")


def test_other_unknown_fields_in_every_row(client: Client, peak) -> None:
    rows = [ROW | {f"field {row} {number}": 0 for number in range(10)} for row in range(2_000)]
    answer = client.post("/predict", json={"rows": rows})
    assert answer.status_code == 422
    assert "at most 100 different fields" in answer.json()["detail"][0]["msg"]
    assert answer.json()["detail"][0]["loc"] == ["body", "rows", 10]
    assert peak() < 20 * MEGABYTE  # a table of 2,000 rows and 20,000 columns takes 320


def test_csv_with_many_columns_and_short_rows(client: Client, peak) -> None:
    header = ",".join([*FEATURES, *(f"field{number}" for number in range(5_000))])
    content = (header + "\nA356,150,3,1" * 5_000).encode()
    answer = client.post("/predict/csv", files={"file": ("a.csv", content)})
    assert answer.status_code == 422
    assert "at most 100 different fields" in answer.json()["detail"][0]["msg"]
    assert peak() < 20 * MEGABYTE


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_with_many_rows_is_not_read(client: Client, peak, end: str) -> None:
    content = (",".join(FEATURES) + (end + "1") * 1_000_000).encode()
    answer = client.post("/predict/csv", files={"file": ("a.csv", content)})
    assert answer.status_code == 413
    assert "at most 10,000 rows" in answer.json()["detail"]
    assert peak() < 40 * MEGABYTE


@pytest.mark.parametrize("number", [20, 4_000])  # a small body, and one of 100 kB
def test_many_errors_are_a_short_answer(client: Client, number: int) -> None:
    rows = [ROW | {"alloy": [], "secret": ["echo"] * 5, "x" * 500: {}}] * number
    answer = client.post("/predict", json={"rows": rows})
    assert answer.status_code == 422
    assert len(answer.json()["detail"]) <= 5
    assert len(answer.content) < 2_000
    assert "echo" not in answer.text


def test_rows_are_counted_before_they_are_checked(client: Client) -> None:
    answer = client.post("/predict", json={"rows": [{"a": 0}] * 10_001})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "body",
    ["[" * 100_000, '{"rows":' * 2_000, "[" + "[]," * 100_000 + "[]]", '{"rows": [1'],
)
def test_json_that_is_nested_or_cut(client: Client, body: str) -> None:
    answer = client.post("/predict", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert len(answer.content) < 500


@pytest.mark.parametrize("size", [1, 3_000])  # scanned by C, and by Python
def test_both_scanners_read_the_same(client: Client, size: int) -> None:
    row = ROW | {"alloy": '[6061] "ü"\\ {', "temperature": 1.5e2}
    answer = client.post("/predict", json={"rows": [row] * size}).json()
    assert len(answer["predictions"]) == size
    assert all(one == answer["predictions"][0] for one in answer["predictions"][:8])
    assert "never seen in training" in " ".join(answer["notices"])


def test_predictions_of_a_frame_and_of_json_are_the_same_bits(
    client: Client, alloys_model: Path
) -> None:
    from vebnn.tabular.files import read_csv

    content = alloys(50, seed=3)[FEATURES].to_csv(index=False).encode()
    table = read_csv(content, "rows.csv")
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    prediction = TableModel.load(alloys_model).predict(table).prediction
    answer = client.post("/predict", json={"rows": rows}).json()["predictions"]
    target = TableModel.load(alloys_model).targets[0]
    assert [one[target]["mean"] for one in answer] == prediction.mean[:, 0].tolist()
    assert [one[target]["std"] for one in answer] == prediction.std[:, 0].tolist()
