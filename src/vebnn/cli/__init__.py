"""The command line: arguments, output and exit codes; the other packages do the work."""

from vebnn.cli.main import app

__all__ = ["app"]
