"""The paper's two printed plasticity tables, and the seconds of the steps, ours beside them."""

import pandas

from vebnn.bench.comparison.published import published_tables
from vebnn.bench.pages.paper.evidence import Rows
from vebnn.bench.pages.paper.known_truth import LOSS, LOSS_IN_SAMPLE, PLASTICITY
from vebnn.bench.render.sheet import MISSING, Sheet, cells
from vebnn.bench.results import Row
from vebnn.bench.steps import round_and_step

ROUND_FIELDS = {
    "rmse_percent": "RMSE %",
    "wasserstein": "WA",
    "epistemic_log_likelihood": "epistemic TLL",
    "epistemic_coverage": "epistemic TC",
    "epistemic_interval_length": "epistemic TIL",
}
PRINTED_SECONDS = {1: 82.0, 2: 48.0, 3: 100.0}  # the paper's, on an accelerator, with 1000 paths


def plasticity_sheets(folder: Rows) -> list[Sheet]:
    """Return the tables that have rows."""
    losses = [row for file in (LOSS, LOSS_IN_SAMPLE) for row in folder.of(file)]
    sheets = [
        _beside(folder.of(PLASTICITY), "tab:epistemic_ece", "epistemic_calibration_error", ".3f"),
        _beside(losses, "tab:gamma_results", "rmse_percent", ".2f"),
        _beside(losses, "tab:gamma_results", "wasserstein", ".4f"),
        rounds_of_losses(losses),
        seconds_sheet(folder),
    ]
    return [sheet for sheet in sheets if sheet is not None]


def _beside(rows: list[Row], label: str, field: str, style: str) -> Sheet | None:
    """Return means of material 1 beside the printed ones, a line for each method and size."""
    table = next(t for t in published_tables() if (t["label"], t["field"]) == (label, field))
    ours = pandas.DataFrame(
        [row for row in rows if row["material"] == 1 and row["method"] in table["values"]]
    )
    if ours.empty:
        return None
    if in_mpa := field == "wasserstein" and "wasserstein_mpa" in ours:
        ours = ours[ours["wasserstein_mpa"].notna()].assign(wasserstein=ours["wasserstein_mpa"])
    ours["kind"] = ours["experiment"].str.endswith("sample").map({True: "in sample", False: ""})
    groups = ours.groupby(["num_paths", "method", "preset", "kind"], sort=False)[field]
    lines = []
    for (size, method, preset, kind), values in groups:
        printed = table["values"][method].get(f"{size} paths")
        lines.append(
            cells(
                str(method),
                str(size),
                f"{preset}{', ' if kind else ''}{kind}",
                str(len(values)),
                format(values.mean(), style),
                MISSING if printed is None else format(printed[0], style),
            )
        )
    standardised = field == "wasserstein" and not in_mpa
    units = " Ours is in standardised units, the paper's in MPa." if standardised else ""
    return Sheet(
        f"{table['title']}: {field.replace('_', ' ')}",
        f"Means over choices of paths, material 1.{units}",
        ("method", "paths", "preset", "choices", "ours", "the paper's"),
        [lines],
    )


def rounds_of_losses(rows: list[Row]) -> Sheet | None:
    """Return the scores of every loss after each round of its fit: K = 1, 2, …."""
    found = [
        {
            "loss": row["method"],
            "paths": row["num_paths"],
            "stopped": "no" if row["experiment"].endswith("sample") else "by folds",
            "K": round_and_step(one["step"])[0],
            **{field: one[field] for field in ROUND_FIELDS},
        }
        for row in rows
        for one in row.get("steps", ())
        if round_and_step(one["step"])[1] == 3
    ]
    if not found:
        return None
    keys = ["loss", "paths", "stopped", "K"]
    means = pandas.DataFrame(found).groupby(keys, sort=False).mean()
    return Sheet(
        "Loss of Step 2 and number of rounds",
        "Means over choices of paths and materials, inside one fit. Stopped: whether held-out paths "
        "stop the variance network.",
        (*keys, *ROUND_FIELDS.values()),
        [
            [
                cells(*map(str, name), *(f"{value:.4g}" for value in values))
                for name, values in zip(means.index, means.to_numpy(), strict=True)
            ]
        ],
    )


def seconds_sheet(folder: Rows) -> Sheet | None:
    """Return the seconds of Steps 1, 2 and 3 of all rows that have them."""
    rows = [*folder.of(PLASTICITY), *folder.of("plasticity-rounds.jsonl"), *folder.of("rounds.jsonl")]
    timed = [row for row in rows if "steps" in row and row.get("variant", "trained") == "trained"]
    if not timed:
        return None
    lines = []
    for row in timed:
        by_step: dict[int, list[float]] = {1: [], 2: [], 3: []}
        for one in row["steps"]:
            by_step[round_and_step(one["step"])[1]].append(one["seconds"])
        first, second, third = (sum(by_step[n]) / max(len(by_step[n]), 1) for n in (1, 2, 3))
        what = row.get("dataset") or f"material {row['material']}, {row['num_paths']} paths"
        totals = (first + k * (second + third) for k in (1, 2))
        numbers = (f"{value:.0f}" for value in (first, second, third, *totals))
        lines.append(cells(what, row["settings"]["preset"], *numbers))
    one, two, three = (PRINTED_SECONDS[n] for n in (1, 2, 3))
    printed = (one, two, three, one + two + three, one + 2 * (two + three))
    lines.append(cells("the paper's, 1000 paths", "paper", *(f"{value:.0f}" for value in printed)))
    return Sheet(
        "Seconds of the steps",
        "Steps 2 and 3: means over rounds. K = 1 and 2: their sums. Ours are with compilation, beside "
        "other programs: take them as ratios. The paper's are of an accelerator; it prints 378 for "
        "K = 2, 410 for MVE (β-NLL) with five β and about 100 for MVE (pSGLD).",
        ("fit", "preset", "Step 1", "Step 2", "Step 3", "K = 1", "K = 2"),
        [lines],
    )
