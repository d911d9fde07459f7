"""The service, asked over HTTP."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas
import pytest
from httpx import Client

from alloys import TARGETS, alloys
from tests.support.serving import serving
from vebnn.tabular.model import TableModel
from vebnn.tabular.service.app import create_app

FEATURES = ["alloy", "temperature", "ageing", "annealed"]


@pytest.fixture(scope="module")
def model(alloys_model: Path) -> TableModel:
    return TableModel.load(alloys_model)


@pytest.fixture(scope="module")
def client(model: TableModel) -> Iterator[Client]:
    app = create_app(model, max_rows=40, max_bytes=20_000)
    with serving(app) as address, Client(base_url=address, timeout=60) as client:
        yield client


def rows(number: int) -> list[dict]:
    return alloys(number, seed=5)[FEATURES].astype(object).replace({np.nan: None}).to_dict("records")


def test_health(client: Client) -> None:
    assert client.get("/health").json()["status"] == "ok"


def test_model_describes_features_and_targets(client: Client) -> None:
    described = client.get("/model").json()
    by_name = {one["name"]: one for one in described["features"]}
    assert list(by_name) == FEATURES
    typical = {name: one["typical"] for name, one in by_name.items()}
    assert (alloys()[FEATURES].astype(str) == {k: str(v) for k, v in typical.items()}).all(1).any()
    assert by_name["alloy"]["categories"] == ["A356", "6061", "7075"]
    assert by_name["temperature"]["low"] == alloys()["temperature"].iloc[_trained()].min()
    assert [one["name"] for one in described["targets"]] == list(TARGETS)
    assert described["settings"]["rounds"] is None  # until the noise has settled


def _trained() -> np.ndarray:
    from vebnn.tabular.plan import plan_table

    return plan_table(alloys(), TARGETS).trained


def test_predictions_are_the_models(client: Client, model: TableModel) -> None:
    answer = client.post("/predict", json={"rows": rows(7), "level": 0.5}).json()
    prediction = model.predict(pandas.DataFrame(rows(7))).prediction
    for at, target in enumerate(TARGETS):
        got = pandas.DataFrame([row[target] for row in answer["predictions"]])
        np.testing.assert_allclose(got["mean"], prediction.mean[:, at])
        np.testing.assert_allclose(
            got["std"] ** 2, got["aleatoric_std"] ** 2 + got["epistemic_std"] ** 2
        )
        np.testing.assert_allclose(got["upper"] - got["lower"], 2 * 0.6744897501960817 * got["std"])


def test_unseen_and_missing_values_are_said(client: Client) -> None:
    row = rows(1)[0] | {"alloy": "2024", "ageing": None}
    notices = " ".join(client.post("/predict", json={"rows": [row]}).json()["notices"])
    assert "'2024', never seen in training" in notices
    assert "1 missing value" in notices


def test_csv_in_json_or_csv_out(client: Client) -> None:
    content = alloys(5, seed=5).to_csv(index=False).encode()
    upload = {"file": ("new.csv", content, "text/csv")}
    as_json = client.post("/predict/csv?level=0.9", files=upload).json()
    assert as_json["level"] == 0.9
    as_csv = client.post("/predict/csv", files=upload, headers={"Accept": "text/csv"})
    table = pandas.read_csv(io.StringIO(as_csv.text))
    assert list(table["sample"]) == list(alloys(5)["sample"])
    np.testing.assert_allclose(
        table[f"{TARGETS[0]}_mean"], [row[TARGETS[0]]["mean"] for row in as_json["predictions"]]
    )


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ({"rows": []}, ["body", "rows"], "at least 1"),
        ({}, ["body", "rows"], "required"),
        ({"rows": [{"alloy": "A356"}]}, ["body", "rows", 0, "temperature"], "null if it is missing"),
        ({"rows": rows(1), "level": 1.5}, ["body", "level"], "less than 1"),
        ({"rows": rows(1), "color": "red"}, ["body", "color"], "not permitted"),
        (
            {"rows": [*rows(2), rows(1)[0] | {"temperature": "warm"}]},
            ["body", "rows", 2, "temperature"],
            "row 3 has 'warm'",
        ),
        ({"rows": [rows(1)[0] | {"alloy": [1]}]}, ["body", "rows", 0, "alloy"], "valid"),
    ],
)
def test_what_is_wrong_is_said_by_field_and_row(
    client: Client, body: dict, place: list, words: str
) -> None:
    answer = client.post("/predict", json=body)
    assert answer.status_code == 422
    first = answer.json()["detail"][0]
    assert first["loc"][: len(place)] == place
    assert words in first["msg"]


def test_infinite_values(client: Client) -> None:
    body = '{"rows": [{"alloy": "A356", "temperature": 1e999, "ageing": 3, "annealed": true}]}'
    answer = client.post("/predict", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert "finite" in answer.text


@pytest.mark.parametrize("content", [b"", b"alloy\nA356\n", b"a,b\n1,2\n1,2,3\n"])
def test_csv_that_cannot_be_used(client: Client, content: bytes) -> None:
    answer = client.post("/predict/csv", files={"file": ("new.csv", content, "text/csv")})
    assert answer.status_code == 422


def test_too_many_rows(client: Client) -> None:
    answer = client.post("/predict", json={"rows": rows(41)})
    assert answer.status_code == 413
    assert "at most 40 rows" in answer.json()["detail"]
    content = alloys(41).to_csv(index=False).encode()
    assert client.post("/predict/csv", files={"file": ("a.csv", content)}).status_code == 413


def test_too_many_bytes(client: Client) -> None:
    announced = client.post("/predict", content=b"[" * 20_001)
    assert announced.status_code == 413
    assert "20,000 bytes" in announced.json()["detail"]
    # Without a length: the bytes are counted as they come.
    unannounced = client.post("/predict", content=iter([b"[" * 15_000] * 2))
    assert unannounced.status_code == 413


def test_schema_and_page(client: Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/health", "/model", "/predict", "/predict/csv", "/explain"}
    page = client.get("/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "https://" not in page.text
    assert client.get("/docs").status_code == 404
