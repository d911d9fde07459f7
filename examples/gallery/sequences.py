# %% [markdown]
# # Sequences: stress from strain
#
# A composite is strained along a path, and its stress depends on the whole path, not only on the
# strain of the moment. Two specimens under the same path answer differently, because their particles
# lie differently. You want the average stress along a new path, the scatter between specimens, and a
# warning where the model does not know.
#
# The data come with the package and were simulated by `vebnn simulate plasticity`: 100 paths, each on
# one random specimen, and ten test paths, each on 30 specimens. So mean and scatter of the test paths
# are known. We take every third step, to be quick.

# %%
from vebnn.datasets.plasticity import SAMPLE_FOLDER, load_plasticity

data = load_plasticity(material=1, folder=SAMPLE_FOLDER)
steps = slice(2, None, 3)
strain, stress = 100 * data.strain[:, steps], 1000 * data.stress[:, steps]  # percent and kPa
test_strain = 100 * data.test_strain[:, steps]
true_mean, true_std = 1000 * data.test_mean[:, steps], 1000 * data.test_std[:, steps]
print("inputs (paths, steps, strains):", strain.shape)
print("targets (paths, steps, stresses):", stress.shape)

# %% [markdown]
# Three strains go in and three stresses come out: along both axes, and shear. Here are three paths
# and their stresses:

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 2, figsize=(8, 3.8), sharex=True, sharey="row", layout="constrained")
for number in range(2):
    axes[0, number].plot(strain[number], label=["11", "22", "12"])
    axes[1, number].plot(stress[number])
    axes[1, number].set_xlabel("step")
    axes[0, number].set_title(f"path {number + 1}")
axes[0, 0].set_ylabel("strain, %")
axes[1, 0].set_ylabel("stress, kPa")
_ = axes[0, 0].legend(frameon=False, fontsize=8)

# %% [markdown]
# ## Fit
#
# A GRU reads the path step by step and remembers. A second, smaller GRU learns the scatter between
# specimens. Six networks with different starts show where the training paths leave the mean open.
# With so few paths, the error of one network is larger than the scatter; `residuals="posterior"`
# takes the residuals of all six together, so that this error is not mistaken for scatter.

# %%
from vebnn import GRU, Ensemble, Training, VeBNNRegressor

training = Training(num_epochs=200, learning_rate=5e-3, batch_size=25, patience=50)
model = VeBNNRegressor(
    GRU((64,)),
    variance_network=GRU((8,)),
    mean_training=training,
    variance_training=Training(num_epochs=300, learning_rate=1e-2, batch_size=25, patience=60),
    inference=Ensemble(6, training),
    residuals="posterior",
    rounds=2,
    choose_round="last",
    num_folds=3,
    random_state=0,
).fit(strain, stress)
prediction = model.predict_distribution(test_strain)

# %% [markdown]
# ## One test path
#
# The model has not seen this path. The blue band is the range of the mean, the orange one that of a
# new specimen. The dashed line is the true mean, over 30 specimens.

# %%
from vebnn.plots import plot_sequence

components = ["stress 11", "stress 22", "stress 12"]
figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True, layout="constrained")
for at, name in enumerate(components):
    plot_sequence(prediction, 0, target=at, ax=axes[at])
    axes[at].plot(range(1, len(true_mean[0]) + 1), true_mean[0, :, at], "k--", label="true mean")
    axes[at].set(title=name, ylabel="kPa")
    axes[at].get_legend().remove()
_ = axes[0].legend(frameon=False, fontsize=8)

# %% [markdown]
# ## Is it right?
#
# We know the truth: on ten test paths, mean and std over 30 specimens.

# %%
import numpy as np
import pandas

half = 1.96 * prediction.epistemic_std
inside = np.abs(true_mean - prediction.mean) < half
pandas.DataFrame(
    {
        "size of the stress": np.sqrt((true_mean**2).mean((0, 1))),
        "error of the mean": np.sqrt(((prediction.mean - true_mean) ** 2).mean((0, 1))),
        "predicted noise": np.sqrt((prediction.aleatoric_std**2).mean((0, 1))),
        "true noise": np.sqrt((true_std**2).mean((0, 1))),
        "true means in their 95 % band": inside.mean((0, 1)),
    },
    index=components,
).round(2)

# %% [markdown]
# The scatter is a little too large, and the band of the mean too narrow: it should hold 95 % of the
# true means. That is typical of an ensemble of few networks. [The results](../results/plasticity.md)
# of longer runs say the same, with figures. So treat the ignorance of a sequence as a lower bound.
#
# ## A path unlike any other
#
# Does the model notice? Here is a test path with twice and three times its strain.

# %%
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for factor in (1, 2, 3):
    larger = model.predict_distribution(factor * test_strain[:1])
    axes.plot(range(1, 34), larger.epistemic_std[0, :, 0], label=f"{factor} × the strain")
axes.set(xlabel="step", ylabel="epistemic std of stress 11, kPa", ylim=0)
_ = axes.legend(frameon=False)

# %% [markdown]
# It does: nothing in the training paths says how the material hardens at such strains.
#
# Tests of unequal length, and your own files: [load histories and
# responses](../tutorials/sequences.md). More materials, and how to simulate them: [plasticity
# data](../plasticity-data.md).
