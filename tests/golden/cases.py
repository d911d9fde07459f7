"""The fits: every strategy with every engine, and every way to call them that has its own code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np

from vebnn import (
    GRU,
    MAP,
    MCLMC,
    MLP,
    NUTS,
    PSGLD,
    SGHMC,
    SGLD,
    BayesByBackprop,
    Ensemble,
    JointRegressor,
    Laplace,
    MCDropout,
    MixtureRegressor,
    Training,
    VeBNNRegressor,
)
from vebnn.presets import paper

SHORT = Training(num_epochs=12, batch_size=16, patience=6, learning_rate=1e-2)
_CHAINS: dict[str, Any] = {"num_samples": 4, "burn_in": 3, "thinning": 2, "num_chains": 3}
_BATCHES = _CHAINS | {"batch_size": 16}
SMALL: dict[str, Any] = {
    "map": MAP(SHORT),
    "ensemble": Ensemble(3, SHORT),
    "mc_dropout": MCDropout(5, SHORT),
    "bbb": BayesByBackprop(4, 2, training=SHORT),
    "sgld": SGLD(**_BATCHES, pilot=20),
    "psgld": PSGLD(**_BATCHES),
    "sghmc": SGHMC(**_BATCHES, pilot=20),
    "nuts": NUTS(**(_CHAINS | {"burn_in": 30, "max_tree_depth": 4})),
    "mclmc": MCLMC(**(_CHAINS | {"burn_in": 30})),
    "laplace": Laplace(5, training=SHORT),
}


@dataclass(frozen=True)
class Case:
    """One fit: an estimator, its data, and what else ``fit`` is given."""

    make: Callable[[], Any]
    data: Callable[[], dict[str, np.ndarray]]
    arguments: dict[str, Any] = field(default_factory=dict)
    again: Callable[[], dict[str, Any]] = dict  # what ``load`` must be given again


def table(outputs: int = 1, *, errors: bool = False, held_out: bool = False, weights: bool = False):
    def make() -> dict[str, np.ndarray]:
        rng = np.random.default_rng(7)
        X = rng.standard_normal((45, 3))
        y = 7 + 3 * np.sin(X @ rng.standard_normal((3, outputs)))
        y = y + 0.3 * rng.standard_normal((45, outputs)) * (1 + np.abs(X[:, :1]))
        y = y[:, 0] if outputs == 1 else y
        given = {"X": X, "y": y}
        if errors:
            given["y_std"] = np.full(45, 0.2) + 0.1 * (X[:, 0] > 0)
        if weights:
            given["sample_weight"] = (np.arange(45) % 4).astype(float)
        if held_out:
            given = {name: value[:35] for name, value in given.items()}
            given |= {"X_val": X[35:], "y_val": y[35:]}
        return given

    return make


def many_rows() -> dict[str, np.ndarray]:
    """Enough rows that fold networks stop the variance network."""
    rng = np.random.default_rng(9)
    X = rng.uniform(-2, 2, (230, 1))
    return {"X": X, "y": np.sin(2 * X[:, 0]) + rng.standard_normal(230) * (0.1 + 0.1 * X[:, 0] ** 2)}


def sequences() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(8)
    X = rng.standard_normal((14, 6, 2))
    y = np.cumsum(X, axis=1) + 0.2 * rng.standard_normal((14, 6, 2))
    y[3, 4:], X[3, 4:] = np.nan, np.nan
    y[5, 2:], X[5, 2:] = np.nan, np.nan
    return {"X": X, "y": y}


def branches() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (60, 1))
    y = np.where(rng.random(60) < 0.5, 1, -1) * (2 + X[:, 0]) + 0.1 * rng.standard_normal(60)
    return {"X": X, "y": y}


def _network(engine: str) -> MLP:
    return MLP((30,), "tanh", dropout_rate=0.3) if engine == "mc_dropout" else MLP((4,), "tanh")


def _common(engine: str, **own: Any) -> dict[str, Any]:
    """Return what the fits of VeBNN and of the mixture share."""
    networks = {"network": _network(engine), "variance_network": MLP((3,), "tanh")}
    trainings = {"mean_training": SHORT, "variance_training": SHORT}
    return {**networks, **trainings, "inference": SMALL[engine], "random_state": 0, **own}


def vebnn(engine: str = "psgld", **changes: Any) -> Callable[[], VeBNNRegressor]:
    settings = _common(engine, num_folds=3)
    return lambda: VeBNNRegressor(**(settings | changes))


def joint(engine: str | None = "ensemble", **changes: Any) -> Callable[[], JointRegressor]:
    inference = None if engine is None else SMALL[engine]
    settings = {"network": _network(engine or ""), "training": SHORT, "random_state": 0}
    return lambda: JointRegressor(**(settings | {"inference": inference} | changes))


def mixture(engine: str = "psgld", **changes: Any) -> Callable[[], MixtureRegressor]:
    settings = _common(engine, num_folds=2, num_starts=2, em_steps=2)
    return lambda: MixtureRegressor(**(settings | changes))


def _equinox() -> Any:
    return eqx.nn.MLP(3, 1, 5, 1, key=jax.random.key(3))


def _pair() -> Any:
    def init(key: Any, x: Any) -> Any:
        return {"w": jax.random.normal(key, (1, x.size)), "b": jax.numpy.zeros(1)}

    def apply(params: Any, x: Any) -> Any:
        return params["w"] @ x + params["b"]

    return init, apply


_OF_THE_CASE = ("network", "variance_network", "inference", "mean_training", "variance_training")
PAPER: dict[str, Any] = {
    name: value for name, value in paper("uci").items() if name not in _OF_THE_CASE
} | {"learning_rates": (1e-3, 1e-2), "validation_fraction": 0.2}
GRUS: dict[str, Any] = {"network": GRU((5, 4))}
GRU_PAIR: dict[str, Any] = GRUS | {"variance_network": GRU((3,))}


def _every_pair() -> dict[str, Case]:
    cases = {}
    for turn, engine in enumerate(SMALL):
        one, other = (1, 3) if turn % 2 else (3, 1)
        cases[f"cooperative {engine}"] = Case(vebnn(engine), table(one))
        cases[f"joint {engine}"] = Case(joint(engine), table(other))
        cases[f"mixture {engine}"] = Case(mixture(engine), branches)
    return cases


CASES: dict[str, Case] = _every_pair() | {
    "cooperative, many rows": Case(vebnn(), many_rows),
    "cooperative, paper's settings": Case(vebnn(**PAPER), table(3)),
    "cooperative, posterior residuals": Case(vebnn(residuals="posterior", rounds=3), table()),
    "cooperative, two rounds": Case(vebnn(rounds=2, choose_round="last"), table()),
    "cooperative, mean iterated": Case(vebnn(rounds=2, iterate="mean"), table()),
    "cooperative, nll": Case(vebnn(variance_loss="nll"), table()),
    "cooperative, beta_nll": Case(vebnn(variance_loss="beta_nll"), table(3)),
    "cooperative, natural": Case(vebnn(variance_loss="natural"), table()),
    "cooperative, known errors": Case(vebnn(), table(errors=True)),
    "cooperative, weights": Case(vebnn(), table(weights=True)),
    "cooperative, held out": Case(vebnn(), table(3, held_out=True)),
    "cooperative, held out, ensemble": Case(vebnn("ensemble"), table(held_out=True)),
    "cooperative, common": Case(vebnn(), table(3, held_out=True), {"calibrate": "common"}),
    "cooperative, separate": Case(vebnn(), table(held_out=True), {"calibrate": "separate"}),
    "cooperative, conformal": Case(vebnn(), table(held_out=True), {"calibrate": "conformal"}),
    "cooperative, sequences": Case(vebnn(**GRU_PAIR), sequences),
    "cooperative, sequences, posterior": Case(
        vebnn(**GRU_PAIR, residuals="posterior", rounds=2), sequences
    ),
    "cooperative, Equinox": Case(
        lambda: vebnn(network=_equinox())(), table(), again=lambda: {"network": _equinox()}
    ),
    "cooperative, pair": Case(
        lambda: vebnn(network=_pair())(), table(), again=lambda: {"network": _pair()}
    ),
    "joint, one network": Case(joint(None), table()),
    "joint, mse": Case(joint(loss="mse"), table(3)),
    "joint, known constant noise": Case(joint("psgld", loss="mse", noise_std=0.4), table()),
    "joint, beta": Case(joint(loss="beta_nll", beta=None, learning_rates=(1e-3, 1e-2)), table()),
    "joint, natural": Case(joint("psgld", loss="natural"), table(3)),
    "joint, evidential": Case(joint(loss="evidential"), table()),
    "joint, constant": Case(joint("psgld", variance_head="constant"), table(3)),
    "joint, separate networks": Case(
        joint("bbb", variance_head="separate", variance_network=MLP((3,))), table()
    ),
    "joint, known errors": Case(joint(), table(errors=True)),
    "joint, common": Case(joint(), table(held_out=True), {"calibrate": "common"}),
    "joint, sequences": Case(joint(**GRUS), sequences),
    "mixture, three outputs": Case(mixture(num_modes=3), table(3)),
    "mixture, rounds": Case(mixture(rounds=2, residuals="in_sample"), branches),
    "mixture, held out": Case(mixture(rounds=2), table(held_out=True)),
    "mixture, sequences": Case(mixture(**GRU_PAIR), sequences),
}
# What `make test` repeats: one of each strategy, and those with the most code of their own.
CHEAP = (
    "cooperative psgld",
    "cooperative, many rows",
    "cooperative, paper's settings",
    "joint ensemble",
    "mixture psgld",
    "cooperative, sequences",
)
