"""``python -m vebnn.cli`` is ``vebnn``."""

from vebnn.cli import app

app()
