# %% [markdown]
# # Known noise and repeated measurements
#
# Often you know a part of the noise: the data sheet of an instrument states its error, or you
# measured some conditions several times. Both are worth telling the model, and both let you check it.
# Here the truth is known, so we can see whether it helps.
#
# A process gives `x sin x` on average, and scatters by 0.3 + 0.05 `x`. Two instruments measured it: a
# good one with an error of 0.1, and a cheap one, whose error of 2 is far above the scatter of the
# process.

# %%
import numpy as np

rng = np.random.default_rng(0)


def true_mean(x):
    return x * np.sin(x)


def scatter(x):
    return 0.3 + 0.05 * x


x = rng.uniform(0, 10, 200)
error = np.where(rng.random(200) < 0.5, 0.1, 2.0)  # known, row by row
y = true_mean(x) + scatter(x) * rng.normal(size=200) + error * rng.normal(size=200)
X = x[:, None]

# %% [markdown]
# ## Tell the model the error of each row
#
# With `y_std`, rows of the good instrument count more, and the model learns only the noise that is
# left: that of the process. Without it, the model can only learn the mixture of the two instruments.
# On the command line, it is `vebnn fit --y-std COLUMN`.

# %%
from vebnn import VeBNNRegressor

told = VeBNNRegressor(random_state=0).fit(X, y, y_std=error)
not_told = VeBNNRegressor(random_state=0).fit(X, y)

# %%
import matplotlib.pyplot as plt

grid = np.linspace(0, 10, 300)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for instrument, marker in ((0.1, "o"), (2.0, "x")):
    rows = error == instrument
    left.plot(x[rows], y[rows], marker, color="#8C8C8C", markersize=3.5, label=f"error {instrument}")
left.plot(grid, true_mean(grid), "k--", label="truth")
for model, colour, words in ((told, "#0072B2", "told"), (not_told, "#D55E00", "not told")):
    p = model.predict_distribution(grid[:, None])
    left.plot(grid, p.mean, color=colour, label=words)
    right.plot(grid, p.aleatoric_std, color=colour, label=words)
right.plot(grid, scatter(grid), "k--", label="scatter of the process")
left.set(xlabel="x", ylabel="y", title="mean")
right.set(xlabel="x", ylim=(0, 2.2), title="noise std")
left.legend(frameon=False, fontsize=8)
_ = right.legend(frameon=False, fontsize=8)

# %%
import pandas

rows = []
for model in (told, not_told):
    p = model.predict_distribution(grid[:, None])
    rows.append(
        {
            "error of the mean": np.sqrt(np.mean((p.mean - true_mean(grid)) ** 2)),
            "epistemic std": np.sqrt(np.mean(p.epistemic_std**2)),
            "noise std": np.sqrt(np.mean(p.aleatoric_std**2)),
            "true scatter": np.sqrt(np.mean(scatter(grid) ** 2)),
        }
    )
pandas.DataFrame(rows, index=["told", "not told"]).round(2)

# %% [markdown]
# ## Predict a new measurement
#
# The prediction is that of the process. A new measurement has the error of its instrument on top, so
# pass that, too.

# %%
at = np.array([[5.0]])
for instrument in (0.0, 0.1, 2.0):
    lower, upper = told.predict_distribution(at, y_std=instrument).interval(0.95)
    print(f"instrument with error {instrument}: {lower[0]:.2f} to {upper[0]:.2f}")

# %% [markdown]
# ## Repeats show whether the noise is right
#
# Now every condition is measured four times with the good instrument. The std of the four values is
# an honest, if rough, measurement of the noise. Leave the repeats in the table: rows with the same
# inputs always fall on the same side of a split, so that no network is checked on a repeat of what it
# was trained on.

# %%
rng = np.random.default_rng(1)
places = np.repeat(rng.uniform(0, 10, 80), 4)
values = true_mean(places) + np.hypot(scatter(places), 0.1) * rng.normal(size=320)
tested = np.arange(320) // 4 < 40  # whole conditions are held out
model = VeBNNRegressor(random_state=0).fit(places[~tested, None], values[~tested], y_std=0.1)

p = model.predict_distribution(places[tested, None], y_std=0.1)
measured = values[tested].reshape(40, 4).std(axis=1, ddof=1)
predicted = p.aleatoric_std.reshape(40, 4)[:, 0]
ratio = np.sqrt(np.mean(predicted**2) / np.mean(measured**2))
print(f"predicted noise over the scatter of repeats: {ratio:.2f}")

# %%
order = np.argsort(places[tested][::4])
where = places[tested][::4][order]
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.plot(where, measured[order], "o", color="#8C8C8C", label="std of four repeats, held out")
axes.plot(where, predicted[order], color="#E69F00", label="predicted noise std")
axes.plot(grid, np.hypot(scatter(grid), 0.1), "k--", label="truth")
axes.set(xlabel="x", ylabel="std", ylim=0)
_ = axes.legend(frameon=False)

# %% [markdown]
# The std of four repeats scatters by about 40 % around the truth, so a dot far from the line is no
# error of the model. Their average is what counts.
#
# `vebnn bench replicates` makes this comparison [on measured data](../results/replicates.md). More in
# the [questions](../faq.md).
