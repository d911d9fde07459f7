"""The speed benchmark: its tables, its programs and its processes."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from rich.console import Console

from benchmarks.speed import ablation, against, floor, results
from benchmarks.speed.cases import CASES, CONCRETE, TOY
from benchmarks.speed.programs import LOADER, PRODUCTS, TENSORS, UQ_BOX, VEBNN
from benchmarks.speed.scaling import Curve
from benchmarks.speed.timing import Timing
from benchmarks.speed.whole_fits import settings_of
from benchmarks.speed.workers import held_to


def timing(case=CONCRETE, step: int = 1, **seconds: float) -> Timing:
    names = {"ours": VEBNN, "a": LOADER, "b": TENSORS, "uq": UQ_BOX, "products": PRODUCTS[1]}
    return Timing((case, step), {names[name]: each for name, each in seconds.items()}, {})


def test_products_are_those_of_one_gradient() -> None:
    def multiplications(case) -> int:
        found = floor._gru_products(case) if case.recurrent else floor._perceptron_products(case)
        return sum(left.shape[0] * left.shape[1] * right.shape[1] for left, right in found)

    # Forward, gradient of the weights, and gradient of the hidden layer: 256 (8·50 + 50) 2 + 256·50.
    assert multiplications(CONCRETE) == 256 * (2 * (8 * 50 + 50) + 50)
    assert multiplications(TOY) == 200 * (2 * (256 + 256 * 256 + 256) + 256 * 256 + 256)
    gru = CASES[3]
    rows, gates = 50 * 100, 3 * 128
    first = rows * (2 * 3 * gates + 3 * 128 * gates)
    second = rows * (3 * 128 * gates + 3 * 128 * gates)
    assert multiplications(gru) == first + second + 3 * rows * 128 * 3


def test_a_process_has_its_cores_from_the_first_import_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    asked = "import os; print(len(os.sched_getaffinity(0)), os.environ['OMP_NUM_THREADS'])"
    before = os.sched_getaffinity(0)
    with held_to(1):
        said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["1", "1"]
    assert os.sched_getaffinity(0) == before
    assert "OMP_NUM_THREADS" not in os.environ


def test_claims_are_kept_or_not() -> None:
    claims = results.step_claims([timing(ours=1.0, a=31.0, b=7.0, uq=60.0, products=0.5)])
    assert [claim.kept for claim in claims] == [True, False, True, True]
    assert [round(claim.found, 3) for claim in claims] == [31, 7, 60, 2]
    sheet = results.of_claims(claims)
    assert [row[-1].text for row in sheet.groups[0]] == ["yes", "NO", "yes", "yes"]


def test_a_recurrent_network_is_compared_with_the_faster_way() -> None:
    gru = CASES[3]
    claims = results.step_claims([timing(gru, 1, ours=2.0, a=2.4, b=1.8)])
    assert [claim.kept for claim in claims] == [False]
    assert np.isclose(claims[0].found, 0.9)
    # There is no claim against a missing program.
    assert results.step_claims([timing(gru, 1, ours=2.0)]) == []


def test_steps_show_ratios_and_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    one = timing(ours=4e-5, a=2e-3, products=2e-5)
    sheet = results.of_steps([one], cores=1)
    assert [cell.text for cell in sheet.groups[0][0]] == [
        "Concrete, Step 1", "40 µs", "50.0 ×", "–", "–", "–", "2.00",
    ]  # fmt: skip
    without = Timing((CONCRETE, 1), {VEBNN: 1.0}, {UQ_BOX: "ModuleNotFoundError: no such thing"})
    results.print_missing([without, without], Console())
    said = capsys.readouterr().out
    assert said == f"{UQ_BOX} is not installed: ModuleNotFoundError: no such thing.\n"


def test_whole_fits_show_ratios_and_promise_only_of_concrete() -> None:
    fits = [
        Timing((CONCRETE,), {VEBNN: 40.0, LOADER: 2_000.0, TENSORS: 600.0}, {}),
        Timing((TOY,), {VEBNN: 100.0, LOADER: 300.0}, {}),
    ]
    sheet = results.of_fits(fits, 0.1)
    assert [[cell.text for cell in row] for row in sheet.groups[0]] == [
        ["Concrete", "40 s", "50.0 ×", "15.0 ×"],
        ["toy", "100 s", "3.0 ×", "–"],
    ]
    assert "10%" in sheet.caption
    (claim,) = results.fit_claims(fits)
    assert claim.kept
    assert claim.found == 50
    assert results.fit_claims([Timing((CONCRETE,), {VEBNN: 40.0}, {})]) == []


@pytest.mark.parametrize(
    ("case", "epochs"), [(CONCRETE, (2_000, 1_000, 500, 10)), (CASES[3], (200, 400, 50, 1))]
)
def test_a_share_of_a_fit_has_that_share_of_all_epochs(case, epochs: tuple[int, ...]) -> None:
    # A tenth of what Appendix D of the paper says.
    settings = settings_of(case, 0.1)
    mean, variance, engine = (
        settings[name] for name in ("mean_training", "variance_training", "inference")
    )
    assert (mean.num_epochs, variance.num_epochs, engine.burn_in, engine.thinning) == epochs
    assert engine.num_samples == 150
    assert mean.patience is None
    assert variance.patience is None


def test_exponents() -> None:
    sizes = (10, 100, 1_000)
    assert np.isclose(Curve("rows", "", sizes, (1.0, 10.0, 100.0)).exponent, 1)
    assert np.isclose(Curve("rows", "", sizes, (1.0, 100.0, 10_000.0)).exponent, 2)
    sheet = results.of_curves([Curve("rows", "an epoch", sizes, (1.0, 10.0, 100.0))])
    assert [cell.text for cell in sheet.groups[0][0]] == [
        "an epoch, by rows", "10: 1 s", "100: 10 s", "1,000: 100 s", "1.00",
    ]  # fmt: skip
    kept = results.growth_claims([Curve("rows", "an epoch", sizes, (1.0, 11.0, 150.0))])
    assert [claim.kept for claim in kept] == [False]


@pytest.mark.parametrize("routine", ablation.ROUTINES)
def test_jax_can_replace_every_routine_of_our_own(routine: str) -> None:
    """Where it is looked up, with the same arguments and shapes."""
    key = jax.random.key(0)
    arguments = {
        "standard_normal": (key, 7),
        "uniform": (key, 7, 2),
        "split": (key, 7),
        "random_order": (key, 3, 4),
        "log_gamma": (np.float32(2.5),),
        "ACTIVATIONS": (np.float32(2.5),),
        "convolve": (np.ones((5, 4, 2), np.float32), np.ones((3, 3, 2, 6), np.float32), 2),
    }
    for place, function in ablation.ROUTINES[routine].items():
        module, name = place.split(":")
        own = getattr(importlib.import_module(f"vebnn.{module}"), name)
        if name == "ACTIVATIONS":
            own, function = own["sin"], function["sin"]
        ours, theirs = own(*arguments[name]), function(*arguments[name])
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        if name in ("log_gamma", "ACTIVATIONS"):
            assert float(ours) == pytest.approx(float(theirs), rel=1e-6)


def test_ablation_shows_ratios_and_promises_what_a_user_waits_for() -> None:
    seconds = {ablation.OURS: 2e-3, ablation.JAX: 3e-3}
    timings = [
        Timing(("normal numbers", 1, "Step 3", TOY), seconds, {}),
        Timing(("normal numbers", 2, "Step 3", TOY), seconds, {}),
        Timing(("shuffling", 1, ablation.ONE_SHUFFLE, 60_000), seconds, {}),
    ]
    claims, sheet = ablation.of_timings(timings)
    assert [[cell.text for cell in row] for row in sheet.groups[0]] == [
        ["normal numbers", "Step 3, toy", "2 ms", "3 ms", "1.50 ×"],
        ["normal numbers", "Step 3, toy, 2 cores", "2 ms", "3 ms", "1.50 ×"],
        ["shuffling", "one shuffle, 60,000 rows", "2 ms", "3 ms", "1.50 ×"],
    ]
    # A user does not wait for a single shuffle.
    assert [claim.found for claim in claims] == [1.5, 1.5]


def test_checkouts_are_timed_in_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def process(function: str, checkout: Path, **variables: str) -> subprocess.Popen:
        seconds = 4.0 if checkout == tmp_path else 2.0
        program = f"""
import sys
print({seconds}, flush=True)
for line in sys.stdin:
    with open({str(log)!r}, "a") as log:
        print({seconds}, line.strip(), file=log)
    print({seconds}, flush=True)
"""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen([sys.executable, "-c", program], text=True, **pipes)

    monkeypatch.setattr(against, "_process", process)
    found = against.compare(tmp_path)
    assert found == {name: [2.0, 4.0] for name in against.STEPS + against.FIRST_FITS}
    once = [f"{seconds} {step}" for step in against.STEPS for seconds in (2.0, 4.0)]
    assert log.read_text().splitlines() == once * against.REPEATS


def test_a_checkout_that_fails_is_an_error() -> None:
    command = [sys.executable, "-c", "raise SystemExit(1)"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process, pytest.raises(ChildProcessError, match="has failed"):
        against._read(process)
