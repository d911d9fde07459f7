"""Files as people have them: dates, gaps in the target, measurement errors, spaces in names."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from playwright.sync_api import Browser

from tests.e2e.test_pages import eventually
from tests.support.commands import run
from tests.support.serving import serving
from tests.support.watched import Watched
from vebnn import PSGHMC
from vebnn.tabular.model import TableModel
from vebnn.tabular.report.findings import find_out
from vebnn.tabular.report.page import write_report
from vebnn.tabular.service.app import create_app

QUICK = ("--effort", "quick", "--inference", "map", "--rounds", "1")
NUM_ROWS = 120


def films() -> pandas.DataFrame:
    """Return a made-up table of films, ordered by title instead of by date."""
    rng = np.random.default_rng(0)
    day = pandas.Timestamp("2019-01-01") + pandas.to_timedelta(rng.permutation(NUM_ROWS) * 9, unit="D")
    budget = rng.uniform(1, 9, NUM_ROWS)
    season = np.cos(2 * np.pi * day.dayofyear / 365)
    gross = 20 + 3 * budget + 5 * season + rng.normal(0, 1, NUM_ROWS)
    frame = pandas.DataFrame(
        {
            "Release Date": day.strftime("%b %d %Y"),
            "Budget": budget,
            "Counting Error": rng.uniform(0, 0.5, NUM_ROWS),
            "US Gross": gross,
        }
    )
    frame.loc[[4, 50], "US Gross"] = np.nan
    return frame


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "all films.csv"
    films().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The real command, once; beside its model is the table."""
    here = tmp_path_factory.mktemp("films")
    films().to_csv(here / "all films.csv", index=False)
    words = ("all films.csv", "-t", "US Gross", "--time", "Release Date", "--y-std", "Counting Error")
    finished = run("fit", *words, *QUICK, cwd=here)
    assert finished.returncode == 0, finished.stderr
    finished.table, finished.model = here / "all films.csv", here / "all films.model"
    return finished


def test_one_command_takes_the_file(fitted: Any) -> None:
    printed = fitted.stdout
    for words in (
        "118 rows: 94 to train on, 24 held out, the latest by Release Date.",
        "2 rows without the target 'US Gross' are left out.",
        "Release Date: dates, read as month/day/year; they become trend, year, month, weekday.",
        "Counting Error: the known std of the error of US Gross; is no input.",
        "The score is of the latest rows by Release Date.",
    ):
        assert words in printed
    assert re.search(r"US Gross +target +[\d.]+ to [\d.]+ +2 *\n", printed)
    dates = r"Release Date +date +2019-01-\d\d to 2021-\d\d-\d\d; trend, year, month, weekday"
    assert re.search(dates, printed)
    # What is suggested can be pasted.
    (suggested,) = re.findall(r"vebnn (report .*) --out", printed)
    assert shlex.split(suggested) == ["report", fitted.model.name, fitted.table.name]


def test_later_commands_score_and_predict_the_same(call, fitted: Any) -> None:
    model, table = str(fitted.model), str(fitted.table)
    scored = json.loads(call("evaluate", model, table, "--json").stdout)
    assert (scored["rows"], scored["trained_on"], scored["scored"]) == (118, 94, 24)
    assert scored["scores"] == [one._asdict() for one in TableModel.load(model).facts.scores]
    assert any("2 rows without the target" in notice for notice in scored["notices"])
    plain, measured = (
        json.loads(call("predict", model, table, "--json", *more).stdout)["rows"]
        for more in ((), ("--y-std", "Counting Error"))
    )
    assert len(plain) == NUM_ROWS
    before, after = (
        np.array([row["aleatoric_std"] ** 2 for row in rows]) for rows in (plain, measured)
    )
    np.testing.assert_allclose(after - before, films()["Counting Error"] ** 2, atol=1e-6)


def test_report_has_an_axis_of_dates(browser: Browser, fitted: Any, tmp_path: Path) -> None:
    path, model = tmp_path / "report.html", TableModel.load(fitted.model)
    write_report(model, films(), path, data_name="films", model_name="films.model")
    assert "The noise includes the measurement errors that the file states." in path.read_text()
    watched = Watched(browser)
    page = watched.open_report(path)
    dates = page.evaluate(
        "[...document.querySelectorAll('.figure')]"
        ".filter((one) => one._fullLayout?.xaxis?.type === 'date').length"
    )
    assert dates == 1
    page.close()
    assert watched.complaints == []


def test_report_numbers_rows_as_the_file_does(fitted: Any) -> None:
    findings = find_out(TableModel.load(fitted.model), films(), "films")
    expected = [number for number in range(1, NUM_ROWS + 1) if number not in (5, 51)]
    np.testing.assert_array_equal(findings.row_numbers, expected)


def test_page_has_a_slider_of_dates(browser: Browser, fitted: Any) -> None:
    watched, model = Watched(browser), TableModel.load(fitted.model)
    page = watched.page
    with serving(create_app(model)) as address:
        page.goto(address)
        page.wait_for_selector("section.target svg")
        mean = "Number(document.querySelector('section.target').dataset.mean)"
        row = model.typical_row | {"Release Date": "Jan 1 2020"}
        (expected,) = model.predict(pandas.DataFrame([row])).prediction.mean
        page.get_by_label("Release Date, exact date").fill("2020-01-01")
        eventually(page, f"Math.abs({mean} - {expected}) < 1e-3")
        slider = page.get_by_label("Release Date", exact=True)
        assert float(slider.input_value()) == 18262  # days from 1970 to 2020
        slider.fill(slider.get_attribute("max"))
        eventually(page, f"Math.abs({mean} - {expected}) > 1e-3")
        page.close()
    assert watched.complaints == []


def test_a_dry_run_trains_and_writes_nothing(call, table: Path) -> None:
    words = ("fit", str(table), "--target", "US Gross", "--dry-run")
    burn_in = PSGHMC.for_rows(94).burn_in // 4
    printed = call(*words, "--effort", "quick").stdout
    assert "118 rows: 94 to train on, 24 held out." in printed
    assert re.search(r"PSGHMC\(num_samples=40, burn_in=(\d+),", printed)[1] == str(burn_in)
    assert "Nothing was trained or written." in printed
    found = json.loads(call(*words, "--json").stdout)
    assert f"burn_in={4 * burn_in}," in found["lengths"]["inference"]
    assert (found["dry_run"], found["trained"], found["held_out"]) == (True, 94, 24)
    assert [column["kind"] for column in found["columns"]] == ["date", "number", "number"]
    assert [path.name for path in table.parent.iterdir()] == [table.name]


def test_several_problems_are_several_lines(call, table: Path) -> None:
    bad = films().assign(**{"Date  Egg": "1 %"}, Speed=[f"{n} km" for n in range(NUM_ROWS)])
    bad["Date  Egg"] = [f"{n} %" for n in range(NUM_ROWS)]
    bad.to_csv(table, index=False)
    refused = call("fit", str(table), "--target", "US Gross")
    assert refused.returncode == 2
    lines = refused.stderr.splitlines()
    assert lines[0] == "vebnn: The table has 2 problems:"
    assert "or add --drop 'Date  Egg' to leave the column out." in lines[1]
    assert lines[3] == "  To leave these columns out: --drop 'Date  Egg' --drop Speed"
    again = call("fit", str(table), "--target", "US Gross", "--dry-run", *shlex.split(lines[3])[5:])
    assert again.returncode == 0, again.stderr
