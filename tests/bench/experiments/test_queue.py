"""The order of a comparison, and fits that fail."""

from itertools import pairwise

import pytest
from threadpoolctl import threadpool_info

from vebnn.bench.experiments.queue import GROUPS, method_names, one_core, queue
from vebnn.bench.results import Row
from vebnn.training import TrainingDiverged


def test_every_case_once_and_neighbours_are_different_programs() -> None:
    cases = queue("problem", ["a", "b"], ["GP", "bde"], "seed", range(3), jobs=2)
    assert len({tuple(case.values()) for case in cases}) == len(cases) == 12
    assert list(cases[0]) == ["problem", "method", "seed"]
    programs = [(case["problem"], case["method"]) for case in cases]
    assert all(one != following for one, following in pairwise(programs))


def test_a_diverged_fit_is_skipped_and_its_row_gives_the_reason() -> None:
    @one_core
    def score(preset: str, seed: int) -> Row:
        if seed:
            raise TrainingDiverged("Too large a step.")
        return {"threads": max((pool["num_threads"] for pool in threadpool_info()), default=1)}

    assert score("standard", seed=1) == {"skipped": "Too large a step."}
    assert score("standard", seed=0) == {"threads": 1}


def test_groups_have_no_method_that_needs_another_environment() -> None:
    assert not any("bde" in members for members in GROUPS.values())
    assert method_names(["baselines", "gp"], "standard") == list(GROUPS["baselines"])
    with pytest.raises(ValueError, match="There is no method 'GPs'"):
        method_names(["GPs"], "standard")
