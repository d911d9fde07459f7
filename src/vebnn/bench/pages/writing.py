"""Write the page of an experiment."""

from collections.abc import Callable
from pathlib import Path

from vebnn.bench.comparison.reading import Results
from vebnn.bench.pages.effort import effort_page
from vebnn.bench.pages.images import images_page
from vebnn.bench.pages.page import Page
from vebnn.bench.pages.replicates import replicates_page
from vebnn.bench.pages.run import run_page
from vebnn.bench.pages.standard_splits import standard_splits_page
from vebnn.bench.pages.truth import truth_page
from vebnn.plots import save_figure
from vebnn.serialization.files import write_bytes

# By the experiment of the rows.
PAGES: dict[str, Callable[[Results], Page]] = {
    "run": run_page,
    "truth": truth_page,
    "replicates": replicates_page,
    "images": images_page,
    "uci standard": standard_splits_page,
    "effort": lambda results: effort_page(results.rows),
}


def write_page(results: Results, path: Path) -> list[Path]:
    """Write the page of some results, with its figures; return the files.

    Raises:
      ValueError: if the rows are of an experiment without a page.
    """
    if results.experiment not in PAGES:
        raise ValueError(
            f"There are pages for rows of the experiments {', '.join(PAGES)}. Got rows of "
            f"{results.experiment!r}; vebnn bench table makes tables of them."
        )
    page = PAGES[results.experiment](results)
    folder = path.with_suffix("")
    figures = []
    for name, figure in page.figures.items():
        png, svg = save_figure(figure, folder, name)
        svg.unlink()  # clouds of points are large as SVG
        figures.append(png)
    write_bytes(path, page.text.encode())
    return [path, *figures]
