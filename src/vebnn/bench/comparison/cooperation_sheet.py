"""The table of cooperative against joint training."""

from collections.abc import Sequence

from vebnn.bench.comparison.cooperation import PairedComparison, combinations_won
from vebnn.bench.comparison.statistics import FEWEST_PAIRS, SignedRank
from vebnn.bench.render.sheet import MISSING, Cell, Sheet


def cooperation_sheet(comparisons: Sequence[PairedComparison]) -> Sheet:
    """Return the table of all comparisons by one metric."""
    metric = comparisons[0].metric
    datasets = list(dict.fromkeys(name for one in comparisons for name in one.by_dataset))
    won, total = combinations_won(comparisons)
    unit = "in percent of the average of the two means" if metric.in_units else "in nats"
    tests = [test for one in comparisons for test in (one.over_means, *_tests(one))]
    few = any(test.p_value is None for test in tests)
    return Sheet(
        title=f"Does cooperation help? {metric.name} ({metric.arrow})",
        caption=(
            f"Cooperative against joint training with the same engine. Data sets: on how many the "
            f"cooperative mean is better. Won, lost, tied: splits, over all data sets. p: "
            f"Wilcoxon signed-rank test over the means of the data sets, and over all splits. Then, "
            f"for each data set, by how much the cooperative mean is better ({unit}; + is better, bold "
            f"is p < 0.05)."
        ),
        columns=(
            *("cooperative, joint", "data sets", "won–lost–tied"),
            *("p, means", "p, splits", *datasets),
        ),
        groups=[[_row(one, datasets) for one in comparisons]],
        notes=[
            f"The cooperative mean is better in {won} of {total} combinations of pair and data set.",
            "Splits of one data set share rows, so p over splits is too small.",
            *([f"No p with fewer than {FEWEST_PAIRS} pairs."] if few else []),
        ],
    )


def _tests(comparison: PairedComparison) -> list[SignedRank]:
    return [one.test for one in comparison.by_dataset.values()]


def _row(comparison: PairedComparison, datasets: Sequence[str]) -> list[Cell]:
    wins, losses, ties = comparison.score
    better_on, total = comparison.better_on, len(comparison.by_dataset)
    return [
        Cell(comparison.cooperative, below=comparison.joint),
        Cell(f"{better_on} of {total}", sort=float(better_on)),
        Cell(f"{wins}–{losses}–{ties}", sort=float(wins)),
        _p_cell(comparison.over_means),
        _p_cell(comparison.over_pairs),
        *(_dataset_cell(comparison, name) for name in datasets),
    ]


def _dataset_cell(comparison: PairedComparison, dataset: str) -> Cell:
    one = comparison.by_dataset.get(dataset)
    if one is None:
        return Cell(MISSING)
    text = f"{100 * one.advantage:+.1f} %" if comparison.metric.in_units else f"{one.advantage:+.2f}"
    below = "" if one.test.p_value is None else f"p {p_value(one.test)}"
    return Cell(text, bold=one.test.significant, below=below, sort=one.advantage)


def _p_cell(test: SignedRank) -> Cell:
    return Cell(p_value(test), bold=test.significant, sort=test.p_value)


def p_value(test: SignedRank) -> str:
    """Return p with two digits, or that it is below 0.001."""
    if test.p_value is None:
        return MISSING
    return "<0.001" if test.p_value < 0.001 else f"{test.p_value:.2g}"
