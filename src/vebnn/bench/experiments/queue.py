"""Which methods a comparison runs, in which order and on how many cores."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import product
from typing import Any

from threadpoolctl import threadpool_limits

from vebnn.bench.baselines import require_package
from vebnn.bench.experiments.uci_settings import find_forecaster
from vebnn.bench.methods import ALL
from vebnn.bench.results import Row
from vebnn.core.devices import available_cores
from vebnn.training import TrainingDiverged

_PAPER_ENGINES = ("Ensembles", "MC-Dropout", "BBB", "pSGLD")
# Without bde, which needs an environment of its own, and with one Gaussian process.
_BASELINES = ("NGBoost", "CatBoost", "GP", "Quantile boosting")

GROUPS: dict[str, tuple[str, ...]] = {
    "all": (*ALL, *_BASELINES),
    # The rows of the paper's tables.
    "paper": (
        *("ME (MSE)", "MVE (β-NLL=1.0)", "MVE (Natural)", "Evidential"),
        *(f"{kind} ({name})" for kind in ("MVE", "VeBNN") for name in _PAPER_ENGINES),
    ),
    "baselines": _BASELINES,
    "peers": _BASELINES,  # the former name of the group
}


def method_names(methods: Sequence[str], preset: str) -> list[str]:
    """Return names of methods and members of groups as tables spell them, each once.

    Raises:
      ValueError: if there is no such method or preset.
      ModuleNotFoundError: if a method needs a package that is not installed.
    """
    wanted = [one for name in methods for one in GROUPS.get(name.casefold(), (name,))]
    names = list(dict.fromkeys(find_forecaster(name, preset)[0] for name in wanted))
    for name in names:
        require_package(name)
    return names


def one_core(score: Callable[..., Row]) -> Callable[..., Row]:
    """Run a score on one core, because other workers have the others; a diverged fit is skipped."""

    @wraps(score)
    def run(*arguments: Any, **case: Any) -> Row:
        try:
            with threadpool_limits(1):
                return score(*arguments, **case)
        except TrainingDiverged as diverged:
            return {"skipped": str(diverged)}

    return run


def queue(
    place: str,
    places: Sequence[str],
    methods: Sequence[str],
    repeat: str,
    repeats: Iterable[int],
    jobs: int | None,
) -> list[Row]:
    """Return the cases of all places (data sets or problems), methods and repeats.

    Neighbours in the queue are different programs: workers compile them side by side, and later find
    each other's in the compilation cache. ``place`` and ``repeat`` are the names of the fields.
    """
    programs = list(product(places, methods))
    at_once = jobs or available_cores()
    return [
        {place: where, "method": method, repeat: number}
        for start in range(0, len(programs), at_once)
        for number in repeats
        for where, method in programs[start : start + at_once]
    ]
