"""The standing proof of the service: a short run of it, and its arithmetic."""

import json
from pathlib import Path

import pytest

from trust.clients import Tally
from trust.promises import write
from trust.service import Measured, figures_of, flat_growth, measure, promises_of
from trust.serving import Shutdown

# On a machine that is busy with other tests, times say nothing.
TIMED = ("/health answers", "Memory is flat", "Slow clients are closed")


def test_short_run_keeps_its_promises(alloys_model: Path, tmp_path: Path) -> None:
    measured = measure(alloys_model, seconds=1, clients=10, workers=1, schemathesis=None)
    promises = promises_of(measured)
    assert [one for one in promises if one.kept is False and not one.promise.startswith(TIMED)] == []
    assert [one.kept for one in promises].count(None) == 1  # schemathesis was not asked
    write(tmp_path / "service.json", promises, figures_of(measured, 1))
    content = json.loads((tmp_path / "service.json").read_text())
    assert content["promises"][0]["kept"]
    assert content["figures"]["p99_ms"] >= content["figures"]["p50_ms"] > 0


def tally(**changes: object) -> Tally:
    return Tally([0.001, 0.002], {"200": 2}, 0, 0)._replace(**changes)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"load": tally(statuses={"200": 1, "500": 1})}, {0, 1}),
        ({"load": tally(broken=1)}, {1}),
        ({"load": tally(differences=1)}, {2}),
        ({"schema": (10, 1, "")}, {4}),
        ({"health": tally(seconds=[0.001, 0.2])}, {5}),
        ({"megabytes": [100.0] * 3 + [200.0] * 3}, {6}),
        ({"slow": [5.0, 60.0]}, {7}),
        ({"shutdown": Shutdown(11.0, 0, "")}, {8}),
        ({"shutdown": Shutdown(1.0, 1, "")}, {8}),
        ({"shutdown": Shutdown(1.0, 0, "Traceback")}, {8}),
    ],
)
def test_broken_promises_are_seen(changes: dict, broken: set[int]) -> None:
    good = Measured(tally(), tally(), [], [5.0], [100.0] * 6, (10, 0, ""), Shutdown(1.0, 0, ""))
    promises = promises_of(good._replace(**changes))
    assert {at for at, one in enumerate(promises) if not one.kept} == broken


def test_growth_compares_first_and_last_third() -> None:
    assert flat_growth([10, 10, 10, 500, 500, 500, 14, 14, 14]) == 4
