"""The command line: arguments in, exit codes out. The work is done elsewhere."""

from vebnn.cli.main import app

__all__ = ["app"]
