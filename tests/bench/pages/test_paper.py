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
from vebnn.bench.pages.paper.plasticity_tables import ROUND_FIELDS, plasticity_sheets
from vebnn.bench.pages.paper.uci import better
from vebnn.bench.render.markdown import escape
from vebnn.cli.bench_paper import bench_paper

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


def test_few_splits_get_no_mark(tmp_path: Path) -> None:
    def rows(datasets: list[str], splits: int) -> list[dict]:
        return [
            uci(name, split, tll=level) | {"dataset": dataset}
            for dataset in datasets
            for split in range(splits)
            for name, level in (("VeBNN (pSGLD)", -1.0), ("MVE (pSGLD)", -2.0))
        ]

    find = better("tab:tll_uci", "tll")
    sets = ["yacht", "energy", "boston", "concrete", "wine-red"]
    for splits, mark in ((4, "–"), (5, "✓")):
        write(tmp_path / "uci-paper.jsonl", rows(sets, splits))
        found = find(Rows(tmp_path))
        assert found is not None
        assert found.mark == mark
    # −1.0 is within one std of −1.27 (0.57) and −0.95 (0.06), not of −0.85, −2.57 and −2.87.
    assert "within one printed std of the printed mean: 2 of 5" in found.ours


def test_presets_of_the_toy_example_are_compared_apart(tmp_path: Path) -> None:
    def row(method: str, preset: str | None, **scores: float) -> dict:
        settings = {} if preset is None else {"preset": preset}
        return {"method": method, "seed": 0, "settings": settings, **scores}

    def swept(method: str, preset: str | None, error: float) -> dict:
        return row(method, preset, mean_rmse=error) | {"noise": "homoscedastic", "num_rows": 5}

    ours, other = "VeBNN (pSGLD)", "MVE (pSGLD)"
    write(
        tmp_path / "sweep.jsonl",
        [
            *(swept(ours, None, 1.0), swept(other, None, 2.0)),
            *(swept(ours, "paper", 9.0), swept(other, "paper", 3.0)),
        ],
    )
    found = known.sweep_wins("homoscedastic", [other, "ME (MSE)"], ["mean_rmse"])(Rows(tmp_path))
    assert found is not None
    assert (found.ours, found.mark) == ("1 of 2, preset paper and standard", "(✓)")
    wanted = known.toy_wins([(ours, other)], ("mean_rmse", "tll_outside"))
    assert wanted(Rows(tmp_path)) is None
    better = {"mean_rmse": 1.0, "tll_outside": -3.0}, {"mean_rmse": 2.0, "tll_outside": -4.0}
    both = [row(name, None, **scores) for name, scores in zip((ours, other), better, strict=True)]
    write(tmp_path / "toy-methods.jsonl", both)
    found = wanted(Rows(tmp_path))
    assert found is not None
    assert found.ours == "defaults: 2 of 2"


def test_losses_are_compared_after_every_round_of_one_fit(tmp_path: Path) -> None:
    def row(loss: str, *errors: float) -> dict:
        scores = dict.fromkeys(ROUND_FIELDS, 0.5)
        steps = [{"step": "Step 1", "seconds": 4.0, **scores}]
        for number, error in enumerate(errors, start=1):
            for step in (2, 3):
                name = f"Round {number} · Step {step}"
                steps.append({"step": name, "seconds": 1.0 * step, **scores, "wasserstein": error})
        place = {"material": 1, "num_paths": 50, "repeat": 0, "settings": {"preset": "paper"}}
        last = {"rmse_percent": 15.0, "wasserstein": errors[-1], "epistemic_calibration_error": 0.1}
        return place | {"method": loss, "experiment": "plasticity · loss", "steps": steps, **last}

    write(tmp_path / "plasticity-loss.jsonl", [row("Gamma", 0.2, 0.1), row("Natural", 0.4, 0.3)])
    rmse, distance, rounds = plasticity_sheets(Rows(tmp_path))[:3]
    texts = [[cell.text for cell in line] for line in rounds.groups[0]]
    assert [line[:4] for line in texts] == [
        ["Gamma", "50", "by folds", "1"],
        ["Gamma", "50", "by folds", "2"],
        ["Natural", "50", "by folds", "1"],
        ["Natural", "50", "by folds", "2"],
    ]
    assert [line[5] for line in texts] == ["0.2", "0.1", "0.4", "0.3"]
    assert [cell.text for cell in distance.groups[0][0]][-2:] == ["0.1000", "0.0210"]
    assert rmse.groups[0][0][-1].text == "15.05"
    assert "standardised" in distance.caption
    in_mpa = row("Gamma", 0.2, 0.1) | {"wasserstein_mpa": 0.02}
    write(tmp_path / "plasticity-loss.jsonl", [in_mpa, row("Natural", 0.4, 0.3)])
    distance = plasticity_sheets(Rows(tmp_path))[1]
    assert [[cell.text for cell in line][-2:] for line in distance.groups[0]] == [["0.0200", "0.0210"]]
    assert "standardised" not in distance.caption
    write(tmp_path / "plasticity.jsonl", [row("VeBNN (pSGLD)", 0.2, 0.1)])
    ours, paper = plasticity_sheets(Rows(tmp_path))[-1].groups[0]
    # Step 1 and, for each round, Steps 2 and 3; then the same of the paper.
    assert [cell.text for cell in ours][2:] == ["4", "2", "3", "9", "14"]
    assert [cell.text for cell in paper][2:] == ["82", "48", "100", "230", "378"]


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


def test_the_command_writes_the_page_or_says_what_is_missing(tmp_path: Path) -> None:
    bench_paper(tmp_path, tmp_path / "paper.md")
    assert (tmp_path / "paper.md").read_text() == paper_page(tmp_path).text
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere"):
        bench_paper(tmp_path / "nowhere", tmp_path / "paper.md")
