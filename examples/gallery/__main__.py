"""Execute the notebooks of the gallery: ``python examples/gallery [NAME …]``, or ``make gallery``.

The sources are the scripts in this folder, in the percent format of Jupytext. Each becomes an executed
notebook in ``docs/gallery``, which has the checksum of its source.
"""

import hashlib
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

SOURCES = Path(__file__).parent
ROOT = SOURCES.parents[1]
NOTEBOOKS = ROOT / "docs" / "gallery"
SECONDS = 1_200  # for one cell
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
LANGUAGE = {"name": "python"}  # without the version of Python, which differs between machines


def execute(source: Path) -> nbformat.NotebookNode:
    """Return the executed notebook of a script."""
    notebook = jupytext.read(source)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # random by default
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        startup_timeout=SECONDS,
        resources={"metadata": {"path": ROOT}},
        record_timing=False,
    )
    client.execute()
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    about = {"kernelspec": KERNEL, "language_info": LANGUAGE, "source_sha256": digest}
    notebook.metadata = nbformat.from_dict(about)
    return notebook


def main(names: list[str]) -> None:
    """Execute the notebooks with these names, or all."""
    for source in sorted(SOURCES.glob("[!_]*.py")):
        if names and source.stem not in names:
            continue
        started = time.monotonic()
        nbformat.write(execute(source), NOTEBOOKS / f"{source.stem}.ipynb")
        print(f"{source.stem}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
