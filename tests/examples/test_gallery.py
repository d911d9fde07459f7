"""The notebooks of the gallery are executed, current, small, and linked to pages that exist."""

import base64
import hashlib
import json
import re
import runpy
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "examples" / "gallery").glob("[!_]*.py"))
NOTEBOOKS = ROOT / "docs" / "gallery"
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
MOST_BYTES = 100_000  # of one picture

each = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


def notebook_of(source: Path) -> dict:
    return json.loads((NOTEBOOKS / f"{source.stem}.ipynb").read_text("utf-8"))


def code_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def pictures(notebook: dict) -> list[bytes]:
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"]]
    found = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode("".join(picture)) for picture in found]


def test_the_gallery_has_five_notebooks_and_no_other() -> None:
    names = [path.stem for path in SOURCES]
    assert len(names) == 5
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == names


@each
def test_outputs_are_those_of_the_source(source: Path) -> None:
    """If not: ``make gallery``, and look at the outputs."""
    notebook = notebook_of(source)
    assert notebook["metadata"]["source_sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
    counts = [cell["execution_count"] for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))
    kinds = [output["output_type"] for cell in code_cells(notebook) for output in cell["outputs"]]
    assert "error" not in kinds
    assert "stderr" not in [
        output.get("name") for cell in code_cells(notebook) for output in cell["outputs"]
    ]


@each
def test_pictures_are_small(source: Path) -> None:
    sizes = [len(picture) for picture in pictures(notebook_of(source))]
    assert sizes
    assert max(sizes) <= MOST_BYTES


def test_all_notebooks_together_are_small() -> None:
    assert sum(path.stat().st_size for path in NOTEBOOKS.iterdir()) <= 1_500_000


@each
def test_links_of_notebooks_lead_somewhere(source: Path) -> None:
    notebook = notebook_of(source)
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    links = [target for text in texts for target in LINK.findall(text)]
    assert links
    for target in links:
        assert (NOTEBOOKS / target).exists(), target


@pytest.mark.slow
@each
def test_source_runs(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with matplotlib.rc_context({"backend": "agg"}):
        runpy.run_path(str(source), run_name="notebook")
        matplotlib.pyplot.close("all")
