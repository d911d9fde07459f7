"""MkDocs hook: show the executed notebooks of ``docs/gallery`` as pages, pictures included."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter

FOLDER = "gallery"
_FRAME = re.compile(r'<style scoped>.*?</style>\n?| border="1" class="dataframe"', re.DOTALL)
_TO_NOTEBOOK = re.compile(r"\]\((?:\.\./)?((?:gallery/)?\w+)\.ipynb\)")


def on_files(files: Files, config: Any) -> Files:
    """Add a page and its pictures for every notebook."""
    for notebook in sorted(Path(config["docs_dir"], FOLDER).glob("*.ipynb")):
        name = notebook.stem
        settings = {"output_files_dir": name, "unique_key": name}
        text, resources = MarkdownExporter().from_filename(str(notebook), settings)
        for path, content in resources["outputs"].items():
            files.append(File.generated(config, f"{FOLDER}/{path}", content=content))
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content=_as_page(text, name)))
    return files


def _as_page(text: str, name: str) -> str:
    """Return Markdown with tables in the style of the pages, and a link to the notebook."""
    title, rest = text.strip().split("\n", 1)
    link = f'<a href="../{name}.ipynb" download>Download this notebook</a>'
    body = _FRAME.sub("", rest).replace("![png](", "![Figure drawn by the code above](")
    return "\n".join([title, "", link, body])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to a notebook lead to its page."""
    return _TO_NOTEBOOK.sub(lambda link: link[0].replace(".ipynb", ".md"), markdown)
