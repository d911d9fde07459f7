import math

import pytest

from vebnn.bench.comparison.measures import METRICS
from vebnn.bench.comparison.published import (
    citation,
    published,
    published_datasets,
    published_tables,
)
from vebnn.bench.methods import METHODS
from vebnn.datasets.uci_catalogue import SOURCES

ENGINES = ("Ensembles", "MC-Dropout", "BBB", "pSGLD")
DATA = ("uci", "imgreg")


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


# Copied by hand from the other tables: corners, and cells with odd typesetting.
@pytest.mark.parametrize(
    ("experiment", "field", "method", "dataset", "mean", "std"),
    [
        ("images", "tll", "MVE (β-NLL=0.5)", "cells", -2.60, 0.31),
        ("images", "tll", "MVE (Natural)", "chair-angle-tail", -5.07, 0.05),
        ("images", "tll", "Evidential", "cells-gap", -5.73, 2.05),
        ("images", "tll", "VeBNN (pSGLD)", "aerial", -7.42, 0.13),
        ("images", "rmse", "MVE (Natural)", "cells-gap", 278836.40, 623369.05),
        ("images", "rmse", "VeBNN (pSGLD)", "chair-angle-gap", 3.88, 0.61),
        ("images", "coverage", "MVE (β-NLL=0.5 / Ensembles)", "chair-angle", 0.9518, 0.0033),
        ("images", "coverage", "VeBNN (pSGLD)", "aerial", 0.9024, 0.0243),
        ("images", "interval_length", "Evidential", "aerial", 1030.07, 31.59),
        ("images", "interval_length", "VeBNN (pSGLD)", "cells", 11.87, 1.33),
        ("images · loss", "tll", "MVE (Ensembles)", "cells", -2.05, 0.09),
        ("images · loss", "interval_length", "MVE (Ensembles)", "aerial", 2374.48, 184.77),
        ("appa-real", "rmse", "MVE (β-NLL)", "appa-real", 18.29, 0.16),
        ("appa-real", "epistemic_interval_length", "VeBNN (pSGLD)", "appa-real", 22.68, 7.19),
        ("plasticity · loss", "rmse_percent", "β-NLL", "50 paths", 24.67, 1.04),
        ("plasticity · loss", "wasserstein", "Gamma", "1000 paths", 0.0067, 0.0002),
        ("plasticity", "epistemic_calibration_error", "VeBNN (pSGLD)", "50 paths", 0.1352, 0.0042),
        ("plasticity", "epistemic_calibration_error", "MVE (pSGLD)", "1000 paths", 0.0223, 0.0070),
    ],
)
def test_numbers_of_other_experiments_are_the_papers(
    experiment: str, field: str, method: str, dataset: str, mean: float, std: float
) -> None:
    assert published(field, method, dataset, experiment) == (mean, std)


def test_every_table_of_results_is_there_and_whole() -> None:
    labels = {
        *(f"tab:{metric}_{data}" for metric in ("tll", "rmse", "coverage", "til") for data in DATA),
        *("tab:beta_vs_nll_imgreg", "tab:appa_real_results", "tab:gamma_results"),
        "tab:epistemic_ece",
    }
    assert {table["label"] for table in published_tables()} == labels
    for table in published_tables():
        assert table["field"] in METRICS
        columns = {tuple(row) for row in table["values"].values()}
        assert len(columns) == 1
        for row in table["values"].values():
            for mean, std in row.values():
                assert math.isfinite(mean)
                assert std > 0


def test_uci_tables_have_the_papers_rows_and_columns() -> None:
    rows = {f"{strategy} ({engine})" for strategy in ("MVE", "VeBNN") for engine in ENGINES}
    rows |= {"MVE (β-NLL=1.0)", "MVE (Natural)", "Evidential"}
    tables = [table for table in published_tables() if table["experiment"] == "uci"]
    assert [table["field"] for table in tables] == ["tll", "rmse", "coverage", "interval_length"]
    for table in tables:
        assert set(table["values"]) == (rows | {"ME (MSE)"} if table["field"] == "rmse" else rows)
        assert set(table["values"]) <= METHODS.keys()
        assert all(tuple(row) == published_datasets() for row in table["values"].values())
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
