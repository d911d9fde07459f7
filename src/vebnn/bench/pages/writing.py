"""Write the page of an experiment."""

from collections.abc import Callable
from pathlib import Path

from vebnn.bench.comparison.reading import Results
from vebnn.bench.pages.truth import truth_page
from vebnn.serialization.files import write_bytes

PAGES: dict[str, Callable[[Results], str]] = {"truth": truth_page}


def write_page(results: Results, path: Path) -> list[Path]:
    """Write the page of some results; return the files.

    Raises:
      ValueError: if the rows are of an experiment without a page.
    """
    if results.experiment not in PAGES:
        raise ValueError(
            f"There is a page for rows of vebnn bench {', '.join(PAGES)}. Got rows of "
            f"{results.experiment!r}; vebnn bench table makes tables of them."
        )
    write_bytes(path, PAGES[results.experiment](results).encode())
    return [path]
