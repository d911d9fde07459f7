"""Every table comes out of rows without a fit."""

import json
from pathlib import Path

import pytest

import vebnn
from vebnn.bench.pages.sheets import SHEETS, sheets_of

RESULTS = Path(vebnn.__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("name", ["toy", "toy-methods", "toy-paper", "rounds", "effort", "update"])
def test_committed_rows_have_their_table(name: str) -> None:
    path = RESULTS / f"{name}.jsonl"
    assert json.loads(path.read_text().splitlines()[0])["experiment"] in SHEETS
    sheets = sheets_of([path])
    assert sheets
    assert all(
        len(row) == len(sheet.columns) for sheet in sheets for group in sheet.groups for row in group
    )


def test_a_preset_chooses_rows_and_other_experiments_have_none(tmp_path: Path) -> None:
    both = tmp_path / "toy.jsonl"
    both.write_text(
        "".join((RESULTS / f"toy-{name}.jsonl").read_text() for name in ("methods", "paper"))
    )
    assert "preset paper" in sheets_of([both])[0].title
    assert "preset paper" in sheets_of([both], "paper")[0].title
    assert sheets_of([RESULTS / "uci-default.jsonl"]) == []
    assert sheets_of([both], "thorough") == []
