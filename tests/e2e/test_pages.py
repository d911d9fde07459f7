"""The report and the service's page in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas
import pytest
from playwright.sync_api import Browser, Page

from alloys import TARGETS, alloys
from tests.support.commands import one_sentence
from tests.support.evil import EVIL, make_evil
from tests.support.serving import serving
from tests.support.watched import Watched
from vebnn.tabular.model import TableModel
from vebnn.tabular.report.page import write_report
from vebnn.tabular.service.app import create_app

# Two targets, each with four figures, four effects and an explanation; relevance; two curves and R-hat.
NUM_FIGURES = 2 * (4 + 4 + 1) + 1 + 3


@pytest.fixture(scope="module")
def report(alloys_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    model = TableModel.load(alloys_model)
    write_report(model, alloys(), path, data_name="alloys.csv", model_name="alloys.model")
    return path


@pytest.fixture(scope="module")
def shown(browser: Browser, report: Path) -> Iterator[Watched]:
    watched = Watched(browser)
    watched.open_report(report)
    yield watched
    watched.page.close()


def column(page: Page, table: str, name: str) -> list[str]:
    """Return the texts of one column of a table."""
    headers = page.locator(f'table[aria-label="{table}"] th').all_inner_texts()
    at = [header.strip("↑↓ ") for header in headers].index(name) + 1
    return page.locator(f'table[aria-label="{table}"] td:nth-child({at})').all_inner_texts()


def test_report_draws_every_figure(shown: Watched) -> None:
    page = shown.page
    assert page.locator(".figure").count() == NUM_FIGURES
    drawn = page.evaluate(
        "[...document.querySelectorAll('.figure')].map(f => f.querySelectorAll('.trace, .bars').length)"
    )
    assert len(drawn) == NUM_FIGURES
    assert min(drawn) > 0
    assert shown.complaints == []
    opening = page.locator(".lead").first.inner_text()
    assert opening.startswith(f"{TARGETS[0]}. On 16 rows it had not seen")


def test_report_tables_sort(shown: Watched) -> None:
    table = f"Rows the model knows least about {TARGETS[0]}"
    header = shown.page.locator(f'table[aria-label="{table}"] th button', has_text=re.compile("^row$"))
    before = column(shown.page, table, "row")
    assert len(before) == 12
    header.click()
    assert [int(text) for text in column(shown.page, table, "row")] == sorted(map(int, before))[::-1]
    header.click()
    assert [int(text) for text in column(shown.page, table, "row")] == sorted(map(int, before))
    readings = column(shown.page, table, "reading")
    assert all("more data" in text for text in readings)


def test_report_in_dark_and_on_paper(browser: Browser, report: Path) -> None:
    watched = Watched(browser, "dark")
    page = watched.open_report(report)
    ink = "getComputedStyle(document.querySelector('.figure .xtick text')).fill"
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(22, 24, 28)"
    assert page.evaluate(ink) == "rgb(236, 236, 234)"
    # Printing makes paper white and ink black, in the figures too, and then goes back.
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(f"{ink} === 'rgb(26, 26, 26)'")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(f"{ink} === 'rgb(236, 236, 234)'")
    # Nothing but tables is wider than a phone.
    page.set_viewport_size({"width": 390, "height": 800})
    eventually(page, "document.documentElement.scrollWidth === 390")
    assert watched.complaints == []
    page.close()


def test_names_are_shown_and_never_executed(
    browser: Browser, alloys_model: Path, tmp_path: Path
) -> None:
    evil, names = make_evil(TableModel.load(alloys_model))
    path = tmp_path / "evil.html"
    write_report(evil, alloys().rename(columns=names), path, data_name=EVIL, model_name=EVIL)
    watched = Watched(browser)
    page = watched.open_report(path)
    assert EVIL in page.locator("#data td").first.evaluate("cell => cell.closest('table').innerText")
    assert EVIL in page.locator(".figure .xtitle").all_text_contents()
    assert watched.complaints == []
    with serving(create_app(evil)) as address:
        page.goto(address)
        page.wait_for_selector("section.target svg")
        assert EVIL in page.locator("#features label").all_inner_texts()
        page.close()
    assert watched.complaints == []


def eventually(page: Page, condition: str) -> None:
    """Wait for a condition; the page's own policy forbids the browser's way of doing that."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"still not so: {condition}")


