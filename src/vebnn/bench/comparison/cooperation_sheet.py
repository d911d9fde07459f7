"""The table of cooperative against joint training."""

import pandas

from vebnn.bench.comparison.measures import METRICS, Metric
from vebnn.bench.comparison.statistics import FEWEST_PAIRS, SIGNIFICANT
from vebnn.bench.render.sheet import MISSING, Cell, Sheet

HEADINGS = ("cooperative, joint", "data sets", "won–lost–tied", "p, means", "p, splits")


def cooperation_sheet(pairs: pandas.DataFrame) -> Sheet:
    """Return the table of all comparisons by one metric."""
    metric = METRICS[pairs["metric"].iloc[0]]
    datasets = pairs["dataset"].unique()
    unit = "in percent of the average of the two means" if metric.in_units else "in nats"
    few = pairs[["p_value", "p_value_over_means"]].isna().to_numpy().any()
    groups = pairs.groupby(["cooperative", "joint"], sort=False)
    return Sheet(
        title=f"Does cooperation help? {metric.name} ({metric.arrow})",
        caption=(
            f"Cooperative against joint training with the same engine. Data sets: on how many the "
            f"cooperative mean is better. Won, lost, tied: splits, over all data sets. p: "
            f"Wilcoxon signed-rank test over the means of the data sets, and over all splits. Then, "
            f"for each data set, by how much the cooperative mean is better ({unit}; + is better, bold "
            f"is p < 0.05)."
        ),
        columns=(*HEADINGS, *datasets),
        groups=[[_row(metric, pair, datasets) for _, pair in groups]],
        notes=[
            f"The cooperative mean is better in {(pairs['advantage'] > 0).sum()} of {len(pairs)} "
            f"combinations of pair and data set.",
            "Splits of one data set share rows, so p over splits is too small.",
            *([f"No p with fewer than {FEWEST_PAIRS} pairs."] if few else []),
        ],
    )


def _row(metric: Metric, pair: pandas.DataFrame, datasets: list[str]) -> list[Cell]:
    first, better_on = pair.iloc[0], int((pair["advantage"] > 0).sum())
    wins, losses, ties = pair[["wins", "losses", "ties"]].sum()
    by_dataset = pair.set_index("dataset").to_dict("index")

    def dataset_cell(one: dict | None) -> Cell:
        if one is None:
            return Cell(MISSING)
        gain, p = one["advantage"], p_cell(one["p_value"])
        text = f"{100 * gain:+.1f} %" if metric.in_units else f"{gain:+.2f}"
        return Cell(text, bold=p.bold, below="" if p.sort is None else f"p {p.text}", sort=gain)

    return [
        Cell(first["cooperative"], below=first["joint"]),
        Cell(f"{better_on} of {len(pair)}", sort=float(better_on)),
        Cell(f"{wins}–{losses}–{ties}", sort=float(wins)),
        p_cell(first["p_value_over_means"]),
        p_cell(first["p_value_over_pairs"]),
        *(dataset_cell(by_dataset.get(name)) for name in datasets),
    ]


def p_cell(p_value: float | None) -> Cell:
    """Return p with two digits, or that it is below 0.001; bold if it is significant."""
    if p_value is None or pandas.isna(p_value):
        return Cell(MISSING)
    text = "<0.001" if p_value < 0.001 else f"{p_value:.2g}"
    return Cell(text, bold=bool(p_value < SIGNIFICANT), sort=float(p_value))
