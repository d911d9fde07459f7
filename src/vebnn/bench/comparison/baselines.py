"""VeBNN against what one would use instead: average ranks by TLL and by CRPS."""

from collections.abc import Mapping

from vebnn.bench.comparison.measures import METRICS
from vebnn.bench.comparison.order import PEERS, family_of
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import Ranks
from vebnn.bench.comparison.tables import compare
from vebnn.bench.methods import METHODS

FIELDS = ("tll", "crps")
# The joint baseline that people know best: deep ensembles.
BASELINE = "MVE (Ensembles)"


def contestants(results: Results) -> list[str]:
    """Return the cooperative methods, deep ensembles and every method of other origin.

    Nothing is returned unless there is one of the first and one of the last.
    """
    names = dict.fromkeys(row["method"] for row in results.rows)
    ours = [name for name in names if name in METHODS and METHODS[name].strategy == "cooperative"]
    theirs = [name for name in names if family_of(name) == PEERS]
    return [*ours, *[name for name in names if name == BASELINE], *theirs] if ours and theirs else []


def peer_ranks(results: Results) -> Mapping[str, Ranks]:
    """Return the ranks of the contestants among each other, by the field of the metric."""
    names = contestants(results)
    only = Results(
        tuple(row for row in results.rows if row["method"] in names), results.experiment, results.origin
    )
    tables = {field: compare(only, METRICS[field]) for field in FIELDS} if names else {}
    return {field: table.ranks for field, table in tables.items() if table.ranks.datasets}
