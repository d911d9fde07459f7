"""The paper's names: ``"VeBNN (pSGLD)"`` is one specification, for tables, command line and docs.

A method of this library is a strategy (joint or cooperative) and an inference engine. Methods of other
libraries are in :mod:`vebnn.bench.baselines`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from vebnn.estimators import JointRegressor, Regressor, VeBNNRegressor
from vebnn.estimators.joint import BETAS
from vebnn.inference import ENGINES
from vebnn.prediction.targets import TARGETS


@dataclass(frozen=True)
class Method:
    """A method of this library."""

    name: str  # as in the paper's tables
    strategy: Literal["joint", "cooperative"]
    engine: str | None  # the paper's name of the inference engine; ``None`` is a single network
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the estimator

    def make(self, **more: Any) -> Regressor:
        """Return the estimator, not fitted; ``more`` arguments override those of the method."""
        estimator = JointRegressor if self.strategy == "joint" else VeBNNRegressor
        return estimator(**{**self.arguments, **more})


# Names of engines in tables → names in code.
ENGINE_NAMES = {engine.title: name for name, engine in ENGINES.items()}


def _joint(name: str, engine: str | None = None, **arguments: Any) -> Method:
    inference = {} if engine is None else {"inference": ENGINE_NAMES[engine]}
    return Method(name, "joint", engine, MappingProxyType(arguments | inference))


def _all() -> list[Method]:
    single = [
        _joint("ME (MSE)", loss="mse"),
        _joint("MVE (NLL)", loss="nll"),
        _joint("MVE (β-NLL)", loss="beta_nll", beta=None),
        *(_joint(f"MVE (β-NLL={beta})", loss="beta_nll", beta=beta) for beta in BETAS),
        _joint("MVE (Natural)", loss="natural"),
        _joint("Evidential", loss="evidential"),
        _joint("BNN-Homo (pSGLD)", "pSGLD", variance_head="constant"),
    ]
    joint = [_joint(f"MVE ({name})", name) for name in ENGINE_NAMES]
    papers = ("Ensembles", "MC-Dropout")
    # Of the image tables, where it is called MVE (Ensembles).
    beta = [_joint("MVE (β-NLL=0.5 / Ensembles)", "Ensembles", loss="beta_nll", beta=0.5)]
    natural = [_joint(f"MVE (Natural / {name})", name, loss="natural") for name in papers]
    cooperative = [
        Method(f"VeBNN ({name})", "cooperative", name, MappingProxyType({"inference": engine}))
        for name, engine in ENGINE_NAMES.items()
    ]
    return single + joint + beta + natural + cooperative


METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _all()})

# The group "all" leaves out the methods with a fixed β.
ALL = tuple(name for name in METHODS if "=" not in name)


def find_method(name: str) -> Method:
    """Return a method by name; case and spaces are ignored, and "beta" may stand for "β".

    Raises:
      ValueError: if no method has this name.
    """
    by_plain_name = {_plain(known): method for known, method in METHODS.items()}
    if _plain(name) not in by_plain_name:
        raise ValueError(f"There is no method {name!r}. The names are: {', '.join(METHODS)}.")
    return by_plain_name[_plain(name)]


def split_kind(name: str) -> tuple[str, str | None]:
    """Return a method's name without its kind of target, and the kind: ``"CatBoost / positive"``."""
    plain, _, kind = name.rpartition("/")
    known = kind.strip().casefold()
    return (plain.strip(), known) if plain and known in TARGETS else (name, None)


def _plain(name: str) -> str:
    return "".join(name.casefold().replace("β", "beta").split())
