"""Average ranks of VeBNN among deep ensembles and the baselines, by TLL and by CRPS."""

from collections.abc import Mapping
from dataclasses import replace

from vebnn.bench.comparison.measures import METRICS
from vebnn.bench.comparison.metric_sheet import rank_cell
from vebnn.bench.comparison.metric_table import compare
from vebnn.bench.comparison.order import BASELINE, family_of
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import Ranks
from vebnn.bench.methods import METHODS, split_kind
from vebnn.bench.render.sheet import Cell, Sheet
from vebnn.tabular.errors import counted

FIELDS = ("tll", "crps")
DEEP_ENSEMBLES = "MVE (Ensembles)"


def ranked_methods(results: Results) -> list[str]:
    """Return VeBNN, deep ensembles and the baselines; nothing unless VeBNN and a baseline were run."""
    names = dict.fromkeys(row["method"] for row in results.rows)
    known = {name: METHODS.get(split_kind(name)[0]) for name in names}
    ours = [name for name, one in known.items() if one and one.strategy == "cooperative"]
    baselines = [name for name in names if family_of(name) == BASELINE]
    ensembles = [name for name in names if name == DEEP_ENSEMBLES]
    return [*ours, *ensembles, *baselines] if ours and baselines else []


def baseline_ranks(results: Results) -> Mapping[str, Ranks]:
    """Return the ranks of these methods among each other, by the field of the metric."""
    names = ranked_methods(results)
    only = replace(results, rows=tuple(row for row in results.rows if row["method"] in names))
    tables = {field: compare(only, METRICS[field]) for field in FIELDS} if names else {}
    return {field: table.ranks for field, table in tables.items() if table.ranks.datasets}


def baselines_sheet(ranks: Mapping[str, Ranks]) -> Sheet:
    """Return the table of these ranks."""
    first = next(iter(ranks.values())).average
    names = dict.fromkeys(name for found in ranks.values() for name in found.average)
    ordered = sorted(names, key=lambda name: first.get(name, float("inf")))
    rows = [[Cell(name), *(rank_cell(found, name) for found in ranks.values())] for name in ordered]
    return Sheet(
        title="VeBNN and the baselines",
        caption="Average rank among the methods of this table; 1 is best, ties share their rank.",
        columns=("method", *(f"by {METRICS[field].name}" for field in ranks)),
        groups=[rows],
        notes=[
            f"By {METRICS[field].name}: over {counted(len(found.datasets), 'data set')} that all of "
            f"them have ({', '.join(found.datasets)})."
            for field, found in ranks.items()
        ],
    )
