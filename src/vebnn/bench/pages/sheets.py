"""Tables of the experiments whose rows do not compare methods on data sets, from rows alone."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vebnn.bench.comparison.reading import newest_run
from vebnn.bench.experiments.active import active_sheet
from vebnn.bench.experiments.rounds import rounds_sheet
from vebnn.bench.experiments.sweep import medians_sheet
from vebnn.bench.experiments.toy import seeds_sheet as toy_sheet
from vebnn.bench.experiments.toy_methods import methods_sheet
from vebnn.bench.experiments.two_modes import seeds_sheet as modes_sheet
from vebnn.bench.pages.effort import effort_means, effort_sheet
from vebnn.bench.pages.update import update_sheets
from vebnn.bench.render.sheet import Sheet
from vebnn.bench.results import Row, read_rows


def _sweep_sheets(rows: Sequence[Row]) -> list[Sheet]:
    noises = dict.fromkeys(row["noise"] for row in rows)
    return [medians_sheet(noise, [row for row in rows if row["noise"] == noise]) for noise in noises]


# By the experiment of the rows.
SHEETS: Mapping[str, Callable[[list[Row]], list[Sheet]]] = {
    "toy": lambda rows: [toy_sheet(rows)],
    "toy methods": lambda rows: [methods_sheet(rows)],
    "sweep": _sweep_sheets,
    "two modes": lambda rows: [modes_sheet(rows)],
    "active": lambda rows: [active_sheet(rows)],
    "rounds": lambda rows: [rounds_sheet(rows)],
    "effort": lambda rows: [effort_sheet(effort_means(rows))],
    "update": update_sheets,
}


def sheets_of(paths: Sequence[Path], preset: str | None = None) -> list[Sheet]:
    """Return the tables of the newest run in some files; none if it compares methods on data sets.

    ``preset`` chooses the rows with this preset in their settings.
    """
    rows = [row for path in paths for row in read_rows(path)]
    some = [row for row in rows if preset in (None, row.get("settings", {}).get("preset"))]
    run = newest_run(some) if some else []
    make = SHEETS.get(str(run[0].get("experiment"))) if run else None
    return [] if make is None else make(run)
