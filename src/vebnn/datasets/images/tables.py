"""Columns of the CSV files that come with pictures."""

from pathlib import Path

import pandas


def read_columns(path: Path, *columns: str) -> pandas.DataFrame:
    """Return these columns of a CSV file."""
    try:
        return pandas.read_csv(path, usecols=list(columns), encoding="utf-8-sig")
    except ValueError as error:  # also of the parser
        raise ValueError(
            f"The file {path} must be a CSV file with the columns {', '.join(columns)}: save it again."
        ) from error
