"""Algorithm 1 of the VeBNN paper (Yi and Bessa, ICML 2026), from scratch in JAX and Optax.

``python examples/algorithm1.py`` fits 200 noisy points of x · sin x and prints a table.

Read ``algorithm_1`` first: mean network, then rounds of variance network and Bayesian network. Equation
numbers are those of the paper. For brevity there are one input, one output, one chain, a constant step
size, and fixed numbers of epochs in place of early stopping. The library has the rest.
"""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jax.scipy.special import gammaln, logsumexp
from jax.scipy.stats import norm

ROWS, BATCH, ROUNDS = 200, 50, 3  # N, M and K
MEAN_WIDTHS, MEAN_EPOCHS, MEAN_RATE, WEIGHT_DECAY = (1, 50, 50, 1), 2_000, 1e-3, 1e-6
VARIANCE_WIDTHS, VARIANCE_EPOCHS, VARIANCE_RATE = (1, 5, 2), 1_000, 1e-2
DRAWS, BURN_IN, THINNING, STEP_SIZE = 100, 1_000, 20, 2e-3  # burn-in and thinning in epochs


def init(key, widths):
    """Return layers of weights, with the bias as last column, uniform in ±1/√fan_in."""
    shapes = zip(jax.random.split(key, len(widths) - 1), widths[1:], widths[:-1], strict=True)
    return [jax.random.uniform(k, (m, n + 1), minval=-1.0) / jnp.sqrt(n) for k, m, n in shapes]


def network(layers, x):
    """Apply a tanh network to every x; the result is (outputs, rows)."""
    h = x[None, :]
    for depth, layer in enumerate(layers):
        h = layer[:, :-1] @ (jnp.tanh(h) if depth else h) + layer[:, -1:]
    return h


def mean(theta, x):
    """Return μ(x; θ)."""
    return network(theta, x)[0]


def shape_and_rate(phi, x):
    """Return α(x; φ) and λ(x; φ); the aleatoric variance is α/λ (eq. 8)."""
    return jax.nn.softplus(network(phi, x)) + 1e-6


def half_norm(layers):
    """Return ½‖weights‖²: minus the logarithm of a N(0, 1) prior, up to a constant."""
    return sum(jnp.sum(layer**2) for layer in layers) / 2


def mean_loss(theta, x, y):
    """Step 1: squared error and L2 penalty, which is eq. 2 with constant variance."""
    return jnp.mean((y - mean(theta, x)) ** 2) + WEIGHT_DECAY * half_norm(theta)


def variance_loss(phi, x, r):
    """Step 2: Gamma NLL of squared residuals r (eq. 6), and a N(0, 1) prior on φ."""
    alpha, rate = shape_and_rate(phi, x)
    nll = gammaln(alpha) - alpha * jnp.log(rate) - (alpha - 1) * jnp.log(r + 1e-12) + rate * r
    return ROWS / len(x) * jnp.sum(nll) + half_norm(phi)  # M rows stand for N


def negative_log_posterior(theta, x, y, variance):
    """Step 3: minus eq. 10, a Gaussian likelihood with fixed variance and a N(0, 1) prior on θ."""
    log_likelihood = jnp.sum(norm.logpdf(y, mean(theta, x), jnp.sqrt(variance)))
    return -ROWS / len(x) * log_likelihood + half_norm(theta)


def batches(key, epochs):
    """Return the row numbers of mini-batches, (epochs · N/M, M); every epoch is shuffled."""
    keys = jax.random.split(key, epochs)
    return jax.vmap(lambda k: jax.random.permutation(k, ROWS))(keys).reshape(-1, BATCH)


@partial(jax.jit, static_argnames=("loss", "epochs", "learning_rate"))
def minimise(key, loss, start, data, epochs, learning_rate):
    """Return the weights after training with Adam."""
    adam = optax.adam(learning_rate)

    def step(state, rows):
        weights, moments = state
        update, moments = adam.update(jax.grad(loss)(weights, *data[:, rows]), moments)
        return (optax.apply_updates(weights, update), moments), None

    return jax.lax.scan(step, (start, adam.init(start)), batches(key, epochs))[0][0]


