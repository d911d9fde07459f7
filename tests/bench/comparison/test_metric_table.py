import numpy as np
import pytest

from tests.support.rows import results, rows_of, skipped
from vebnn.bench.comparison.measures import METRICS, find_metrics
from vebnn.bench.comparison.metric_table import MetricTable, compare

SPLITS = np.arange(20)
WAVE = np.sin(SPLITS)  # what a split has in common


def marks(table: MetricTable, dataset: str = "yacht") -> dict[str, str]:
    """Return the marks of a column: B best, S second, F best of its family, then *, + and -."""
    found = {}
    for method in table.methods:
        entry = table.entries[method, dataset]
        place = {"best": "B", "second": "S", "": ""}[entry["place"]]
        star = "F" * entry["best_of_family"] + "*" * entry["significantly_best"]
        found[method] = place + star + entry["against_family"]
    return found


def test_clear_winner_has_every_mark() -> None:
    table = compare(
        results(
            rows_of("yacht", "MVE (pSGLD)", WAVE - 1),
            rows_of("yacht", "VeBNN (pSGLD)", WAVE + 0.01 * SPLITS),
            rows_of("yacht", "MVE (Ensembles)", WAVE - 0.5),
        ),
        METRICS["tll"],
    )
    assert marks(table) == {"MVE (Ensembles)": "S", "MVE (pSGLD)": "-", "VeBNN (pSGLD)": "BF*+"}
    assert table.untested == ()


def test_smaller_errors_are_better() -> None:
    table = compare(
        results(
            rows_of("yacht", "MVE (pSGLD)", WAVE + 3, "rmse"),
            rows_of("yacht", "VeBNN (pSGLD)", WAVE + 2, "rmse"),
        ),
        METRICS["rmse"],
    )
    assert marks(table) == {"MVE (pSGLD)": "S-", "VeBNN (pSGLD)": "BF*+"}
    assert table.ranks.average == {"MVE (pSGLD)": 2, "VeBNN (pSGLD)": 1}


def test_no_significance_where_methods_take_turns() -> None:
    turns = np.where(SPLITS % 2, 0.1, -0.1)
    table = compare(
        results(
            rows_of("yacht", "MVE (pSGLD)", WAVE + turns),
            rows_of("yacht", "VeBNN (pSGLD)", WAVE - turns + 0.001),
        ),
        METRICS["tll"],
    )
    assert marks(table) == {"MVE (pSGLD)": "S", "VeBNN (pSGLD)": "BF"}


def test_plus_needs_to_beat_every_variant_of_the_family() -> None:
    turns = np.where(SPLITS % 2, 0.1, -0.1)
    table = compare(
        results(
            rows_of("yacht", "MVE (Ensembles)", WAVE - 1),
            rows_of("yacht", "MVE (Natural / Ensembles)", WAVE + turns),
            rows_of("yacht", "VeBNN (Ensembles)", WAVE - turns + 0.001),
        ),
        METRICS["tll"],
    )
    assert marks(table) == {
        "MVE (Ensembles)": "-",
        "MVE (Natural / Ensembles)": "S",
        "VeBNN (Ensembles)": "BF",
    }


def test_one_split_far_out_makes_the_worse_mean_significantly_better() -> None:
    ours = WAVE + 1
    ours[0] = -1000
    table = compare(
        results(rows_of("yacht", "MVE (BBB)", WAVE), rows_of("yacht", "VeBNN (BBB)", ours)),
        METRICS["tll"],
    )
    assert marks(table) == {"MVE (BBB)": "BF", "VeBNN (BBB)": "S+"}


def test_single_networks_and_baselines_are_no_families() -> None:
    table = compare(
        results(
            rows_of("yacht", "Evidential", WAVE),
            rows_of("yacht", "MVE (Natural)", WAVE + 1),
            rows_of("yacht", "NGBoost", WAVE + 2),
            rows_of("yacht", "GP", WAVE + 3),
            rows_of("yacht", "VeBNN (pSGLD)", WAVE + 4),
        ),
        METRICS["tll"],
    )
    # The paper's order: single networks, families, then methods of other origin by name.
    assert list(marks(table).items()) == [
        ("MVE (Natural)", ""),
        ("Evidential", ""),
        ("VeBNN (pSGLD)", "B*"),
        ("GP", "S"),
        ("NGBoost", ""),
    ]


