"""JSON with a version and a checksum of itself: edits and lost ends are found out."""

import hashlib
import json
from pathlib import Path
from typing import Any


def digest(content: bytes) -> str:
    """Return a checksum."""
    return hashlib.sha256(content).hexdigest()


def seal(name: str, body: dict[str, Any], version: int) -> bytes:
    """Return the content of a file that holds ``body`` under ``name``."""
    description = {"format": version, "checksum": digest(_canonical(body)), name: body}
    return json.dumps(description, indent=2).encode()


def unseal(
    path: Path, name: str, version: int, *, again: str, oldest: int | None = None
) -> dict[str, Any]:
    """Read what :func:`seal` wrote.

    Args:
      path: the file.
      name: what its body is called.
      version: the format this version of the package writes.
      again: how to get a good file, such as "save the model again".
      oldest: the first format it can still read; that same one by default.

    Raises:
      ValueError: if the file is damaged, edited or of another version.
    """
    try:
        description = json.loads(path.read_bytes())
        found, body = description["format"], description[name]
        whole = description["checksum"] == digest(_canonical(body))
    except (ValueError, KeyError, TypeError):
        whole, found = False, version
    readable = range(version if oldest is None else oldest, version + 1)
    if found not in readable:
        formats = " and ".join(map(str, readable))
        raise ValueError(
            f"The model in {path.parent} has format {found}; this version reads format {formats}. "
            f"Upgrade vebnn or {again}."
        )
    if not whole:
        raise ValueError(
            f"The file {path} is truncated or was edited. {again[:1].upper() + again[1:]}."
        )
    return body


def _canonical(body: dict[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True).encode()