@jax.jit
def sample(key, start, data):
    """Return posterior draws by pSGLD (eq. 41 without its term χ)."""
    key_burn_in, key_draws, key_noise = jax.random.split(key, 3)
    start, unravel = ravel_pytree(start)
    gradient = jax.grad(lambda theta, rows: negative_log_posterior(unravel(theta), *data[:, rows]))

    def step(state, rows):
        theta, v, key = state
        key, key_noise = jax.random.split(key)
        g = gradient(theta, rows)
        v = 0.99 * v + 0.01 * g**2
        G = 1 / jnp.sqrt(v + 1e-5)  # the preconditioner
        noise = jnp.sqrt(STEP_SIZE * G) * jax.random.normal(key_noise, theta.shape)
        return (theta - STEP_SIZE / 2 * G * g + noise, v, key), None

    def draw(state, rows):
        state, _ = jax.lax.scan(step, state, rows)
        return state, unravel(state[0])

    state, _ = draw((start, jnp.zeros_like(start), key_noise), batches(key_burn_in, BURN_IN))
    return jax.lax.scan(draw, state, batches(key_draws, DRAWS * THINNING).reshape(DRAWS, -1, BATCH))[1]


def algorithm_1(key, x, y):
    """Return the variance network and the draws of the Bayesian network, for standardised x and y."""
    key_init, key_mean, *keys = jax.random.split(key, 2 + ROUNDS)
    # Step 1: train the mean network.
    start = init(key_init, MEAN_WIDTHS)
    theta = minimise(key_mean, mean_loss, start, jnp.stack([x, y]), MEAN_EPOCHS, MEAN_RATE)
    current_mean, rounds = mean(theta, x), []
    for key_round in keys:
        key_init, key_variance, key_sample = jax.random.split(key_round, 3)
        # Step 2: train a new variance network, with the mean fixed.
        start, data = init(key_init, VARIANCE_WIDTHS), jnp.stack([x, (y - current_mean) ** 2])
        phi = minimise(key_variance, variance_loss, start, data, VARIANCE_EPOCHS, VARIANCE_RATE)
        variance = jnp.divide(*shape_and_rate(phi, x))
        # Step 3: sample the Bayesian network, with the noise fixed, from the weights of Step 1.
        draws = sample(key_sample, theta, jnp.stack([x, y, variance]))
        means = jax.vmap(mean, (0, None))(draws, x)  # (draws, rows)
        current_mean = means.mean(0)
        # LMglk, the log of the mean over draws of p(y | θ, φ), chooses the round.
        log_likelihoods = norm.logpdf(y[None], means, jnp.sqrt(variance)[None]).sum(1)
        rounds.append((logsumexp(log_likelihoods) - jnp.log(DRAWS), phi, draws))
    _, phi, draws = max(rounds[1:], key=lambda one: one[0])  # arg max over i > 1
    return phi, draws


def fit_predict(key, x, y, x_new):
    """Return mean, aleatoric std and epistemic std at new x (eq. 11), in the units of y."""
    phi, draws = algorithm_1(key, (x - x.mean()) / x.std(), (y - y.mean()) / y.std())
    x_new = (x_new - x.mean()) / x.std()
    means = jax.vmap(mean, (0, None))(draws, x_new)  # (draws, rows)
    aleatoric_variance = jnp.divide(*shape_and_rate(phi, x_new))
    stds = jnp.sqrt(aleatoric_variance), means.std(0)
    return y.mean() + y.std() * means.mean(0), *(y.std() * std for std in stds)


def true_noise_std(x):
    """Return the std of 0.3 x ε₁ + 0.3 ε₂ (eq. 52)."""
    return 0.3 * jnp.sqrt(1 + x**2)


def toy_data(key):
    """Draw x between 0 and 10, and y = x · sin x + noise."""
    key_x, key_noise = jax.random.split(key)
    x = jax.random.uniform(key_x, (ROWS,), maxval=10.0)
    return x, x * jnp.sin(x) + true_noise_std(x) * jax.random.normal(key_noise, (ROWS,))


if __name__ == "__main__":
    key_data, key_fit = jax.random.split(jax.random.key(0))
    x = jnp.arange(-2.0, 13.0)
    mu, aleatoric_std, epistemic_std = fit_predict(key_fit, *toy_data(key_data), x)
    print("    x   mean: true   predicted   noise std: true   predicted   epistemic std")
    for row in zip(x, x * jnp.sin(x), mu, true_noise_std(x), aleatoric_std, epistemic_std, strict=True):
        print("{:5.1f}{:13.2f}{:12.2f}{:18.2f}{:12.2f}{:16.2f}".format(*row))
