"""Bayes by Backprop (Blundell et al. 2015): a Gaussian for every weight, found by gradient descent."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_number, require_whole
from vebnn.core.prng import standard_normal
from vebnn.core.types import AnyDataset, Array, Key, LogLikelihood, Params
from vebnn.inference.engine import Budget, Engine, Posterior, Problem
from vebnn.training import (
    Objective,
    PlannedStage,
    Stage,
    Training,
    all_rows,
    gather,
    planned_training,
    train,
)


class Gaussians(NamedTuple):
    """Independent Gaussians, one per weight."""

    mean: Params
    rho: Params  # std = softplus(rho)

    @property
    def std(self) -> Params:
        """Standard deviation of every weight."""
        return jax.tree.map(jax.nn.softplus, self.rho)

    def draw(self, key: Key) -> Params:
        """Return mean + std · ε with ε ~ N(0, 1)."""
        mean, unravel = ravel_pytree(self.mean)
        std, _ = ravel_pytree(self.std)
        return unravel(mean + std * standard_normal(key, mean.size))


@dataclass(frozen=True)
class BayesByBackprop(Engine):
    """Fit independent Gaussians q to the posterior by maximising the evidence lower bound.

    Blundell et al. 2015, eq. 1, with the weights written as θ = μ + softplus(ρ) ε, ε ~ N(0, 1):

        F(μ, ρ) = KL(q(θ) ‖ p(θ)) − E_q[log p(D | θ)].

    The expectation is estimated with one ε per mini-batch, in weight space; the KL divergence to the
    prior N(0, 1/κ) has a closed form. KL is counted ONCE against the log-likelihood of all the data:
    a mini-batch, one of B, contributes KL − B · (its log-likelihood), as for all engines.

    q is narrower than the posterior wherever weights are correlated: for a Gaussian posterior with
    precision matrix Λ the optimum has the right mean, and variances 1/Λ_ii.

    ``info`` has, per member, the ``kl`` divergence in nats and the median std of a weight.

    Departures from Blundell et al.: the prior is one Gaussian, not a mixture of two, and KL is in
    closed form and spread evenly over the mini-batches (their π_i = 1/B).

    Args:
      num_samples: draws from each member's q.
      num_members: independent fits, each from a warm start; all are one compiled program.
      initial_std: standard deviation of every weight at the start.
      training: epochs, learning rate and batch size; trained on all rows to the last epoch.
    """

    num_samples: int = 100
    num_members: int = 1
    initial_std: float = 0.01
    training: Training = field(default_factory=lambda: Training(num_epochs=10_000, learning_rate=1e-2))

    mean_field = True
    title = "BBB"

    def __post_init__(self) -> None:
        require_whole("num_samples", self.num_samples, 1)
        require_whole("num_members", self.num_members, 1)
        require_number("initial_std", self.initial_std, 0, np.inf)

    @classmethod
    def for_rows(cls, num_rows: int) -> "BayesByBackprop":
        """Return settings that need no tuning."""
        return cls(training=Training.of_steps(10_000, num_rows, learning_rate=3e-3))

    @classmethod
    def for_budget(cls, budget: Budget) -> "BayesByBackprop":
        """Return an engine with the experiment's training of an ELBO."""
        return cls(training=budget.elbo)

    @property
    def num_starts(self) -> int:
        """One warm start per member."""
        return self.num_members

    def plan(self, name: str, *, refit: bool) -> list[PlannedStage]:
        """Return its training."""
        return planned_training(name, self.training, self.num_members, refit=False)

    def run(self, key: Key, problem: Problem, stage: Stage) -> Posterior:
        """Return each member as a chain of ``num_samples`` independent draws."""
        key_train, key_draws = jax.random.split(key)
        rho = np.float32(np.log(np.expm1(self.initial_std)))
        means = problem.warm_starts(self.num_members)
        starts = Gaussians(means, jax.tree.map(lambda leaf: jnp.full_like(leaf, rho), means))
        likelihood, prior = problem.objective.log_likelihood, problem.objective.log_prior
        trained = train(
            key_train,
            Objective(_DrawnLikelihood(likelihood), _NegativeDivergence(prior)),
            starts,
            problem.data,
            all_rows(len(problem.data.x), self.num_members),
            self.training,
            stage=stage,
        )
        keys = jax.random.split(key_draws, (self.num_members, self.num_samples))
        draws, info = gather(_draw(trained.params, prior, keys))
        return Posterior(draws, trained.history[:, :, 0], False, info)


class _DrawnLikelihood(eqx.Module):
    """The log-likelihood of weights drawn from q; of its mean if there is no key to draw with."""

    log_likelihood: LogLikelihood

    def __call__(self, gaussians: Gaussians, batch: AnyDataset, key: Key | None) -> Array:
        if key is None:
            return self.log_likelihood(gaussians.mean, batch, None)
        key_weights, key_network = jax.random.split(key)
        return self.log_likelihood(gaussians.draw(key_weights), batch, key_network)


class _NegativeDivergence(eqx.Module):
    """−KL(q ‖ prior), in the place of a log-prior."""

    prior: Any  # with a closed-form ``expected_log_prob(mean, std)``

    def __call__(self, gaussians: Gaussians) -> Array:
        std, _ = ravel_pytree(gaussians.std)
        entropy = jnp.sum(jnp.log(std)) + 0.5 * std.size * (1 + jnp.log(2 * jnp.pi))
        return self.prior.expected_log_prob(gaussians.mean, gaussians.std) + entropy


@eqx.filter_jit
def _draw(fitted: Gaussians, prior: Any, keys: Key) -> tuple[Params, dict[str, Array]]:
    draws = jax.vmap(lambda one, keys: jax.vmap(one.draw)(keys))(fitted, keys)
    info = {
        "kl": -jax.vmap(_NegativeDivergence(prior))(fitted),
        "median_weight_std": jax.vmap(lambda one: jnp.median(ravel_pytree(one.std)[0]))(fitted),
    }
    return draws, info
