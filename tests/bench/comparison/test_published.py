import math

import pytest

from vebnn.bench.comparison.published import (
    citation,
    published,
    published_datasets,
    published_tables,
)
from vebnn.bench.methods import METHODS
from vebnn.datasets.uci_catalogue import SOURCES

ENGINES = ("Ensembles", "MC-Dropout", "BBB", "pSGLD")


# Copied by hand from the paper's tables: first and last row and column, and odd ones in between.
@pytest.mark.parametrize(
    ("table", "method", "dataset", "mean", "std"),
    [
        ("tll", "MVE (β-NLL=1.0)", "carbon", 3.22, 0.50),
        ("tll", "Evidential", "carbon", -4.98, 13.79),
        ("tll", "MVE (BBB)", "superconduct", -980.85, 896.75),
        ("tll", "VeBNN (MC-Dropout)", "boston", -2.42, 0.23),
        ("tll", "VeBNN (pSGLD)", "carbon", 4.04, 0.78),
        ("tll", "VeBNN (pSGLD)", "yacht", -1.27, 0.57),
        ("rmse", "ME (MSE)", "carbon", 0.0069, 0.0028),
        ("rmse", "MVE (Ensembles)", "carbon", 0.0066, 1.1927),
        ("rmse", "VeBNN (BBB)", "power", 4.10, 0.12),
        ("rmse", "MVE (BBB)", "yacht", 572.11, 188.76),
        ("rmse", "VeBNN (pSGLD)", "superconduct", 12.23, 0.45),
        ("coverage", "Evidential", "carbon", 0.7459, 0.4419),
        ("coverage", "MVE (Natural)", "wine-red", 0.9459, 0.0312),
        ("coverage", "VeBNN (pSGLD)", "yacht", 0.9323, 0.0644),
        ("interval_length", "MVE (BBB)", "carbon", 3.93, 0.02),
        ("interval_length", "MVE (Ensembles)", "power", 18.93, 0.55),
        ("interval_length", "VeBNN (pSGLD)", "energy", 2.45, 0.27),
        ("interval_length", "VeBNN (pSGLD)", "yacht", 2.71, 0.68),
    ],
)
def test_numbers_are_the_papers(table: str, method: str, dataset: str, mean: float, std: float) -> None:
    assert published(table, method, dataset) == (mean, std)


def test_every_table_is_whole() -> None:
    rows = {f"{strategy} ({engine})" for strategy in ("MVE", "VeBNN") for engine in ENGINES}
    rows |= {"MVE (β-NLL=1.0)", "MVE (Natural)", "Evidential"}
    assert set(published_tables()) == {"tll", "rmse", "coverage", "interval_length"}
    for field, table in published_tables().items():
        assert set(table["values"]) == (rows | {"ME (MSE)"} if field == "rmse" else rows)
        assert table["label"].startswith("tab:")
        for method, row in table["values"].items():
            assert method in METHODS
            assert tuple(row) == published_datasets()
            for mean, std in row.values():
                assert math.isfinite(mean)
                assert std > 0
    assert set(published_datasets()) == set(SOURCES)
    assert "Yi" in citation()


def test_averages_of_rows_agree_with_sums_made_on_paper() -> None:
    # The means of VeBNN (pSGLD), added up by hand: a digit lost anywhere in the row would show.
    tll = [published("tll", "VeBNN (pSGLD)", name).mean for name in published_datasets()]
    assert sum(tll) == pytest.approx(4.04 - 2.87 - 0.85 - 2.57 - 2.74 - 3.41 - 0.95 - 1.27)
    assert sum(tll) == pytest.approx(-10.62)


@pytest.mark.parametrize(
    "names",
    [
        ("crps", "VeBNN (pSGLD)", "yacht"),
        ("tll", "ME (MSE)", "yacht"),
        ("tll", "NGBoost", "yacht"),
        ("tll", "VeBNN (pSGLD)", "protein"),
    ],
)
def test_nothing_where_the_paper_says_nothing(names: tuple[str, str, str]) -> None:
    assert published(*names) is None
