import io
from pathlib import Path

import numpy as np
import pandas
import pytest
from rich.console import Console

from tests.support.rows import results, rows_of, skipped
from vebnn.bench.comparison.measures import METRICS, find_metrics
from vebnn.bench.comparison.metric_sheet import letter, metric_sheet
from vebnn.bench.comparison.metric_table import compare
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.summary import summarise, write_summary
from vebnn.bench.render.sheet import Cell, Sheet
from vebnn.bench.render.terminal import print_document

WAVE = 0.2 * np.sin(np.arange(8))


@pytest.fixture
def given() -> Results:
    return results(
        rows_of("yacht", "MVE (pSGLD)", WAVE - 1.0, crps=0.3),
        rows_of("yacht", "VeBNN (pSGLD)", WAVE - 0.5, crps=0.2),
        rows_of("carbon", "VeBNN (pSGLD)", WAVE[:7] + 4.0, crps=0.1),
        skipped("carbon", "MVE (pSGLD)", "the file is missing"),
    )


def cells_of(sheet: Sheet, method: str) -> list[Cell]:
    ((_, *cells),) = [row for group in sheet.groups for row in group if row[0].text == method]
    return cells


def test_cells_say_all(given: Results) -> None:
    sheet = metric_sheet(compare(given, METRICS["tll"]), paper=True)
    assert sheet.columns == ("method", "carbon", "yacht", "rank")
    mean, std = np.mean(WAVE), np.std(WAVE, ddof=1)
    assert cells_of(sheet, "VeBNN (pSGLD)")[1] == Cell(
        f"{mean - 0.5:.2f} ({std:.2f})",
        bold=True,
        underline=True,
        italic=True,
        raised="*+",
        below=f"paper -1.27, {mean - 0.5 + 1.27:+.2f}",
        sort=pytest.approx(mean - 0.5),
    )
    second = cells_of(sheet, "MVE (pSGLD)")[1]
    assert (second.bold, second.underline, second.italic, second.raised) == (True, False, False, "−")
    # One method only has numbers here: nothing is best, and the other's reason is a footnote.
    assert cells_of(sheet, "VeBNN (pSGLD)")[0].text.endswith(", n=7")
    assert not cells_of(sheet, "VeBNN (pSGLD)")[0].bold
    assert cells_of(sheet, "MVE (pSGLD)")[0] == Cell("–", raised="a")
    assert "a: the file is missing" in sheet.notes
    assert any("over 1 data set: yacht; without carbon" in note for note in sheet.notes)


def test_without_the_paper(given: Results) -> None:
    sheet = metric_sheet(compare(given, METRICS["tll"]), paper=False)
    assert not any(cell.below for group in sheet.groups for row in group for cell in row)
    assert "paper" not in sheet.caption


def test_few_splits_are_said() -> None:
    few = results(rows_of("yacht", "a", WAVE[:3]), rows_of("yacht", "b", WAVE[:3] + 1))
    sheet = metric_sheet(compare(few, METRICS["tll"]), paper=True)
    assert "Marks of significance are missing: a test needs at least 6 splits" in " ".join(sheet.notes)


def test_one_method_has_nothing_to_beat() -> None:
    sheet = metric_sheet(compare(results(rows_of("yacht", "a", WAVE)), METRICS["tll"]), paper=True)
    (cell,) = cells_of(sheet, "a")
    assert (cell.bold, cell.italic, cell.raised) == (False, False, "")
    assert "One method: there is nothing to compare it with." in sheet.notes


@pytest.mark.parametrize(
    ("value", "text"), [(0.00641, "0.0064"), (0.628, "0.63"), (4.701, "4.70"), (530.372, "530.37")]
)
def test_small_errors_have_more_decimals(value: float, text: str) -> None:
    sheet = metric_sheet(
        compare(results(rows_of("yacht", "a", [value], "rmse")), METRICS["rmse"]), paper=True
    )
    assert cells_of(sheet, "a")[0].text == text


def test_footnotes_have_letters() -> None:
    assert [letter(number) for number in (0, 25, 26, 27, 52)] == ["a", "z", "aa", "ab", "ba"]


def test_files_hold_the_same_numbers(given: Results, tmp_path: Path) -> None:
    written = write_summary(summarise(given, find_metrics(["tll", "crps", "rmse"])), tmp_path / "new")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(p.name for p in written)
    table = pandas.read_csv(tmp_path / "new" / "tables.csv").set_index(["metric", "method", "dataset"])
    ours = table.loc["tll", "VeBNN (pSGLD)", "yacht"]
    assert ours["mean"] == pytest.approx(np.mean(WAVE) - 0.5)
    assert ours["difference"] == pytest.approx(np.mean(WAVE) - 0.5 + 1.27)
    assert (ours["place"], ours["against_family"], ours["splits"]) == ("best", "+", 8)
    assert table.loc["tll", "MVE (pSGLD)", "carbon"]["skipped"] == "the file is missing"
    pairs = pandas.read_csv(tmp_path / "new" / "cooperation.csv")
    assert pairs[["metric", "wins", "losses"]].to_numpy().tolist() == [["tll", 8, 0], ["crps", 8, 0]]
    markdown = (tmp_path / "new" / "tables.md").read_text()
    assert f"<u>***{np.mean(WAVE) - 0.5:.2f} (0.14)***</u><sup>\\*+</sup><br>paper -1.27" in markdown
    assert "No row has a number for rmse." in markdown
    assert "Does cooperation help?" in markdown
    latex = (tmp_path / "new" / "tables.tex").read_text()
    assert "paper" not in latex
    assert r"\underline{\textbf{\textit{$-$" in latex


def test_paper_is_everywhere_or_nowhere_if_asked(given: Results, tmp_path: Path) -> None:
    summary = summarise(given, find_metrics(["tll"]))
    for paper in (True, False):
        write_summary(summary, tmp_path, paper=paper)
        for name in ("tables.md", "tables.tex", "tables.html"):
            text = (tmp_path / name).read_text()
            assert ("1.27" in text) == paper
            assert ("the paper's mean" in text.replace("&#x27;", "'")) == paper


def test_file_is_whole_or_the_old_one(
    given: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = summarise(given, find_metrics(["tll"]))
    write_summary(summary, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("vebnn.serialization.files.os.replace", fail)
    with pytest.raises(OSError, match="full"):
        write_summary(summary, tmp_path, paper=False)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_metric_without_numbers_is_refused(given: Results) -> None:
    with pytest.raises(ValueError, match="No row has a number for ece"):
        summarise(given, find_metrics(["ece"]))


def test_no_number_is_cut_in_a_narrow_terminal() -> None:
    names = ("carbon", "concrete", "energy", "boston", "power", "wine-red", "yacht")
    given = results(*(rows_of(name, "VeBNN (MC-Dropout)", WAVE - 123.4) for name in names))
    console = Console(file=io.StringIO(), width=50)
    print_document(summarise(given, find_metrics(["tll"])).document(paper=False), console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count(f"{np.mean(WAVE) - 123.4:.2f} (0.14)") == len(names)
    assert "…" not in text
    assert text.count("VeBNN (MC-Dropout)") > 1
