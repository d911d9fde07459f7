"""The page of problems with known mean and noise."""

from pathlib import Path

import pytest

from vebnn.bench.comparison.reading import results_of
from vebnn.bench.pages.truth import truth_page, truth_tables
from vebnn.bench.pages.truth_limits import checks
from vebnn.bench.pages.writing import write_page

OURS, PROCESS = "VeBNN (pSGHMC)", "GP (4 starts)"


def row(method: str, problem: str, seed: int, **numbers: float | None) -> dict:
    usual = {
        "mean_error": 0.5,
        "epistemic_coverage": 0.95,
        "noise_error": 0.1,
        "tll_gap": -0.1,
        "coverage": 0.95,
        "outside_coverage": 0.9,
        "seconds": 1.0,
    }
    place = {"experiment": "truth", "problem": problem, "method": method, "seed": seed}
    return place | usual | numbers


def rows() -> list[dict]:
    return [
        row(OURS, "steps", 0, mean_error=0.6, epistemic_coverage=0.9),
        row(OURS, "steps", 1, mean_error=0.8, epistemic_coverage=0.8),
        row(OURS, "tiny-cubic", 0, mean_error=0.3, epistemic_coverage=1.0, tll_gap=-0.3),
        row(PROCESS, "steps", 0, mean_error=0.4, tll_gap=-0.2),
        row(PROCESS, "tiny-cubic", 0, mean_error=0.4, tll_gap=-0.5),
        row("NGBoost", "steps", 0, epistemic_coverage=None, outside_coverage=None),
        row("VeBNN (NUTS)", "tiny-cubic", 0, mean_error=0.2),
    ]


def test_limits_are_checked_with_means_over_seeds() -> None:
    found = {check.words: check for check in checks(truth_tables(results_of(rows())))}
    ratio = found["average RMSE / noise over that of GP (4 starts)"]
    assert ratio.value == pytest.approx((0.7 + 0.3) / 2 / 0.4)
    assert not ratio.limit.holds(ratio.value)
    largest = found["largest RMSE over the best method's: steps"]
    assert largest.value == pytest.approx(0.7 / 0.4)
    assert not largest.limit.holds(largest.value)
    better = found["average TLL minus the best average of the other methods"]
    assert better.value == pytest.approx(-0.2 - -0.35)
    assert better.limit.holds(better.value)
    assert found["epistemic coverage, average"].value == pytest.approx((0.85 + 1) / 2)
    # Twenty rows are too few for a limit on a single problem.
    lowest = found["epistemic coverage, lowest on a problem of 60 rows or more: steps"]
    assert lowest.value == pytest.approx(0.85)
    assert not lowest.limit.holds(lowest.value)


def test_the_page_has_averages_and_marks_the_worst_problem() -> None:
    page = truth_page(results_of(rows())).text
    averages = page.partition("## Averages")[2].partition("## Limits")[0]
    (ours,) = [line for line in averages.splitlines() if line.startswith("| VeBNN (pSGHMC)")]
    assert "0.50<br>0.70, steps" in ours
    assert "0.925<br>0.850, steps" in ours
    # NUTS was not run on every problem: it has no averages, but numbers in the other tables.
    (nuts,) = [line for line in averages.splitlines() if line.startswith("| VeBNN (NUTS)")]
    assert set(nuts.split("|")[2:-1]) == {" – "}
    errors = page.partition("## RMSE / noise")[2].partition("\n## ")[0]
    (ours,) = [line for line in errors.splitlines() if line.startswith("| VeBNN (pSGHMC)")]
    assert "0.70 (0.14)<sup>†</sup> |" in ours
    assert "tiny-cubic | 20 | 1 |" in page


def test_a_page_is_written_for_known_experiments(tmp_path: Path) -> None:
    path = tmp_path / "pages" / "truth.md"
    assert write_page(results_of(rows()), path) == [path]
    assert path.read_text().startswith("# Known mean and noise")
    with pytest.raises(ValueError, match=r"There are pages for rows of .*Got rows of 'toy'"):
        write_page(results_of([{**rows()[0], "experiment": "toy"}]), path)
