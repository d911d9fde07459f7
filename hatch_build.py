"""Build hook: the README on PyPI has no neighbours, so its links and pictures get whole addresses.

They lead to the tag of the version, in the repository that ``Source`` of ``[project.urls]`` names.
Without that line, links stay as they are.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?!https?://|#)(?P<path>[^)]+)\)")


class ReadmeOfPyPI(MetadataHookInterface):
    """Sets the long description of wheel and source distribution."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Replace the README of the metadata by one whose links work everywhere."""
        readme = (Path(self.root) / "README.md").read_text("utf-8")
        if address := metadata.get("urls", {}).get("Source"):
            readme = with_whole_links(readme, address.rstrip("/"), f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def with_whole_links(markdown: str, address: str, tag: str) -> str:
    """Return Markdown whose relative links lead to files of a tag on GitHub or GitLab."""

    def whole(link: re.Match[str]) -> str:
        place = f"{address}/{'raw' if link['picture'] else 'blob'}/{tag}/{link['path']}"
        return f"{link['picture']}{link['text']}({place})"

    return _LINK.sub(whole, markdown)