def test_equal_means_share_the_first_place() -> None:
    table = compare(
        results(
            rows_of("yacht", "a", [1.0] * 8),
            rows_of("yacht", "b", [1.0] * 8),
            rows_of("yacht", "c", [0.0] * 8),
        ),
        METRICS["tll"],
    )
    assert marks(table) == {"a": "B", "b": "B", "c": ""}
    assert table.ranks.average == {"a": 1.5, "b": 1.5, "c": 3.0}


def test_best_coverage_is_the_closest_and_has_no_tests() -> None:
    table = compare(
        results(
            rows_of("yacht", "MVE (pSGLD)", [0.97] * 8, "coverage"),
            rows_of("yacht", "VeBNN (pSGLD)", [0.94] * 8, "coverage"),
            rows_of("yacht", "GP", [1.0] * 8, "coverage"),
        ),
        METRICS["coverage"],
    )
    assert marks(table) == {"MVE (pSGLD)": "S", "VeBNN (pSGLD)": "BF", "GP": ""}
    assert table.ranks.average == {"MVE (pSGLD)": 2, "VeBNN (pSGLD)": 1, "GP": 3}


def test_five_splits_are_too_few_for_marks_and_it_is_said() -> None:
    few = compare(
        results(rows_of("yacht", "a", WAVE[:5]), rows_of("yacht", "b", WAVE[:5] + 1)), METRICS["tll"]
    )
    assert marks(few) == {"a": "S", "b": "B"}
    assert few.untested == ("yacht",)
    six = compare(
        results(rows_of("yacht", "a", WAVE[:6]), rows_of("yacht", "b", WAVE[:6] + 1)), METRICS["tll"]
    )
    assert marks(six) == {"a": "S", "b": "B*"}


def test_pairs_are_common_splits_only() -> None:
    # On the ten splits both have, b is better by a hair each time; a's others are far off.
    a = rows_of("yacht", "a", [*WAVE[:10], *[-50.0] * 10])
    b = rows_of("yacht", "b", WAVE[:10] + 0.001)
    table = compare(results(a, b), METRICS["tll"])
    assert marks(table) == {"a": "S", "b": "B*"}
    assert table.usual_splits == 20
    assert table.entries["b", "yacht"]["splits"] == 10


def test_mean_and_std() -> None:
    table = compare(
        results(rows_of("yacht", "a", [1.0, 2.0, None, 6.0]), rows_of("boston", "a", [1.0])),
        METRICS["tll"],
    )
    entry = table.entries["a", "yacht"]
    assert entry["mean"] == 3
    assert entry["std"] == pytest.approx(np.sqrt(((1 - 3) ** 2 + (2 - 3) ** 2 + (6 - 3) ** 2) / 2))
    assert entry["splits"] == 3
    assert np.isnan(table.entries["a", "boston"]["std"])


def test_methods_without_the_number_are_left_out_and_skipped_ones_are_not() -> None:
    table = compare(
        results(
            rows_of("yacht", "ME (MSE)", [None] * 8),
            skipped("carbon", "ME (MSE)", "no file"),
            rows_of("yacht", "a", WAVE),
            skipped("carbon", "a", "no file"),
            skipped("yacht", "b", "needs another package"),
        ),
        METRICS["tll"],
    )
    assert table.methods == ("a", "b")
    assert table.datasets == ("carbon", "yacht")
    assert table.entries["b", "yacht"]["skipped"] == "needs another package"
    assert table.entries["a", "carbon"]["skipped"] == "no file"
    assert table.ranks.average == {"a": 1.0}


def test_paper_stands_only_beside_its_own_experiment() -> None:
    rows = rows_of("yacht", "VeBNN (pSGLD)", WAVE)
    entry = compare(results(rows), METRICS["tll"]).entries["VeBNN (pSGLD)", "yacht"]
    assert (entry["paper_mean"], entry["paper_std"]) == (-1.27, 0.57)
    other = compare(results(rows, experiment="mine"), METRICS["tll"])
    assert other.entries["VeBNN (pSGLD)", "yacht"]["paper_mean"] is None
    assert not other.has_published


def test_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no metric 'r2'\. The metrics are: tll, rmse"):
        find_metrics(["tll", "r2"])
    with pytest.raises(ValueError, match="at least one"):
        find_metrics([])
    assert [metric.field for metric in find_metrics(["crps", "crps"])] == ["crps"]
