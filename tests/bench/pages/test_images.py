"""The page of images, from rows that were made up."""

from pathlib import Path

import pytest

from vebnn.bench.comparison.reading import results_of
from vebnn.bench.pages.images import images_page, images_summary, loss_sheets
from vebnn.bench.pages.images_limits import checks
from vebnn.bench.pages.writing import write_page

OURS = ("VeBNN (Ensembles)", "VeBNN (pSGLD)")
JOINT = ("MVE (β-NLL=0.5 / Ensembles)", "MVE (pSGLD)")
STAMP = ("experiment", "settings", "dataset", "method", "split")
CURVE = {
    "low": [0.0, 50.0, 150.0],
    "high": [50.0, 150.0, 200.0],
    "aleatoric_std": [1.0, 1.0, 1.0],
    "epistemic_std": [1.0, 2.0, 1.0],
    "error": [1.0, 2.0, 1.0],
    "shifted": [0.0, 1.0, 0.0],
}
LEVELS = {"truth": [2.0, 12.0], "learned": [3.0, 11.0], "low": [2.5, 9.0], "high": [3.5, 12.0]}


def row(dataset: str, method: str, **numbers: object) -> dict:
    usual = {"tll": -3.0, "rmse": 5.0, "coverage": 0.95, "interval_length": 20.0, "seconds": 90.0}
    settings = {"preset": "small", "training": "Training(num_epochs=12)"}
    place = {"experiment": "images", "settings": settings, "dataset": dataset, "method": method}
    return {**place, "split": 0, **usual, **numbers}


def ratios(epistemic: float, aleatoric: float) -> dict[str, object]:
    found: dict[str, object] = {"epistemic_ratio": epistemic, "aleatoric_ratio": aleatoric}
    for name, ratio in (("epistemic", epistemic), ("aleatoric", aleatoric)):
        found |= {f"{name}_std_inside": 2.0, f"{name}_std_outside": 2 * ratio}
    return {**found, "curve": CURVE}


def rows() -> list[dict]:
    return [
        row("cells", OURS[0], tll=-2.5, coverage=0.94),
        row("cells", OURS[1], tll=-3.5, coverage=0.98),
        *(row("cells", name) for name in JOINT),
        row("cells", "MVE (Ensembles)", tll=-2.0),
        row("cells-gap", OURS[0], **ratios(3.0, 1.25)),
        row("cells-gap", JOINT[0], **ratios(1.25, 2.0)),
        row("cells-tail", OURS[0], **ratios(1.0, 1.5)),
        row("rotated-digits", OURS[0], raw_noise_error=0.2, raw_epistemic_coverage=0.5),
        row("rotated-digits", OURS[1], noise_levels=LEVELS),
        {
            **{name: value for name, value in row("skin", OURS[0]).items() if name in STAMP},
            "skipped": "The skin images were not found.",
        },
    ]


def test_every_limit_is_checked() -> None:
    found = {check.words: (check.value, check.limit) for check in checks(results_of(rows()))}
    held = {words: limit.holds(value) for words, (value, limit) in found.items()}
    assert held == {
        "cells, VeBNN (Ensembles): calibrated coverage": True,
        "cells, VeBNN (pSGLD): calibrated coverage": False,
        "cells, VeBNN (Ensembles): TLL minus that of MVE (β-NLL=0.5 / Ensembles)": True,
        "cells, VeBNN (pSGLD): TLL minus that of MVE (pSGLD)": False,
        "cells-gap, VeBNN (Ensembles): epistemic std outside over inside": True,
        "cells-gap, VeBNN (Ensembles): aleatoric std outside over inside, below the epistemic": True,
        "cells-tail, VeBNN (Ensembles): epistemic std outside over inside": False,
        "cells-tail, VeBNN (Ensembles): aleatoric std outside over inside, below the epistemic": False,
        "rotated-digits, VeBNN (Ensembles): raw relative error of the noise std": True,
        "rotated-digits, VeBNN (Ensembles): raw epistemic coverage of the true angle": False,
    }


def test_the_page_has_limits_tables_figures_and_reasons() -> None:
    page = images_page(results_of(rows()))
    assert set(page.figures) == {"uncertainties", "noise"}
    assert "10 fits with their predictions took 15 minutes." in page.text
    assert "- training: `Training(num_epochs=12)`" in page.text
    assert "(images/noise.png)" in page.text
    assert "| 0.93–0.97 | 0.980 | ✗ |" in page.text
    tll = page.text.partition("## TLL (↑)")[2].partition("\n## ")[0]
    (ours,) = [line for line in tll.splitlines() if line.startswith("| VeBNN (Ensembles)")]
    assert "paper -2.31, -0.19" in ours
    assert "skin" not in tll
    inside = page.text.partition("## Inside and outside: cells-gap")[2].partition("\n## ")[0]
    assert "| VeBNN (Ensembles) | 2.00 | 6.00 | 3.00 | 2.00 | 2.50 | 1.25 |" in inside
    digits = page.text.partition("## Other numbers: rotated-digits")[2].partition("\n## ")[0]
    assert "| VeBNN (Ensembles) | 0.20 | 0.500 | 90.00 |" in digits
    missing = page.text.partition("## Data sets that were not run")[2]
    assert "| skin | The skin images were not found. |" in missing
    assert "| chair-angle | Its files were not on the machine" in missing
    assert "| cells |" not in missing


def test_beta_nll_against_nll_needs_both() -> None:
    (tll, *_) = loss_sheets(results_of(rows()))
    assert tll.title == "β-NLL against NLL: TLL (↑)"
    cells = {line[0].text: line[1] for group in tll.groups for line in group}
    assert cells["MVE (β-NLL=0.5 / Ensembles)"].below == "paper -2.45, -0.55"
    assert cells["MVE (Ensembles)"].below == "paper -2.05, +0.05"
    without = [one for one in rows() if one["method"] != "MVE (Ensembles)"]
    assert loss_sheets(results_of(without)) == []


def test_appa_real_has_the_papers_numbers() -> None:
    numbers = {"wasserstein": 13.0, "epistemic_coverage": 0.6}
    given = [row("appa-real", name, **numbers) for name in ("MVE (β-NLL=0.5)", "VeBNN (pSGLD)")]
    page = images_page(results_of(given)).text
    table = page.partition("## APPA-REAL, WA (↓)")[2].partition("\n## ")[0]
    assert "paper 18.5600, -5.5600" in table
    assert "paper 13.5000, -0.5000" in table
    # The other tables are of other data sets.
    assert "## TLL" not in page


def test_the_terminal_shows_the_papers_four_scores() -> None:
    titles = [sheet.title for sheet in images_summary(results_of(rows()))]
    assert titles == ["Limits", "TLL (↑)", "RMSE (↓)", "TC (→ 0.95)", "TIL (↓)", "seconds (↓)"]


def test_the_page_is_written_with_its_figures(tmp_path: Path) -> None:
    written = write_page(results_of(rows()), tmp_path / "images.md")
    names = [path.relative_to(tmp_path).as_posix() for path in written]
    assert names == ["images.md", "images/uncertainties.png", "images/noise.png"]
    assert all(path.stat().st_size > 1_000 for path in written)


@pytest.mark.parametrize("method", ["MVE (NLL)", "Evidential"])
def test_one_method_alone_has_no_limits(method: str) -> None:
    page = images_page(results_of([row("cells", method)])).text
    assert "## Limits" not in page
    assert "## TLL" in page
