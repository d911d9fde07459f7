"""Everything that is said about some results: computed once, then printed and written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas

import vebnn
from vebnn.bench.comparison import cooperation
from vebnn.bench.comparison.baselines import peer_ranks
from vebnn.bench.comparison.cooperation import Duel, duels
from vebnn.bench.comparison.measures import METRICS, Metric
from vebnn.bench.comparison.metric_sheet import metric_sheet
from vebnn.bench.comparison.other_sheets import cooperation_sheet, peers_sheet
from vebnn.bench.comparison.published import citation
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import Ranks
from vebnn.bench.comparison.tables import MetricTable, compare
from vebnn.bench.render.latex import as_latex
from vebnn.bench.render.markdown import as_markdown
from vebnn.bench.render.page import as_html
from vebnn.bench.render.sheet import Document
from vebnn.serialization.files import write_bytes


@dataclass(frozen=True)
class Summary:
    """What the results say.

    Args:
      results: the rows.
      tables: one for each metric that has numbers.
      duels: cooperative against joint training, one list for each metric.
      peers: ranks among VeBNN and other methods, by the field of the metric.
      notes: sentences about what is missing.
    """

    results: Results
    tables: tuple[MetricTable, ...]
    duels: tuple[list[Duel], ...]
    peers: dict[str, Ranks]
    notes: tuple[str, ...]

    def document(self, *, paper: bool) -> Document:
        """Return the tables; ``paper`` says whether the published numbers stand below ours."""
        shown = paper and any(
            entry.scores and entry.published
            for table in self.tables
            for entry in table.entries.values()
        )
        return Document(
            title=f"Results: {self.results.experiment or 'your rows'}",
            opening=[f"Rows: {self.results.origin}.", *self.results.notes, *self.notes],
            sheets=[
                *(metric_sheet(table, paper=paper) for table in self.tables),
                *(cooperation_sheet(fought) for fought in self.duels),
                *([peers_sheet(self.peers)] if self.peers else []),
            ],
            closing=[
                *([f"Paper: {citation()}"] if shown else []),
                f"Made by vebnn {vebnn.__version__} (vebnn bench table).",
            ],
        )


def summarise(results: Results, metrics: Sequence[Metric]) -> Summary:
    """Compare the methods of some results.

    Raises:
      ValueError: if none of the metrics has a number.
    """
    every = [compare(results, metric) for metric in metrics]
    tables = tuple(table for table in every if table.usual_splits)
    if not tables:
        raise ValueError(
            f"No row has a number for {', '.join(metric.field for metric in metrics)}. "
            f"Choose other metrics with --metric."
        )
    without = [table.metric.field for table in every if not table.usual_splits]
    fought = (duels(results, METRICS[field]) for field in cooperation.FIELDS)
    return Summary(
        results,
        tables,
        tuple(one for one in fought if one),
        dict(peer_ranks(results)),
        (f"No row has a number for {', '.join(without)}.",) if without else (),
    )


def write_summary(summary: Summary, folder: Path, *, paper: bool | None = None) -> list[Path]:
    """Write Markdown, LaTeX, HTML and CSV files; each is whole or not there.

    Args:
      summary: what the results say.
      folder: where; it is made if need be.
      paper: whether published numbers stand below ours; unless said, in Markdown and HTML they do.
    """
    beside = summary.document(paper=paper is not False)
    contents = {
        "tables.md": as_markdown(beside),
        "tables.tex": as_latex(summary.document(paper=paper is True)),
        "tables.html": as_html(beside),
        "tables.csv": _tables_frame(summary).to_csv(index=False),
    }
    if summary.duels:
        contents["cooperation.csv"] = _duels_frame(summary).to_csv(index=False)
    for name, content in contents.items():
        write_bytes(folder / name, content.encode())
    return [folder / name for name in contents]


def _tables_frame(summary: Summary) -> pandas.DataFrame:
    """Return a row for each metric, method and data set, with unrounded numbers."""
    rows = []
    for table in summary.tables:
        for (method, dataset), entry in table.entries.items():
            known, scored = entry.published, bool(entry.scores)
            rows.append(
                {
                    "metric": table.metric.field,
                    "method": method,
                    "dataset": dataset,
                    "splits": len(entry.scores),
                    "mean": entry.mean if scored else None,
                    "std": entry.std if scored else None,
                    "place": "best" if entry.best else "second" if entry.second else "",
                    "significantly_best": entry.star,
                    "best_of_family": entry.best_of_family,
                    "against_family": entry.mark,
                    "average_rank": table.ranks.average.get(method),
                    "paper_mean": known and known.mean,
                    "paper_std": known and known.std,
                    "difference": entry.mean - known.mean if known and scored else None,
                    "skipped": entry.skipped,
                }
            )
    return pandas.DataFrame(rows)


def _duels_frame(summary: Summary) -> pandas.DataFrame:
    """Return a row for each metric, pair of methods and data set."""
    return pandas.DataFrame(
        [
            {
                "metric": duel.metric.field,
                "cooperative": duel.cooperative,
                "joint": duel.joint,
                "dataset": dataset,
                "advantage": one.advantage,
                "wins": one.wins,
                "losses": one.losses,
                "ties": one.ties,
                "p_value": one.test.p_value,
                "p_value_over_means": duel.over_means.p_value,
                "p_value_over_pairs": duel.over_pairs.p_value,
            }
            for fought in summary.duels
            for duel in fought
            for dataset, one in duel.by_dataset.items()
        ]
    )
