"""Linearised Laplace approximation (Immer et al. 2021): a Gaussian around one trained network."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.core.types import Array, Key
from vebnn.inference.engine import PointEngine, Posterior, Problem
from vebnn.inference.evaluation import Shared
from vebnn.inference.gauss_newton import GaussNewton
from vebnn.networks import Network
from vebnn.networks.gru import RecurrentNetwork
from vebnn.networks.mlp import Perceptron
from vebnn.training import PlannedStage, Stage, Training, planned_training

FULL = 5_000  # parameters; up to here, all of them by default
MOST = 10_000  # parameters; their matrix takes 0.8 GB, and its eigenvalues minutes

# The parameters of the last layer of the networks that recipes build.
LAST_LAYERS: dict[type, Callable[[Any], tuple]] = {
    Perceptron: lambda module: (module.weights[-1], module.biases[-1]),
    RecurrentNetwork: lambda module: (module.output_weight, module.output_bias),
}


class Linearised(eqx.Module):
    """A network, linear in the change of some of its parameters: f(x; θ) + J(x) δ."""

    network: Network
    change: list[Array]  # δ
    places: tuple[int, ...] = eqx.field(static=True)  # of these parameters among all leaves

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to its outputs."""
        tangent = self._replaced(jax.tree.map(jnp.zeros_like, self.network), self.change)
        value, slope = jax.jvp(lambda network: network(x, key=key), (self.network,), (tangent,))
        return value + slope

    def values(self) -> Array:
        """Return the parameters that may change, as one flat vector."""
        return ravel_pytree([jax.tree.leaves(self.network)[place] for place in self.places])[0]

    def unravel(self, values: Array) -> list[Array]:
        """Return a flat vector in the shapes of these parameters."""
        return ravel_pytree([jnp.zeros(np.shape(part)) for part in self.change])[1](values)

    def outputs(self, values: Array, x: Array) -> Array:
        """Map one example to the outputs of the network itself, with other values of the parameters."""
        return self._replaced(self.network, self.unravel(values))(x)

    def _replaced(self, network: Network, parts: list[Array]) -> Network:
        leaves, structure = jax.tree.flatten(network)
        for place, part in zip(self.places, parts, strict=True):
            leaves[place] = part
        return jax.tree.unflatten(structure, leaves)


@dataclass(frozen=True)
class Laplace(PointEngine):
    """Train one network, and take the curvature there for a Gaussian over its parameters.

    With θ the trained network, J(x) the Jacobian of its outputs and G the generalised Gauss-Newton
    matrix (``inference/gauss_newton.py``), draws are functions that are linear in δ,

        f(x) = f(x; θ) + J(x) δ,   δ ~ N(0, (G + κ)⁻¹),

    the posterior of that linear model (Immer et al. 2021). The precision κ of the prior maximises
    Laplace's approximation of the marginal likelihood at θ, in closed form in the eigenvalues of G.

    Training starts from the warm start; it is stopped at its best epoch on the validation rows, then
    repeated on all rows for that many epochs.

    ``info`` has the ``best_epoch``, the ``prior_precision`` κ, the number of ``effective_parameters``
    γ = Σ λ/(λ + κ) and the ``log_marginal_likelihood``.

    Departures: where the noise is learned too, as in joint methods, the Hessian in the outputs is
    stripped of its negative eigenvalues.

    Args:
      num_samples: draws.
      subset: ``"all"`` parameters, or those of the ``"last_layer"`` of an ``MLP`` or ``GRU``, with
        the others fixed; ``None`` takes all of networks with up to 5,000 parameters.
      prior_precision: κ; ``None`` maximises the marginal likelihood.
      training: epochs, learning rate, batch size and patience.
    """

    num_samples: int = 100
    subset: str | None = None
    prior_precision: float | None = None
    training: Training = field(default_factory=lambda: Training(num_epochs=5_000, patience=300))

    needs_likelihood = True

    def __post_init__(self) -> None:
        require_whole("num_samples", self.num_samples, 1)
        if self.subset is not None:
            require_one_of("subset", self.subset, ("all", "last_layer"))
        if self.prior_precision is not None:
            require_number("prior_precision", self.prior_precision, 0, np.inf)

    @classmethod
    def for_rows(cls, num_rows: int) -> "Laplace":
        """Return settings that need no tuning."""
        return cls(training=Training.of_steps(6_000, num_rows, patience=1_000))

    def check(self, network: Network, x: Array) -> None:
        """Refuse a network without a known last layer, or with too many parameters for their matrix.

        Raises:
          ValueError: saying which.
        """
        num_parameters = self._linearised(network).values().size
        if num_parameters > MOST:
            raise ValueError(
                f"Laplace decomposes a matrix with a row per parameter, at most {MOST:,} of them. Got "
                f"{num_parameters:,}; use a smaller network, Laplace(subset='last_layer') or "
                f"`inference='ensemble'`."
            )

    def posterior_like(self, network: Network) -> Linearised:
        """Return one draw, whose trained network is that of all draws."""
        linear = self._linearised(network)
        return eqx.tree_at(lambda one: one.network, linear, Shared(network))

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return its training."""
        return planned_training(name, self.training, refit=refit)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return one chain of ``num_samples`` linear networks, which share the trained one."""
        key_search, key_refit, key_draws = jax.random.split(key, 3)
        keys, starts = (key_search, key_refit), problem.warm_starts(1)
        trained, best_epoch = problem.train_to_best_epoch(*keys, starts, self.training, stage)
        network = jax.tree.map(lambda leaf: leaf[0], trained.params)
        linear = self._linearised(network)
        log_likelihood, values = problem.objective.log_likelihood, np.asarray(linear.values())
        curvature = GaussNewton.of_rows(log_likelihood, linear, problem.data)
        precision = self.prior_precision or curvature.best_precision(values)
        draws = curvature.draw(key_draws, self.num_samples, precision)
        fit = float(log_likelihood(network, problem.data, None))
        info = {
            "best_epoch": best_epoch,
            "prior_precision": np.array([precision]),
            "effective_parameters": np.array([curvature.effective_parameters(precision)]),
            "log_marginal_likelihood": np.array([fit + curvature.log_evidence(values, precision)]),
        }
        change = jax.device_get(jax.vmap(jax.vmap(linear.unravel))(draws[None]))
        stacked = eqx.tree_at(lambda one: one.change, self.posterior_like(network), change)
        return Posterior(stacked, trained.history[:, :, 0], False, info)

    def _linearised(self, network: Network) -> Linearised:
        """Return the network with no change of the chosen parameters."""
        leaves, places = jax.tree.leaves(network), self._places(network)
        return Linearised(network, [np.zeros_like(leaves[place]) for place in places], places)

    def _places(self, network: Network) -> tuple[int, ...]:
        """Return which leaves of the network are the chosen parameters."""
        leaves, structure = jax.tree.flatten(network)
        every = tuple(range(len(leaves)))
        subset = self.subset or ("all" if sum(map(np.size, leaves)) <= FULL else "last_layer")
        if subset == "all":
            return every
        module = jax.tree.unflatten(structure, every).weights
        if type(module) not in LAST_LAYERS:
            raise ValueError(
                "Laplace knows the last layer of MLP and GRU networks alone. Use one of these, or "
                f"Laplace(subset='all') with at most {MOST:,} parameters."
            )
        return LAST_LAYERS[type(module)](module)
