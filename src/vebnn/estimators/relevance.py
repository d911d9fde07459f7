"""How much each input matters: the posterior of its prior scale, and of its effect on the mean.

**Scale.** A network with learned prior scales multiplies all weights of input j by one scale, which is
a part of every draw (:mod:`vebnn.networks.scales`; automatic relevance determination, MacKay 1994, Neal
1996). It is small for an input without influence; the median of its prior is 1. Scales only compare
inputs with each other, because each layer has a scale of its own. Where the mean bends along an input,
the scale is larger than where it is a straight line, however steep.

**Effect.** How much the mean depends on input j: for a draw f of the network,

    effect_j² = ½ E[(f(x) − f(x with input j of another row))²]

over training rows, with targets of standard deviation 1 (total Sobol index times the variance, Jansen
1999, with the inputs taken as independent). For f(x) = Σ a_j x_j and inputs of standard deviation 1 it
is a_j². A one-hot category is exchanged as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vebnn.estimators.gaps import Gaps
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.strategies.contract import Fitted

if TYPE_CHECKING:
    import pandas

MOST_ROWS, NUM_PAIRS = 256, 1024  # training rows, and how many exchanges of two of them


class Spread(NamedTuple):
    """Mean and central 95 % interval over the draws, each ``(inputs,)``."""

    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, draws: np.ndarray) -> "Spread":
        """Summarise ``(draws, inputs)``."""
        return cls(draws.mean(axis=0), *np.quantile(draws, [0.025, 0.975], axis=0))


@dataclass(frozen=True, eq=False)
class Relevance:
    """The posterior of each input's scale and effect; see :mod:`vebnn.estimators.relevance`.

    A small scale says that an input is not used. The effect says how much an input matters: the std
    that it alone gives to the predicted mean, in units of the target's std; with several targets, the
    root mean square over them. Correlated inputs divide it between them.

    Example:
      >>> model.relevance_.to_frame().sort_values("effect", ascending=False)
    """

    names: tuple[str, ...]  # of the inputs; x0, x1, … if they have none
    scales: np.ndarray  # (draws, inputs); chains are pooled
    members: tuple[tuple[int, ...], ...] = field(repr=False)  # the network's inputs behind each name
    fitted: Fitted = field(repr=False)

    @cached_property
    def scale(self) -> Spread:
        """The posterior of each input's scale, for inputs of standard deviation one."""
        return Spread.of(self.scales)

    @cached_property
    def effect(self) -> Spread:
        """The posterior of each input's effect, computed when it is first asked for."""
        networks = pool_chains(self.fitted.posterior.draws)
        first, second = _pairs(len(self.fitted.probe_x))
        x = self.fitted.probe_x[first]
        counts = ~np.isnan(self.fitted.probe[0, 0, first])  # not in padding
        # Of sequences, an input is exchanged at all times.
        inputs = self.fitted.probe_x.reshape(len(self.fitted.probe_x), -1, sum(map(len, self.members)))
        before = evaluate_draws(networks, x)[:, counts]
        effects = []
        for members in self.members:
            exchanged = inputs[first]
            exchanged[..., members] = inputs[second][..., members]
            after = evaluate_draws(networks, exchanged.reshape(x.shape))[:, counts]
            effects.append(np.sqrt(np.mean((after - before) ** 2, axis=1) / 2))
        return Spread.of(np.stack(effects, axis=1).astype(float))

    @cached_property
    def order(self) -> np.ndarray:
        """Numbers of the inputs, the one with the largest effect first."""
        return np.argsort(-self.effect.mean, kind="stable")

    def combined(self, groups: Mapping[str, Sequence[int]]) -> "Relevance":
        """Return the relevance of groups of inputs, such as the one-hot columns of a category.

        The scale of a group is that of its input with the largest mean scale; the effect is that of all
        its inputs together.

        Args:
          groups: name of each group, and the numbers of its inputs; every input is in one group.
        """
        largest = [max(members, key=self.scale.mean.__getitem__) for members in groups.values()]
        members = tuple(
            tuple(one for at in group for one in self.members[at]) for group in groups.values()
        )
        return Relevance(tuple(groups), self.scales[:, largest], members, self.fitted)

    def to_frame(self) -> "pandas.DataFrame":
        """Return mean and 95 % interval of scale and effect, one row per input."""
        import pandas

        columns = {
            name + end: values
            for name, spread in (("scale", self.scale), ("effect", self.effect))
            for end, values in zip(("", "_lower", "_upper"), spread, strict=True)
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="input"))


def _pairs(num_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of different rows, by number; each row is as often first as it is second."""
    chosen = np.random.default_rng(0).permutation(num_rows)[:MOST_ROWS]
    steps = range(1, min(len(chosen), 1 + NUM_PAIRS // len(chosen)))
    second = [np.roll(chosen, step) for step in steps] or [chosen]
    return np.tile(chosen, len(second)), np.concatenate(second)


def relevance_of(fitted: Fitted, names: Any, gaps: Gaps | None = None) -> Relevance | None:
    """Return the relevance of the inputs of a fitted mean network.

    The indicator of missing values belongs to its feature.
    None if the draws have no learned scales of inputs. Dropout masks and linearised networks have none.
    """
    scales = getattr(fitted.posterior.draws, "input_scales", None)
    if scales is None:
        return None
    scales = np.asarray(scales, float).reshape(-1, scales.shape[-1])
    inputs = range(scales.shape[1])
    marked = gaps.marked if gaps else ()
    named = [f"x{number}" for number in inputs[: len(inputs) - len(marked)]] if names is None else names
    found = Relevance(tuple(map(str, named)), scales, tuple((number,) for number in inputs), fitted)
    if not (gaps and marked):
        return found
    owned = {str(feature): gaps.inputs_of(feature) for feature in range(len(found.names))}
    return replace(found.combined(owned), names=found.names)
