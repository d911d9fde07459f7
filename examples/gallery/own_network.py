# %% [markdown]
# # Your own network, your own engine
#
# You know something about your data that a standard network does not: here, that a signal repeats
# itself every second. And you know a sampler that the library does not have. Both are a few lines,
# and the separation of noise and ignorance comes with them.

# %%
import numpy as np

rng = np.random.default_rng(0)
x = np.concatenate([rng.uniform(0, 2, 90), rng.uniform(3, 4, 45)])  # nothing between 2 and 3
y = np.sin(2 * np.pi * x) + 0.3 * np.cos(4 * np.pi * x) + (0.1 + 0.08 * x) * rng.normal(size=135)
X = x[:, None]

# %% [markdown]
# ## A standard network
#
# It does not know of the period. In the gap and beyond the data, it says so.

# %%
import matplotlib.pyplot as plt

from vebnn import VeBNNRegressor
from vebnn.plots import plot_prediction

standard = VeBNNRegressor(random_state=0).fit(X, y)

# %% [markdown]
# ## A network that knows the period
#
# Any Equinox module works; so do Flax modules and pairs of functions. It maps *one* row to its
# outputs, and its inputs are standardised, so the period is divided by the std of `x`.

# %%
import equinox as eqx
import jax
import jax.numpy as jnp


class Periodic(eqx.Module):
    layers: eqx.nn.MLP
    period: float = eqx.field(static=True)

    def __init__(self, period, *, key):
        self.layers = eqx.nn.MLP(2, 1, width_size=32, depth=2, activation=jnp.tanh, key=key)
        self.period = period

    def __call__(self, x):
        phase = 2 * jnp.pi * x / self.period
        return self.layers(jnp.concatenate([jnp.sin(phase), jnp.cos(phase)]))


network = Periodic(float(1 / x.std()), key=jax.random.key(0))
periodic = VeBNNRegressor(network, random_state=0).fit(X, y)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
for axes, model, words in ((left, standard, "standard network"), (right, periodic, "knows the period")):
    plot_prediction(model, X, y, margin=0.3, ax=axes)
    axes.set(title=words, ylim=(-3, 3))
_ = right.get_legend().remove()

# %% [markdown]
# What a network can express is what it can be ignorant of. The periodic network is sure in the gap,
# because every other second shows what happens there. That is right *if* the period is right: the
# error bar knows nothing of a wrong assumption.
#
# ## An engine of your own
#
# An engine explores the posterior of the network; the noise is already a part of its likelihood. For
# a stochastic gradient sampler, one update is all there is to write: chains, warm starts, progress,
# checkpoints and diagnostics come with `ChainSampler`. Here is Langevin dynamics, which the library
# also has, under the name `"sgld"`, with a search for the step size.

# %%
from dataclasses import dataclass
from typing import NamedTuple

from vebnn.core.prng import standard_normal
from vebnn.inference.sampling import ChainSampler


class State(NamedTuple):
    position: jax.Array  # all weights, as one vector


@dataclass(frozen=True)
class Langevin(ChainSampler):
    """Gradient descent with the noise that makes it sample the posterior."""

    burn_in: int = 4_000
    thinning: int = 40
    num_samples: int = 50
    num_chains: int = 4
    step_size: float = 1e-4

    def init(self, position):
        return State(position)

    def step(self, key, state, gradient, step_size):
        noise = jnp.sqrt(self.temperature * step_size) * standard_normal(key, gradient.size)
        return State(state.position - 0.5 * step_size * gradient + noise)


own = VeBNNRegressor(network, inference=Langevin(), random_state=0).fit(X, y)
print("R-hat of the predictions:", round(float(own.diagnostics_.typical_r_hat), 2))

# %%
grid = np.linspace(-1, 5, 200)[:, None]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for model, words in ((standard, "standard"), (periodic, "periodic"), (own, "periodic, own engine")):
    axes.plot(grid, model.predict_distribution(grid).epistemic_std, label=words)
axes.plot(x, np.zeros_like(x), "|", color="#8C8C8C", label="data")
axes.set(xlabel="x", ylabel="epistemic std", ylim=(-0.05, None))
_ = axes.legend(frameon=False)

# %% [markdown]
# With the period, both engines find little ignorance everywhere: the network decides more than the
# engine.
#
# More in [a network of your own](../tutorials/custom-network.md), [which engine when](../engines.md),
# and the guide for contributors, which adds an engine by name.
