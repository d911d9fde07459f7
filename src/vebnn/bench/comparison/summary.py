"""All tables of some results: computed once, then printed and written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas

import vebnn
from vebnn.bench.comparison import cooperation
from vebnn.bench.comparison.baseline_ranks import baseline_ranks, baselines_sheet
from vebnn.bench.comparison.cooperation import paired_comparisons
from vebnn.bench.comparison.cooperation_sheet import cooperation_sheet
from vebnn.bench.comparison.measures import METRICS, Metric
from vebnn.bench.comparison.metric_sheet import metric_sheet
from vebnn.bench.comparison.metric_table import MetricTable, compare
from vebnn.bench.comparison.published import citation
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import Ranks
from vebnn.bench.render.latex import as_latex
from vebnn.bench.render.markdown import as_markdown
from vebnn.bench.render.page import as_html
from vebnn.bench.render.sheet import Document
from vebnn.serialization.files import write_bytes


@dataclass(frozen=True)
class Summary:
    """All tables of some results."""

    results: Results
    tables: tuple[MetricTable, ...]  # one for each metric that has numbers
    # Cooperative against joint training, one list for each metric.
    comparisons: tuple[pandas.DataFrame, ...]
    ranks: dict[str, Ranks]  # of VeBNN among the baselines, by the field of the metric
    notes: tuple[str, ...]  # sentences about missing numbers

    def document(self, *, paper: bool) -> Document:
        """Return the tables; ``paper`` is whether the published numbers stand below ours."""
        cited = paper and any(table.has_published for table in self.tables)
        return Document(
            title=f"Results: {self.results.experiment or 'your rows'}",
            opening=[f"Rows: {self.results.origin}.", *self.results.notes, *self.notes],
            sheets=[
                *(metric_sheet(table, paper=paper) for table in self.tables),
                *map(cooperation_sheet, self.comparisons),
                *([baselines_sheet(self.ranks)] if self.ranks else []),
            ],
            closing=[
                *([f"Paper: {citation()}"] if cited else []),
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
    comparisons = (paired_comparisons(results, METRICS[field]) for field in cooperation.FIELDS)
    return Summary(
        results,
        tables,
        tuple(pairs for pairs in comparisons if len(pairs)),
        dict(baseline_ranks(results)),
        (f"No row has a number for {', '.join(without)}.",) if without else (),
    )


def write_summary(summary: Summary, folder: Path, *, paper: bool | None = None) -> list[Path]:
    """Write Markdown, LaTeX, HTML and CSV files, each of them atomically.

    Args:
      summary: the tables.
      folder: where; it is made if need be.
      paper: whether published numbers stand below ours; ``None`` puts them in Markdown and HTML.
    """
    beside = summary.document(paper=paper is not False)
    contents = {
        "tables.md": as_markdown(beside),
        "tables.tex": as_latex(summary.document(paper=paper is True)),
        "tables.html": as_html(beside),
        "tables.csv": _as_csv([table.cells for table in summary.tables]),
    }
    if summary.comparisons:
        contents["cooperation.csv"] = _as_csv(summary.comparisons)
    for name, content in contents.items():
        write_bytes(folder / name, content.encode())
    return [folder / name for name in contents]


def _as_csv(frames: Sequence[pandas.DataFrame]) -> str:
    """Return the rows of all frames, with unrounded numbers."""
    rows = [row for frame in frames for row in frame.to_dict("records")]
    return pandas.DataFrame(rows).to_csv(index=False)
