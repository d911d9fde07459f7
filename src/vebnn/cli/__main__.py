"""``python -m vebnn.cli`` is ``vebnn``."""

from vebnn.cli import app

if __name__ == "__main__":  # worker processes import this file too
    app()
