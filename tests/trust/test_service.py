"""The standing proof of the service: a short run of it, and its arithmetic."""

from pathlib import Path

import pytest

from trust.asking import Measured
from trust.clients import Tally
from trust.service import flat_growth, promises_of, prove
from trust.serving import Shutdown

# On a machine that is busy with other tests, times say nothing.
TIMED = ("/health answers", "Memory is flat", "Slow clients are closed")


def test_short_form_keeps_its_promises(alloys_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trust.service.make_model", lambda folder: alloys_model)
    promises, figures = prove(short=True)
    assert [one for one in promises if one.kept is False and not one.promise.startswith(TIMED)] == []
    assert [one.kept for one in promises].count(None) == 1  # schemathesis was not asked
    (load,) = figures["loads"].values()
    assert load["p99_ms"] >= load["p50_ms"] > 0


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
