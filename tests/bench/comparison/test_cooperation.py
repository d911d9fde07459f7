import numpy as np
import pytest
from scipy.stats import wilcoxon

from tests.support.rows import results, rows_of
from vebnn.bench.comparison.baseline_ranks import baseline_ranks, ranked_methods
from vebnn.bench.comparison.cooperation import paired_comparisons
from vebnn.bench.comparison.cooperation_sheet import cooperation_sheet
from vebnn.bench.comparison.measures import METRICS

NAMES = ("boston", "concrete", "energy", "power", "wine-red", "yacht")


def test_counts_by_hand() -> None:
    pairs = paired_comparisons(
        results(
            rows_of("yacht", "VeBNN (pSGLD)", [1.0, 2.0, 3.0, 9.0]),
            rows_of("yacht", "MVE (pSGLD)", [0.0, 2.0, 4.0]),
            rows_of("boston", "VeBNN (pSGLD)", [1.0, 1.0]),
            rows_of("boston", "MVE (pSGLD)", [3.0, 0.0]),
            rows_of("energy", "VeBNN (pSGLD)", [1.0]),
        ),
        METRICS["tll"],
    )
    assert set(pairs["cooperative"]) == {"VeBNN (pSGLD)"}
    assert set(pairs["joint"]) == {"MVE (pSGLD)"}
    # The fourth split of yacht and all of energy have no partner.
    numbers = pairs.set_index("dataset")[["advantage", "wins", "losses", "ties"]]
    assert numbers.to_dict("split")["index"] == ["boston", "yacht"]
    assert numbers.loc["yacht"].tolist() == [0.0, 1, 1, 1]
    assert numbers.loc["boston"].tolist() == [-0.5, 1, 1, 0]
    # Two means and five pairs are too few.
    assert pairs[["p_value_over_means", "p_value_over_pairs"]].isna().to_numpy().all()
    (row,) = cooperation_sheet(pairs).groups[0]
    assert [cell.text for cell in row[:4]] == ["VeBNN (pSGLD)", "0 of 2", "2–2–1", "–"]


def test_p_values_are_scipys_on_raw_arrays(rng) -> None:
    ours = {name: rng.standard_normal(8) + 0.4 for name in NAMES}
    theirs = {name: rng.standard_normal(8) for name in NAMES}
    pairs = paired_comparisons(
        results(
            *(rows_of(name, "VeBNN (BBB)", ours[name]) for name in NAMES),
            *(rows_of(name, "MVE (BBB)", theirs[name]) for name in NAMES),
        ),
        METRICS["tll"],
    )
    p_values = pairs.set_index("dataset")["p_value"]
    for name in NAMES:
        expected = wilcoxon(ours[name], theirs[name]).pvalue
        assert p_values[name] == pytest.approx(expected)
    gains = np.array([ours[name] - theirs[name] for name in NAMES])
    assert pairs["p_value_over_means"].to_numpy() == pytest.approx(wilcoxon(gains.mean(1)).pvalue)
    assert pairs["p_value_over_pairs"].to_numpy() == pytest.approx(wilcoxon(gains.ravel()).pvalue)
    note = cooperation_sheet(pairs).notes[0]
    assert f"better in {np.sum(gains.mean(1) > 0)} of 6 combinations" in note


def test_errors_of_all_units_count_the_same(rng) -> None:
    ours = rng.uniform(0.5, 1.5, (6, 6))
    theirs = rng.uniform(0.5, 1.5, (6, 6))
    scales = np.array([1e-3, 1e3, 1.0, 1e-2, 10.0, 0.1])[:, None]
    pairs = paired_comparisons(
        results(
            *(
                rows_of(name, method, values, "rmse")
                for method, table in (("VeBNN (BBB)", ours), ("MVE (BBB)", theirs))
                for name, values in zip(NAMES, scales * table, strict=True)
            )
        ),
        METRICS["rmse"],
    )
    shares = (theirs - ours) / ((theirs + ours) / 2)
    expected = wilcoxon(shares.ravel()).pvalue
    assert pairs["p_value_over_pairs"].to_numpy() == pytest.approx(expected)
    # With the units, the data set in thousands would have the last word.
    assert wilcoxon((scales * (theirs - ours)).ravel()).pvalue != pytest.approx(expected, rel=0.1)


def test_advantage_of_an_error_is_a_share() -> None:
    pairs = paired_comparisons(
        results(
            rows_of("yacht", "VeBNN (BBB)", [1.0], "crps"), rows_of("yacht", "MVE (BBB)", [3.0], "crps")
        ),
        METRICS["crps"],
    )
    # 3 − 1, in shares of their average 2.
    assert pairs["advantage"].tolist() == pytest.approx([1])


def test_every_joint_variant_of_the_engine_is_compared() -> None:
    names = ("MVE (Ensembles)", "MVE (Natural / Ensembles)", "VeBNN (Ensembles)", "VeBNN (pSGLD)", "GP")
    found = paired_comparisons(
        results(*(rows_of("yacht", name, [1.0]) for name in names)), METRICS["tll"]
    )
    assert found[["cooperative", "joint"]].to_numpy().tolist() == [
        ["VeBNN (Ensembles)", "MVE (Ensembles)"],
        ["VeBNN (Ensembles)", "MVE (Natural / Ensembles)"],
    ]


def test_vebnn_is_ranked_among_deep_ensembles_and_baselines() -> None:
    def rows(method: str, tll: float, crps: float) -> list[dict]:
        return [row for name in ("yacht", "boston") for row in rows_of(name, method, [tll], crps=crps)]

    given = results(
        rows("VeBNN (pSGLD)", 3.0, 0.1),
        rows("MVE (pSGLD)", 9.0, 0.0),  # not ranked: neither ours, nor a baseline, nor deep ensembles
        rows("MVE (Ensembles)", 2.0, 0.2),
        rows("NGBoost", 1.0, 0.05),
    )
    assert ranked_methods(given) == ["VeBNN (pSGLD)", "MVE (Ensembles)", "NGBoost"]
    ranks = baseline_ranks(given)
    assert ranks["tll"].average == {"VeBNN (pSGLD)": 1, "MVE (Ensembles)": 2, "NGBoost": 3}
    assert ranks["crps"].average == {"VeBNN (pSGLD)": 2, "MVE (Ensembles)": 3, "NGBoost": 1}
    assert baseline_ranks(results(rows("VeBNN (pSGLD)", 1.0, 1.0), rows("MVE (pSGLD)", 1.0, 1.0))) == {}
