# %% [markdown]
# # Active learning: measure where you learn most
#
# Every measurement costs a day. Which conditions should you measure? Where the model is *ignorant*, not
# where the data are *noisy*: a noisy place stays noisy however often you measure it. This is what the
# separation of the two uncertainties is for.
#
# The true curve is `x sin x`, and the noise grows with `x`. The model knows neither; we do, so we can
# score. You have eight measurements.

# %%
import numpy as np

from vebnn.datasets.toy import load_toy, observe, true_mean

X_start, y_start = load_toy(8)
pool = np.linspace(0, 10, 201)[:, None]  # what could be measured

# %% [markdown]
# ## Ask the model
#
# `suggest` returns the rows of the pool about which the model knows least. The four of a batch are
# diverse: each is chosen as if those before it had been measured.

# %%
import matplotlib.pyplot as plt

from vebnn import VeBNNRegressor
from vebnn.acquisition import suggest
from vebnn.plots import plot_prediction

first = VeBNNRegressor(random_state=0).fit(X_start, y_start)
rows, scores = suggest(first, pool, n=4)

figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
plot_prediction(first, X_start, y_start, ax=axes)
axes.plot(pool[rows, 0], np.full(4, -14), "^", color="#D55E00", label="measure here")
axes.set_ylim(-15, 15)
_ = axes.legend(frameon=False, fontsize=8, ncols=2)

# %% [markdown]
# ## Three rounds
#
# Measure four, fit again, ask again; three times. For comparison, choose by the *total* uncertainty,
# which counts the noise, and at random.

# %%
from vebnn.acquisition import choose_batch


def by_ignorance(model, rng):
    return suggest(model, pool, n=4).rows


def by_total(model, rng):
    return choose_batch(model.predict_distribution(pool), 4, lambda p: p.variance).rows


def at_random(model, rng):
    return rng.choice(len(pool), 4, replace=False)


def error(model):
    return np.sqrt(np.mean((model.predict(pool) - true_mean(pool[:, 0])) ** 2))


def learn(choose):
    rng = np.random.default_rng(1)
    X, y, model, errors = X_start, y_start, first, [error(first)]
    for _ in range(3):
        asked = pool[choose(model, rng)]
        measured = observe(asked[:, 0], "heteroscedastic", rng)
        X, y = np.concatenate([X, asked]), np.concatenate([y, measured])
        model = VeBNNRegressor(random_state=0).fit(X, y)
        errors.append(error(model))
    return X, y, model, errors


ways = {"by ignorance": by_ignorance, "by total": by_total, "at random": at_random}
found = {name: learn(choose) for name, choose in ways.items()}

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for panel, (name, (X, y, model, _)) in zip(axes, found.items(), strict=True):
    plot_prediction(model, X, y, margin=0.02, ax=panel)
    panel.plot(pool, true_mean(pool), "k--", linewidth=1, label="truth")
    panel.set(title=name, ylim=(-15, 15))
    panel.get_legend().remove()
_ = axes[0].legend(frameon=False, fontsize=8, ncols=2)

# %% [markdown]
# The error of the mean, compared with the truth, after each round:

# %%
import pandas

table = pandas.DataFrame({name: errors for name, (*_, errors) in found.items()})
table.index = pandas.Index([8, 12, 16, 20], name="measurements")
table.round(2)

# %% [markdown]
# This is one run, and luck has a large part in it. `vebnn bench active` repeats such a run from 20
# seeds: [choosing by ignorance is best on average](../acquisition.md#does-it-help), and not always.
#
# To find the optimum of a process instead of its whole shape, use `how="expected_improvement"`. From
# files, without Python:
#
# ```sh
# vebnn suggest alloys.model examples/new-alloys.csv --n 3 --target strength_MPa --out next.csv
# ```
#
# More in [what to measure next](../acquisition.md).
