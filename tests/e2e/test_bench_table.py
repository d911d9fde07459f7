"""``vebnn bench table``: the real command, and its page in a real browser."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from tests.support.commands import one_sentence, run
from tests.support.evil import EVIL
from tests.support.rows import rows_of, skipped, write
from tests.support.watched import Watched

WAVE = 0.1 * np.sin(np.arange(8))
FILES = {"tables.md", "tables.tex", "tables.html", "tables.csv", "cooperation.csv"}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write(
        tmp_path / "rows.jsonl",
        rows_of("yacht", "VeBNN (pSGLD)", WAVE - 0.5, rmse=0.9, crps=0.2),
        rows_of("yacht", "MVE (pSGLD)", WAVE - 1.5, rmse=1.8, crps=0.4),
        rows_of("yacht", "NGBoost", WAVE - 10.0, rmse=0.7, crps=0.3),
        rows_of("boston", "VeBNN (pSGLD)", WAVE - 2.5, rmse=3.0, crps=1.2),
        rows_of("boston", "MVE (pSGLD)", WAVE - 2.75, rmse=3.5, crps=1.4),
        skipped("boston", "NGBoost", f"no {EVIL}"),
        skipped("superconduct", "VeBNN (pSGLD)", "its file is not here"),
    )


def test_command_prints_and_writes(rows: Path) -> None:
    finished = run(
        "bench", "table", str(rows), "--out", "tables", "--metric", "tll,rmse", cwd=rows.parent
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    folder = rows.parent / "tables"
    assert {path.name for path in folder.iterdir()} == FILES
    lines = [" ".join(line.split()) for line in finished.stdout.splitlines()]
    spread = f"({np.std(WAVE, ddof=1):.2f})"
    means = [f"{np.mean(WAVE) + level:.2f} {spread}" for level in (-2.5, -0.5)]
    assert f"VeBNN (pSGLD) {means[0]} *+ – a {means[1]} *+ 1.00" in lines
    assert "a: its file is not here" in lines
    assert "The cooperative mean is better in 2 of 2 combinations of pair and data set." in lines
    assert any(line.startswith("VeBNN (pSGLD) 2 of 2 16–0–0") for line in lines)
    assert "VeBNN and the baselines" in lines
    assert finished.stdout.splitlines()[-1].startswith("Written: tables/tables.md")
    assert "paper -1.27" in (folder / "tables.md").read_text()


def test_complaints_are_one_sentence_and_nothing_is_written(call, rows: Path) -> None:
    folder = rows.parent / "out"

    def complaint(*arguments: str) -> str:
        return one_sentence(call("bench", "table", *arguments, "--out", str(folder)))

    empty = write(rows.with_name("empty.jsonl"))
    assert "No such file" in complaint(str(rows.with_name("none.jsonl")))
    assert "no rows in" in complaint(str(empty))
    assert "no metric 'r2'" in complaint(str(rows), "--metric", "tll,r2")
    assert "No row has a number for ece" in complaint(str(rows), "--metric", "ece")
    assert "preset 'paper'" in complaint(str(rows), "--preset", "paper")
    assert "method 'GP'" in complaint(str(rows), "--methods", "GP")
    assert "Missing argument" in complaint()
    assert not folder.exists()
    assert "is a file" in one_sentence(call("bench", "table", str(rows), "--out", str(empty)))


def test_one_method_is_shown_without_marks(call, rows: Path) -> None:
    finished = call("bench", "table", str(rows), "--methods", "ngboost", "--metric", "rmse")
    assert finished.returncode == 0
    assert "One method: there is nothing to compare it with." in finished.stdout
    assert "0.70 (0.00)" in finished.stdout


def test_page_sorts_in_light_and_dark(call, browser: Browser, rows: Path) -> None:
    assert call("bench", "table", str(rows), "--out", str(rows.parent)).returncode == 0
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 24, 28)")):
        watched = Watched(browser, scheme)
        page = watched.page
        page.goto((rows.parent / "tables.html").as_uri())
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
        table = 'table[aria-label="TLL (↑)"]'
        assert methods(page, table) == ["MVE (pSGLD)", "VeBNN (pSGLD)", "NGBoost"]
        # By number, not by letter: -10 is less than -1.5.
        page.locator(f"{table} th button", has_text="yacht").click()
        assert methods(page, table) == ["VeBNN (pSGLD)", "MVE (pSGLD)", "NGBoost"]
        page.locator(f"{table} th button", has_text="yacht").click()
        assert methods(page, table) == ["NGBoost", "MVE (pSGLD)", "VeBNN (pSGLD)"]
        # Cells without a number are last either way.
        for _ in range(2):
            page.locator(f"{table} th button", has_text="boston").click()
            assert methods(page, table)[-1] == "NGBoost"
        best = page.locator(f"{table} u b i").first
        assert "underline" in best.evaluate(
            "cell => getComputedStyle(cell.closest('u')).textDecorationLine"
        )
        assert "paper -1.27" in page.locator(table).inner_text()
        assert EVIL in page.locator("main").inner_text()
        assert watched.complaints == []
        page.close()


def methods(page: Page, table: str) -> list[str]:
    return page.locator(f"{table} td:first-child").all_inner_texts()


def test_rows_of_sequences_make_tables_of_their_own_metrics(tmp_path: Path) -> None:
    made = [
        {
            "experiment": "plasticity",
            "material": 1,
            "num_paths": paths,
            "repeat": repeat,
            "method": method,
            "wasserstein": distance + 0.01 * repeat,
            "rmse_percent": 10.0,
            "epistemic_coverage": None,
        }
        for paths in (1000, 50, 200)
        for repeat in range(3)
        for method, distance in (("MVE (pSGLD)", 0.2), ("VeBNN (pSGLD)", 0.1))
    ]
    rows = write(tmp_path / "rows.jsonl", made)
    finished = run("bench", "table", str(rows), "--out", "tables", cwd=tmp_path)
    text = (tmp_path / "tables" / "tables.md").read_text()
    columns = [f"material 1, {paths} paths" for paths in (50, 200, 1000)]
    assert f"| method | {' | '.join(columns)} | rank |" in text
    assert "0.1100 (0.0100)" in text
    assert "Does cooperation help? WA" in text
    assert "No row has a number for wasserstein_mpa, noise_ratio" in finished.stdout
