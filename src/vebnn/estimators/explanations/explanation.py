"""The explanation of some predictions: what each feature adds to the three outputs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vebnn.core.arguments import require_one_of, target_position

if TYPE_CHECKING:
    import pandas

OUTPUTS = {"mean": "mean", "aleatoric_std": "noise", "epistemic_std": "ignorance"}
TYPICAL = (0.8, 1.25)  # stds within this range of the average need no reason
MAIN_SHARE = 0.5  # of a deviation: what features named in a sentence explain


class Attribution(NamedTuple):
    """One output of some predictions: ``predicted = base + values.sum(axis=1)``."""

    base: np.ndarray  # () or (targets,): mean over the background
    values: np.ndarray  # (rows, features) or (rows, features, targets)
    predicted: np.ndarray  # (rows,) or (rows, targets)

    def of_target(self, at: int) -> "Attribution":
        """Return the part of one target, whether there are others or not."""
        return Attribution(*(part[..., at] for part in self)) if self.base.ndim else self


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each feature adds to the mean, to the noise and to the ignorance of some predictions.

    Values are Shapley values in the units of the target. Those of a row add up to the difference
    between its prediction and the average prediction of the background rows; see
    :meth:`vebnn.VeBNNRegressor.explain`.

    Args:
      features: names of the features, or of their groups.
      mean: of the predicted mean.
      aleatoric_std: of the std of the noise.
      epistemic_std: of the std of the mean, the ignorance.
      target_names: names of the outputs, as in :class:`vebnn.Prediction`.
      index: row labels for ``to_frame``.

    Example:
      >>> explanation = model.explain(X_new)
      >>> explanation.epistemic_std.values  # (rows, features)
      >>> explanation.reason(0)
      'ignorance 3.2 × typical, mostly from temperature'
    """

    features: tuple[str, ...]
    mean: Attribution
    aleatoric_std: Attribution
    epistemic_std: Attribution
    target_names: tuple[str, ...] | None = None
    index: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.mean.predicted)

    @property
    def num_targets(self) -> int:
        """Number of outputs of the model."""
        return self.mean.base.size

    def output(self, name: str, target: str | int | None = None) -> Attribution:
        """Return one output of one target: its base ``()``, values ``(rows, features)``.

        Args:
          name: ``"mean"``, ``"aleatoric_std"`` or ``"epistemic_std"``.
          target: name or number, if there are several.
        """
        require_one_of("output", name, tuple(OUTPUTS))
        at = target_position(target, self.target_names, self.num_targets)
        whole: Attribution = getattr(self, name)
        return whole.of_target(at)

    def reason(self, row: int, output: str = "epistemic_std", target: str | int | None = None) -> str:
        """Return a few words on one output of a row: how large it is, and why.

        Typical is the mean over the background. Features are named until they explain half of what
        pushes the row away from it; at most three.
        """
        base, values, predicted = self.output(output, target)
        value, average = float(predicted[row]), float(base)
        word = OUTPUTS[output]
        if output == "mean":
            side = "above" if value >= average else "below"
            size = f"mean {_plain(value, 4)}, {_plain(abs(value - average), 3)} {side} the average"
        elif average <= 0:
            return f"no {word}"
        elif TYPICAL[0] <= value / average <= TYPICAL[1]:
            return f"{word} is typical"
        else:
            size = f"{word} {value / average:.2g} × typical"
        return size + self._cause(values[row] * (1 if value >= average else -1))

    def _cause(self, pushes: np.ndarray) -> str:
        """Name the features that push most to the side on which the prediction is."""
        pushes = np.maximum(pushes, 0)
        order = np.argsort(-pushes, kind="stable")
        if not pushes[order[0]] > 0:
            return ""
        shares = np.cumsum(pushes[order]) / pushes.sum()
        names = [self.features[player] for player in order]
        if shares[0] >= MAIN_SHARE:
            return f", mostly from {names[0]}"
        if shares[1] >= MAIN_SHARE:
            return f", mostly from {names[0]} and {names[1]}"
        return f", from {names[0]}, {names[1]}, {names[2]} and others"

    def to_frame(self) -> "pandas.DataFrame":
        """Return a table with a line per row, target and feature, and a column per output."""
        import pandas

        targets = self.target_names or [f"y{number}" for number in range(self.num_targets)]
        labels = range(len(self)) if self.index is None else self.index
        axes = {"row": labels, "target": targets, "feature": self.features}
        index = pandas.MultiIndex.from_product(axes.values(), names=list(axes))
        parts = {name: np.atleast_3d(getattr(self, name).values) for name in OUTPUTS}
        columns = {name: values.transpose(0, 2, 1).ravel() for name, values in parts.items()}
        frame = pandas.DataFrame(columns, index=index)
        return frame if self.mean.base.ndim else frame.droplevel("target")


def _plain(value: float, digits: int) -> str:
    """Return a number; an exponent only where it is needed."""
    return f"{value:,.0f}" if 10**digits <= abs(value) < 1e7 else f"{value:.{digits}g}"
