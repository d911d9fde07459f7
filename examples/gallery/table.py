# %% [markdown]
# # A table: what will the next specimen do?
#
# A laboratory has tested 240 specimens of three alloys. You want to know the strength and the
# elongation of specimens that were not tested, how far off each number may be, and why. The file
# `examples/alloys.csv` has what real files have: text, gaps, an identifier, a column that never
# changes. It is made up, so that we can compare what the model learns with the truth.

# %%
import pandas

table = pandas.read_csv("examples/alloys.csv", dtype={"alloy": str})
table.head()

# %% [markdown]
# ## Fit
#
# `plan_table` looks at every column, says what it makes of it, and holds out a fifth of the rows for
# an honest score. `TableModel.fit` trains on the others. On the command line, both are `vebnn fit`.

# %%
from vebnn import VeBNNRegressor
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table

plan = plan_table(table, ["strength_MPa", "elongation_percent"])
print(*plan.notices, sep="\n")

model = TableModel.fit(VeBNNRegressor(random_state=0), plan)

# %% [markdown]
# ## Is it any good?
#
# On the rows that the model has not seen: `rmse` is the typical error, `baseline_rmse` that of always
# guessing the average, and `coverage` the share of rows inside their 95 % range. With 48 rows,
# anything from 42 to 48 of them is in line with 95 %.

# %%
scores = pandas.DataFrame(model.facts.scores)
scores[
    ["target", "num_rows", "rmse", "baseline_rmse", "coverage", "aleatoric_std", "epistemic_std"]
].round(2)

# %% [markdown]
# Each dot is a held-out specimen. Orange bars are the range of a new measurement, blue bars that of
# the mean. The closer to the diagonal, the better.

# %%
import matplotlib.pyplot as plt

from vebnn.plots import plot_parity, plot_reliability

held_out = table.iloc[plan.held_out]
prediction = model.predict(held_out).prediction

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_parity(prediction, held_out[list(model.targets)], target="strength_MPa", ax=left)
_ = plot_reliability(prediction, held_out[list(model.targets)], target="strength_MPa", ax=right)

# %% [markdown]
# ## Two reasons for an error bar
#
# **Noise** (aleatoric) is how much specimens of the same kind scatter. In this table, the scatter of
# the strength grows with the temperature: its true std is 4 MPa + temperature / 40. **Ignorance**
# (epistemic) is how far the predicted mean itself may be off. The model learns both from the same 192
# rows.

# %%
import numpy as np

from vebnn.plots import plot_uncertainties

one_kind = pandas.DataFrame(
    {
        "sample": "?",
        "alloy": "A356",
        "temperature": np.linspace(20, 600, 60),
        "ageing": 18,
        "annealed": False,
        "machine": "MTS 810",
    }
)
hotter = model.predict(one_kind).prediction

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
plot_uncertainties(hotter, one_kind["temperature"], target="strength_MPa", ax=axes)
inside = one_kind["temperature"] <= 400
truth = 4 + one_kind["temperature"] / 40
axes.plot(one_kind["temperature"][inside], truth[inside], "k--", label="true noise")
axes.axvspan(400, 600, color="#F1F1F1", zorder=0, label="no rows here")
axes.set_ylim(0, 16)
_ = axes.legend(frameon=False)

# %% [markdown]
# The noise grows with the temperature as it should, a little too slowly: 192 rows do not show more.
# Beyond 400 °C, where the rows end, the ignorance rises, because the model has seen nothing there.
# The noise that it draws there is a guess.
#
# ## New specimens
#
# The file of new specimens has an alloy that was never tested, and one temperature of 650 °C.

# %%
new = pandas.read_csv("examples/new-alloys.csv", dtype={"alloy": str})
prediction, notices = model.predict(new)
print(*notices, sep="\n")

columns = ["mean", "aleatoric_std", "epistemic_std", "lower", "upper"]
answer = prediction.to_frame()[[f"strength_MPa_{name}" for name in columns]].set_axis(columns, axis=1)
pandas.concat([new[["sample", "alloy", "temperature"]], answer.round(1)], axis=1).head(5)

# %% [markdown]
# ## Why is this error bar so wide?
#
# `explain` says what each column adds to the mean, to the noise and to the ignorance, and `reason`
# puts it into words.

# %%
explanation = model.explain(new)
for row in (0, 1, 2):
    reason = explanation.reason(row, target="strength_MPa")
    print(f"{new['sample'][row]} ({new['alloy'][row]}, {new['temperature'][row]} °C): {reason}")

# %%
from vebnn.plots import plot_explanation

_ = plot_explanation(explanation, 0, target="strength_MPa")

# %% [markdown]
# ## What to test next
#
# Ignorance shrinks with measurements; noise does not. So the specimens to test next are those about
# which the model knows least.

# %%
from vebnn.tabular.candidates import suggest_rows

found = suggest_rows(model, new, n=3, target="strength_MPa")
found.table[["row", "sample", "alloy", "temperature", "reason"]]

# %% [markdown]
# ## The same without Python
#
# ```sh
# vebnn fit examples/alloys.csv --target strength_MPa --target elongation_percent --out alloys.model
# vebnn predict alloys.model examples/new-alloys.csv --out predictions.csv
# vebnn suggest alloys.model examples/new-alloys.csv --n 3 --target strength_MPa
# vebnn report alloys.model examples/alloys.csv --out report.html
# ```
#
# More in [command line](../command-line.md), [tables](../tutorials/tabular.md) and [what drives a
# prediction](../explanations.md).
