"""The page of the paper: marks, missing rows, and the page in the repository."""

import json
from pathlib import Path

import pytest

import vebnn
from vebnn.bench.comparison.published import published_tables
from vebnn.bench.pages.paper import known_truth as known
from vebnn.bench.pages.paper.evidence import Pair, Rows, compare, mark_of, published_wins
from vebnn.bench.pages.paper.items import ITEMS
from vebnn.bench.pages.paper.page import paper_page
from vebnn.bench.render.markdown import escape

ROOT = Path(vebnn.__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


def write(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def uci(method: str, split: int, **scores: float) -> dict:
    settings = {"preset": "paper"}
    return {"dataset": "yacht", "method": method, "split": split, "settings": settings, **scores}


@pytest.mark.parametrize(
    ("held", "mark"),
    [([True] * 3 + [False], "✓"), ([True, False], "(✓)"), ([True, False, False], "✗")],
)
def test_marks_are_shares(held: list[bool], mark: str) -> None:
    assert mark_of(held) == mark


def test_means_are_compared_over_common_splits_in_the_direction_of_the_metric() -> None:
    ours = [uci("VeBNN (pSGLD)", split, tll=tll, rmse=1.0) for split, tll in enumerate((1.0, 2.0, -90))]
    other = [uci("MVE (pSGLD)", split, tll=1.4, rmse=0.9) for split in range(2)]
    pair = [Pair("VeBNN (pSGLD)", "MVE (pSGLD)")]
    place = ("dataset",)
    assert compare([*ours, *other], place, "split", pair, ("tll", "rmse")) == [True, False]
    # 1.5 is better than 1.4 by 7 %.
    assert compare([*ours, *other], place, "split", pair, ("tll",), margin=0.05) == [True]
    assert compare([*ours, *other], place, "split", pair, ("tll",), margin=0.1) == [False]
    assert compare(ours, place, "split", pair, ("tll",)) == []
    near = [uci("a", 0, coverage=0.94), uci("b", 0, coverage=0.97)]
    assert compare(near, place, "split", [Pair("a", "b")], ("coverage",)) == [True]


def test_printed_means_are_compared_the_same_way() -> None:
    pair = [Pair("VeBNN (pSGLD)", "MVE (pSGLD)")]
    # Worse on Yacht alone (table tll_uci), and equal on two sets.
    assert published_wins("tab:tll_uci", "tll", pair).count(False) == 1
    gamma = [Pair("Gamma", "β-NLL"), Pair("Gamma", "Natural")]
    assert all(published_wins("tab:gamma_results", "wasserstein", gamma, 0.05))


def test_the_rounds_of_a_fit_are_three_claims(tmp_path: Path) -> None:
    def steps(*after: float) -> list[dict]:
        named = [{"step": "Step 1", "validation_nll": 9.0}]
        for number, value in enumerate(after, start=1):
            named.append({"step": f"Round {number} · Step 2", "validation_nll": 8.0})
            named.append({"step": f"Round {number} · Step 3", "validation_nll": value})
        return named

    def mark(untrained: list[dict]) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        both = {"trained": steps(1.0, 0.95, 0.9), "untrained": untrained}
        settings = {"preset": "paper"}
        write(
            folder / "rounds.jsonl",
            [{"variant": name, "settings": settings, "steps": s} for name, s in both.items()],
        )
        finding = known.energy_rounds(Rows(folder))
        assert finding is not None
        return finding.mark

    assert mark(steps(3.0, 1.5, 0.95)) == "✓"
    assert mark(steps(3.0, 1.5, 1.1)) == "(✓)"  # it ends elsewhere
    assert known.energy_rounds(Rows(tmp_path / "nowhere")) is None


def test_every_label_of_the_printed_tables_has_a_line() -> None:
    names = " ".join(item.name for item in ITEMS)
    for table in published_tables():
        assert table["label"].removeprefix("tab:") in names


def test_a_folder_without_rows_says_what_is_left(tmp_path: Path) -> None:
    text = paper_page(tmp_path).text
    claims, left = text.split("## What has no rows yet")
    assert claims.count("not run") > 25
    for item in ITEMS:
        assert item.missing or not item.command or item.find(Rows(tmp_path)) or item.command in left


def test_the_page_in_the_repository_has_a_line_for_every_entry() -> None:
    page = (RESULTS / "paper.md").read_text()
    for item in ITEMS:
        assert f"\n| {escape(item.name)} |" in page
