"""Cooperative against joint training, and VeBNN against other methods, in words and marks."""

from collections.abc import Mapping, Sequence

from vebnn.bench.comparison.cooperation import Duel, combinations_won
from vebnn.bench.comparison.measures import METRICS
from vebnn.bench.comparison.metric_sheet import MISSING
from vebnn.bench.comparison.statistics import FEWEST_PAIRS, Ranks, SignedRank
from vebnn.bench.render.sheet import Cell, Sheet


def cooperation_sheet(fought: Sequence[Duel]) -> Sheet:
    """Return how cooperative training fared against joint training, by one metric."""
    metric = fought[0].metric
    datasets = list(dict.fromkeys(name for duel in fought for name in duel.by_dataset))
    won, total = combinations_won(fought)
    unit = "in percent of the average of the two means" if metric.in_units else "in nats"
    few = any(one.test.p_value is None for duel in fought for one in duel.by_dataset.values())
    few = few or any(duel.over_means.p_value is None for duel in fought)
    return Sheet(
        title=f"Does cooperation help? {metric.name} ({metric.arrow})",
        caption=(
            f"Cooperative training against joint training with the same engine. Data sets: how many "
            f"have the better cooperative mean. Won, lost, tied: splits, over all data sets. p: "
            f"Wilcoxon signed-rank test over data-set means, and over all splits. Then, "
            f"for each data set, by how much the cooperative mean is better ({unit}; + is better, bold "
            f"is p < 0.05)."
        ),
        columns=(
            *("cooperative, joint", "data sets", "won–lost–tied"),
            *("p, means", "p, splits", *datasets),
        ),
        groups=[[_duel_row(duel, datasets) for duel in fought]],
        notes=[
            f"The cooperative mean is better in {won} of {total} combinations of pair and data set.",
            "Splits of one data set share rows, which makes p over splits smaller than it should be.",
            *([f"No p where there are fewer than {FEWEST_PAIRS} pairs."] if few else []),
        ],
    )


def _duel_row(duel: Duel, datasets: Sequence[str]) -> list[Cell]:
    wins, losses, ties = duel.score
    cells = [
        Cell(duel.cooperative, below=duel.joint),
        Cell(f"{duel.better_on} of {len(duel.by_dataset)}", sort=float(duel.better_on)),
        Cell(f"{wins}–{losses}–{ties}", sort=float(wins)),
        _p_cell(duel.over_means),
        _p_cell(duel.over_pairs),
    ]
    for name in datasets:
        if name not in duel.by_dataset:
            cells.append(Cell(MISSING))
            continue
        one = duel.by_dataset[name]
        text = f"{100 * one.advantage:+.1f} %" if duel.metric.in_units else f"{one.advantage:+.2f}"
        said = "" if one.test.p_value is None else f"p {p_value(one.test)}"
        cells.append(Cell(text, bold=one.test.significant, below=said, sort=one.advantage))
    return cells


def _p_cell(test: SignedRank) -> Cell:
    return Cell(p_value(test), bold=test.significant, sort=test.p_value)


def p_value(test: SignedRank) -> str:
    """Return p in two digits, or in words that it is small."""
    if test.p_value is None:
        return MISSING
    return "<0.001" if test.p_value < 0.001 else f"{test.p_value:.2g}"


def peers_sheet(ranks: Mapping[str, Ranks]) -> Sheet:
    """Return average ranks of VeBNN and of what one would use instead."""
    fields = list(ranks)
    first = ranks[fields[0]].average
    names = dict.fromkeys(name for found in ranks.values() for name in found.average)

    def cell(field: str, name: str) -> Cell:
        average = ranks[field].average
        if name not in average:
            return Cell(MISSING)
        best = average[name] == min(average.values())
        return Cell(f"{average[name]:.2f}", bold=best, underline=best, sort=average[name])

    ordered = sorted(names, key=lambda name: first.get(name, float("inf")))
    return Sheet(
        title="VeBNN and what one would use instead",
        caption="Average rank among the methods of this table; 1 is best, ties share their rank.",
        columns=("method", *(f"by {METRICS[field].name}" for field in fields)),
        groups=[[[Cell(name), *(cell(field, name) for field in fields)] for name in ordered]],
        notes=[
            f"By {METRICS[field].name}: over {len(found.datasets)} data sets that all of them have "
            f"({', '.join(found.datasets)})."
            for field, found in ranks.items()
        ],
    )
