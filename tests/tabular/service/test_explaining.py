"""``POST /explain``: the explanations of the model, and limits of their own."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from httpx import Client, Response

from tests.support.serving import serving
from vebnn.tabular.model import TableModel
from vebnn.tabular.service import explaining
from vebnn.tabular.service.app import create_app

ROW = {"alloy": "A356", "temperature": 150, "ageing": 3, "annealed": True}
OUTPUTS = ("mean", "aleatoric_std", "epistemic_std")
HEADERS = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def model(alloys_model: Path) -> TableModel:
    return TableModel.load(alloys_model)


@pytest.fixture(scope="module")
def client(model: TableModel) -> Iterator[Client]:
    with serving(create_app(model)) as address, Client(base_url=address, timeout=60) as client:
        yield client


def test_explanations_are_the_models(client: Client, model: TableModel) -> None:
    rows = [ROW, ROW | {"temperature": 600, "alloy": "7075"}]
    answer = client.post("/explain", json={"rows": rows}).json()
    expected = model.explain(pandas.DataFrame(rows))
    assert "outside the training range" in " ".join(answer["notices"])
    for row, explained in enumerate(answer["explanations"]):
        assert tuple(explained) == model.targets
        for target, outputs in explained.items():
            assert tuple(outputs) == OUTPUTS
            for name, found in outputs.items():
                base, values, predicted = expected.output(name, target)
                assert found["base"] == base
                assert list(found["values"]) == list(ROW)
                assert list(found["values"].values()) == values[row].tolist()
                assert found["predicted"] == predicted[row]
                assert found["reason"] == expected.reason(row, name, target)


def test_values_add_up_to_the_prediction(client: Client) -> None:
    explained = client.post("/explain", json={"rows": [ROW]}).json()["explanations"][0]
    predicted = client.post("/predict", json={"rows": [ROW]}).json()["predictions"][0]
    for target, outputs in explained.items():
        for name, found in outputs.items():
            assert found["predicted"] == pytest.approx(predicted[target][name], rel=1e-4)
            total = found["base"] + sum(found["values"].values())
            assert total == pytest.approx(found["predicted"], rel=1e-4)


def test_at_most_eight_rows(client: Client) -> None:
    assert len(client.post("/explain", json={"rows": [ROW] * 8}).json()["explanations"]) == 8
    answer = client.post("/explain", json={"rows": [ROW] * 9})
    assert answer.status_code == 413
    assert "at most 8 rows" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"rows": []}, 422),
        ({}, 422),
        ({"rows": [ROW], "level": 0.9}, 422),  # that is of /predict
        ({"rows": [{"alloy": "A356"}]}, 422),
        ({"rows": [ROW | {"alloy": [1]}]}, 422),
        ({"rows": [ROW | {"temperature": 1e300}]}, 422),
        ({"rows": [ROW | {f"field {number}": 0 for number in range(101)}]}, 422),
        ({"rows": [ROW] * 10_000}, 413),
    ],
)
def test_what_is_wrong(client: Client, body: dict, status: int) -> None:
    answer = client.post("/explain", json=body)
    assert answer.status_code == status
    assert len(answer.content) < 2_000


@pytest.mark.parametrize("body", ["[" * 100_000, '{"rows": [1', "\x00", '{"rows": [{"a": NaN}]}'])
def test_bodies_that_are_not_json(client: Client, body: str) -> None:
    assert client.post("/explain", content=body, headers=HEADERS).status_code == 422
    assert client.post("/explain", content=body).status_code == 415


def test_the_schema_describes_it(client: Client) -> None:
    schema = client.get("/openapi.json").json()
    described = schema["paths"]["/explain"]["post"]
    body = described["requestBody"]["content"]["application/json"]["schema"]
    assert set(body["properties"]) == {"rows"}
    assert set(described["responses"]) == {"200", "400", "401", "413", "415", "422", "429"}
    assert "ExplainResponse" in json.dumps(described["responses"]["200"])


def test_too_many_that_wait_are_refused(
    client: Client, model: TableModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, started = threading.Event(), threading.Event()
    at_once: list[int] = []
    explain = TableModel.explain

    def slow(self: TableModel, rows: pandas.DataFrame) -> object:
        at_once.append(1)
        started.set()
        assert sum(at_once) == 1  # one at a time
        free.wait(60)
        at_once.append(-1)
        return explain(self, rows)

    monkeypatch.setattr(TableModel, "explain", slow)
    answers: list[Response] = []
    ask = lambda: answers.append(client.post("/explain", json={"rows": [ROW]}))  # noqa: E731
    waiting = [threading.Thread(target=ask) for _ in range(explaining.MOST_WAITING + 4)]
    waiting[0].start()
    assert started.wait(30)
    for thread in waiting[1:]:
        thread.start()
    deadline = time.monotonic() + 50
    while len(answers) < 3 and time.monotonic() < deadline:  # those that are refused
        time.sleep(0.01)
    assert [one.status_code for one in answers] == [429] * 3
    assert answers[0].headers["retry-after"] == "1"
    # Predictions go on meanwhile.
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 200
    free.set()
    for thread in waiting:
        thread.join()
    statuses = np.array([one.status_code for one in answers])
    assert (statuses == 200).sum() == explaining.MOST_WAITING + 1


def test_an_overflow_is_a_sentence(client: Client, model: TableModel, monkeypatch) -> None:
    """The mean of a positive target can be infinite for a mixture of two rows."""
    found = model.explain(pandas.DataFrame([ROW]))
    beyond = replace(found, mean=found.mean._replace(base=np.inf * found.mean.base))
    monkeypatch.setattr(TableModel, "explain", lambda *_: beyond)
    refused = client.post("/explain", json={"rows": [ROW]})
    assert refused.status_code == 422
    assert "predictions overflow" in refused.text
