import numpy as np
import pytest

from vebnn.inference.diagnostics import diagnose_chains


def chains(rng, shift=0.0, correlation=0.0, shape=(4, 200, 5, 1)):
    values = rng.standard_normal(shape)
    for step in range(1, shape[1]):
        values[:, step] = (
            correlation * values[:, step - 1] + np.sqrt(1 - correlation**2) * values[:, step]
        )
    values[0] += shift
    return values


def test_independent_chains_are_good():
    found = diagnose_chains(chains(np.random.default_rng(0)))
    assert found.typical_r_hat == pytest.approx(1, abs=0.02)
    assert 500 < found.typical_effective_size < 1200
    assert found.complaint() is None


def test_a_chain_elsewhere_is_found():
    found = diagnose_chains(chains(np.random.default_rng(1), shift=4.0))
    assert found.typical_r_hat > 1.3
    assert "more `burn_in`" in found.complaint()


def test_slow_chains_count_less():
    # For an autoregressive chain the effective share is (1 − ρ) / (1 + ρ).
    found = diagnose_chains(chains(np.random.default_rng(2), correlation=0.9, shape=(4, 2000, 3, 1)))
    assert found.typical_effective_size == pytest.approx(8000 * 0.1 / 1.9, rel=0.3)


def test_one_chain_is_compared_with_itself():
    drifting = np.linspace(0, 3, 100)[None, :, None, None] + chains(
        np.random.default_rng(3), shape=(1, 100, 2, 1)
    )
    assert diagnose_chains(drifting).typical_r_hat > 1.2
