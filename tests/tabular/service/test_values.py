"""Numbers and texts that JSON can carry and a model cannot take: 422 with their field, never 500."""

import pytest
from httpx import Client

ROW = '"alloy": "A356", "temperature": 150, "ageing": 3, "annealed": true'
TEMPERATURE, ALLOY = (["body", "rows", 0, name] for name in ("temperature", "alloy"))


def post(client: Client, body: str):
    return client.post("/predict", content=body, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    ("cell", "place", "words"),
    [
        ('"temperature": NaN', TEMPERATURE, "finite"),
        ('"temperature": Infinity', TEMPERATURE, "finite"),
        ('"temperature": -Infinity', TEMPERATURE, "finite"),
        ('"temperature": 1e999', TEMPERATURE, "finite"),
        (f'"temperature": 1{"0" * 400}', TEMPERATURE, "finite"),
        (f'"temperature": -1{"0" * 5000}', TEMPERATURE, "finite"),
        (f'"alloy": 1{"0" * 400}', ALLOY, "finite"),
        ('"alloy": NaN', ALLOY, "finite"),
        ('"alloy": "\\ud800"', ALLOY, "surrogate"),
        ('"temperature": "\\udfff1"', TEMPERATURE, "surrogate"),
        ('"alloy": {"a": 1}', ALLOY, "valid"),
        # Far beyond the range of single precision, in which networks compute.
        ('"temperature": 1e30', TEMPERATURE, "overflows"),
        ('"temperature": -1e300', TEMPERATURE, "overflows"),
        (f'"temperature": 1{"0" * 200}', TEMPERATURE, "overflows"),
    ],
)
def test_cells(client: Client, cell: str, place: list, words: str) -> None:
    answer = post(client, f'{{"rows": [{{{ROW}, {cell}}}]}}')
    assert answer.status_code == 422
    first = answer.json()["detail"][0]
    assert first["loc"] == place
    assert words in first["msg"]


def test_overflow_names_the_row(client: Client) -> None:
    answer = post(client, f'{{"rows": [{{{ROW}}}, {{{ROW}, "ageing": 1e200}}]}}')
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "rows", 1, "ageing"]


@pytest.mark.parametrize(
    "level",
    ["NaN", "Infinity", "-Infinity", "1e999", "0.9999999999999999", "1" + "0" * 400, '"\\ud800"'],
)
def test_levels(client: Client, level: str) -> None:
    answer = post(client, f'{{"rows": [{{{ROW}}}], "level": {level}}}')
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "level"]


@pytest.mark.parametrize("level", ["nan", "inf", "0.9999999999999999", "1e-999", "\ud7ff"])
def test_levels_of_a_file(client: Client, level: str) -> None:
    content = b"alloy,temperature,ageing,annealed\nA356,150,3,True\n"
    upload = {"file": ("rows.csv", content)}
    answer = client.post("/predict/csv", params={"level": level}, files=upload)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", "level"]


def test_closest_level_to_one_has_an_interval(client: Client) -> None:
    answer = post(client, f'{{"rows": [{{{ROW}}}], "level": 0.9999999999999997}}')
    assert answer.status_code == 200
    assert "Infinity" not in answer.text


@pytest.mark.parametrize(
    "body",
    [
        f'{{"rows": [{{{ROW}, "\\udc00": 1}}]}}',
        f'{{"rows": [{{{ROW}}}], "\\ud83d": 1}}',
        '"\\ud800"',
        "null",
        "",
        "\ufeff{}",
    ],
)
def test_names_and_bodies(client: Client, body: str) -> None:
    answer = post(client, body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"][0] == "body"


def test_bytes_that_are_no_text(client: Client) -> None:
    answer = client.post("/predict", content=b"\xff\xfe", headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert "not UTF-8" in answer.json()["detail"][0]["msg"]


def test_only_json_is_read_as_json(client: Client) -> None:
    # A page of another site may post text without asking first.
    answer = client.post(
        "/predict", content=f'{{"rows": [{{{ROW}}}]}}', headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 415


@pytest.mark.parametrize("number", ["1e30", "1e300", "1e999", "-1e200"])
def test_numbers_of_a_file(client: Client, number: str) -> None:
    content = f"alloy,temperature,ageing,annealed\nA356,{number},3,True\n".encode()
    for accept in ("text/csv", "application/json"):
        answer = client.post(
            "/predict/csv", files={"file": ("a.csv", content)}, headers={"Accept": accept}
        )
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == TEMPERATURE
