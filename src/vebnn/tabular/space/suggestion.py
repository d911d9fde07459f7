"""Which candidates of a space to measure next, as a table to be filled in."""

from typing import Any

import numpy as np

from vebnn.tabular.candidates import Candidates, suggest_rows
from vebnn.tabular.errors import TableError, counted
from vebnn.tabular.model import TableModel
from vebnn.tabular.space.space import Drawn


def suggest_in_space(
    model: TableModel,
    drawn: Drawn,
    n: int = 1,
    how: str = "epistemic",
    *,
    target: str | None = None,
    **options: Any,
) -> Candidates:
    """Choose ``n`` candidates to measure next; arguments as in :func:`suggest_rows`.

    Rows are numbered from 1 in the order of the choice. The table has an empty column for all that a
    measurement tells: filled in, it is a file of new measurements.
    """
    if n > len(drawn.frame):
        raise TableError(
            f"The --n must be at most the number of candidates in the space, {len(drawn.frame):,}. Got "
            f"{n:,}; ask for fewer, or widen the space."
        )
    found = suggest_rows(model, drawn.frame, n, how, target=target, cost=drawn.cost, **options)
    table, order = found.table.copy(), np.arange(n)
    first = str(table.columns[0])  # the number of the row
    table[first] = order + 1
    for place, name in enumerate(columns_to_fill(model), start=1 + drawn.frame.shape[1]):
        table.insert(place, name, np.nan)
    return found._replace(rows=order, table=table, notices=(_notice(drawn), *found.notices))


def columns_to_fill(model: TableModel) -> list[str]:
    """Return the columns that new measurements need besides the inputs."""
    facts, inputs = model.facts, {column.name for column in model.encoder.columns}
    others = [name for name in (*facts.y_std, facts.weight, facts.group) if name is not None]
    return list(dict.fromkeys([*model.targets, *(name for name in others if name not in inputs)]))


def _notice(drawn: Drawn) -> str:
    candidates = counted(len(drawn.frame), "candidate")
    if drawn.complete:
        return f"The space has {candidates}."
    share = "" if drawn.share == 1 else f"; {drawn.share:.2g} of the points tried meet the constraints"
    return f"{candidates} are spread evenly over the space{share}."
