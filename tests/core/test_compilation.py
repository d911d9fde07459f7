"""Compiled programs make way before a process has too many."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.settings import quick
from vebnn.core import compilation

maps = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux counts maps")


def num_maps() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that allows hardly more maps than there are."""
    limit = tmp_path / "limit"
    limit.write_text(f"{num_maps()}\n")
    monkeypatch.setattr(compilation, "_LIMIT", limit)


@maps
@pytest.mark.usefixtures("crowded")
def test_programs_are_forgotten_and_their_maps_given_back() -> None:
    add_one = jax.jit(lambda x: x + 1)
    for size in range(40, 60):
        add_one(jnp.ones(size))
    before = num_maps()
    assert compilation.evict_compiled_programs()
    assert num_maps() < before - 40
    assert add_one(jnp.ones(40))[0] == 2


def test_programs_stay_while_there_is_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit = tmp_path / "limit"
    limit.write_text("1000000000\n")
    monkeypatch.setattr(compilation, "_LIMIT", limit)
    assert not compilation.evict_compiled_programs()


def test_other_systems_have_no_such_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compilation, "_LIMIT", tmp_path / "nothing")
    assert not compilation.evict_compiled_programs()


@maps
@pytest.mark.usefixtures("crowded", "quick_compilation")
def test_a_fit_looks_after_it(sine, monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = []
    clear = jax.clear_caches
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(clear()))
    X, y = sine
    model = quick().fit(X, y)
    assert len(cleared) == 1
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.usefixtures("quick_compilation")
def test_a_fit_on_a_few_more_rows_finds_its_programs(
    rng: np.random.Generator, compiled: list[str]
) -> None:
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    quick().fit(X[:297], y[:297]).predict(X[:100])
    assert compiled
    compiled.clear()
    quick().fit(X[:300], y[:300]).predict(X[:90])
    assert not compiled