def test_sliders_and_selects_move_the_prediction(browser: Browser, alloys_model: Path) -> None:
    watched = Watched(browser)
    page = watched.page
    with serving(create_app(TableModel.load(alloys_model))) as address:
        page.goto(address)
        page.wait_for_selector("section.target svg")
        mean = "Number(document.querySelector('section.target').dataset.mean)"
        at_rest = page.evaluate(mean)
        # Hotter is weaker, and 7075 is stronger than A356.
        slider = page.get_by_label("temperature", exact=True)
        slider.fill(slider.get_attribute("max"))
        eventually(page, f"{mean} < {at_rest} - 20")
        hot = page.evaluate(mean)
        page.get_by_label("alloy", exact=True).select_option("7075")
        eventually(page, f"{mean} > {hot} + 50")
        # One may type beyond the slider's end, and is told so.
        page.get_by_label("temperature, exact value").fill("600")
        eventually(page, "document.querySelector('#notices').innerText.includes('outside')")
        assert page.locator("section.target").count() == 2
        assert "ignorance ±" in page.locator("section.target").first.inner_text()
        page.close()
    assert watched.complaints == []


def test_page_says_what_drives_the_prediction(browser: Browser, alloys_model: Path) -> None:
    watched, model = Watched(browser), TableModel.load(alloys_model)
    page = watched.page
    with serving(create_app(model)) as address:
        page.goto(address)
        page.wait_for_selector(".why:not(.old) .drivers")
        page.get_by_label("temperature, exact value").fill("600")
        row = model.typical_row | {"temperature": 600.0}
        expected = model.explain(pandas.DataFrame([row]))
        reason = expected.reason(0, "epistemic_std", TARGETS[0])
        first = "document.querySelector('.why')"
        eventually(page, f"{first}.innerText.includes({json.dumps(reason)})")
        shown = page.locator(".why").first
        parts = [shown.locator("section").nth(at) for at in range(3)]
        for part, name in zip(parts, ("mean", "aleatoric_std", "epistemic_std"), strict=True):
            values = expected.output(name, TARGETS[0]).values[0]
            order = np.argsort(-np.abs(values), kind="stable")
            assert part.locator("dt").all_inner_texts() == [expected.features[at] for at in order]
            largest = part.locator("dd:not(.bar)").first.inner_text().replace("−", "-")
            assert float(largest.replace(",", "")) == pytest.approx(values[order[0]], rel=0.01)
        page.close()
    assert watched.complaints == []


def test_page_fits_a_phone(browser: Browser, alloys_model: Path) -> None:
    watched = Watched(browser, "dark")
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 800})
    with serving(create_app(TableModel.load(alloys_model))) as address:
        page.goto(address)
        page.wait_for_selector(".why:not(.old) .drivers")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        height = "document.querySelector('svg text').getBoundingClientRect().height"
        assert page.evaluate(height) > 10  # pixels: text does not shrink with the chart
        page.close()
    assert watched.complaints == []


def test_page_asks_for_the_key(browser: Browser, alloys_model: Path) -> None:
    key = "0123456789abcdef"
    page = browser.new_page()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept(key)))
    with serving(create_app(TableModel.load(alloys_model), api_keys=[key])) as address:
        page.goto(address)
        page.wait_for_selector("section.target svg")
        page.close()
    assert asked == ["API key"]


def test_report_command(call, alloys_model: Path, alloys_csv: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    finished = call("report", str(alloys_model), str(alloys_csv), "--out", str(path), "--json")
    assert json.loads(finished.stdout) == {
        "out": str(path),
        "rows": 80,
        "bytes": path.stat().st_size,
    }
    assert path.read_text().startswith("<!doctype html>")


def test_report_cannot_replace_a_folder(call, alloys_model: Path, alloys_csv: Path, tmp_path: Path):
    arguments = ("report", str(alloys_model), str(alloys_csv), "--out", str(tmp_path))
    assert "is a folder" in one_sentence(call(*arguments))
