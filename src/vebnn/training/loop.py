"""The one compiled mini-batch loop: Adam, best-epoch parameters, patience."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from vebnn.core.arguments import require_number, require_whole
from vebnn.core.types import AnyDataset, Array, Key, Params
from vebnn.training.batches import (
    LARGE,
    MANY,
    batch_shape,
    batches_of_epoch,
    epochs_of_steps,
    rows_of_epoch,
    scale_of_rows,
    shuffled_batches,
    spread_evenly,
    take,
    weight_of,
    with_spare_rows,
)
from vebnn.training.fleet import (
    fetch_share,
    gather,
    key_of_share,
    map_runs,
    mean_of_shares,
    replicate,
    shares_of,
    unchanging,
)
from vebnn.training.objective import NegativeLogLikelihood, Objective
from vebnn.training.stage import SILENT, Stage
from vebnn.training.streaming import release, stream_if_large

FEWEST_EPOCHS = 100  # however large the data set
WATCHED_SHARE = 0.25  # of an epoch that is a part of the rows: the most to evaluate after it
LONGER_WAIT = 2  # factor on the patience of large tables

Monitor = Callable[[Params, Any], Array]


class TrainingDiverged(FloatingPointError):
    """A loss became infinite or not a number."""


@dataclass(frozen=True)
class Training:
    """How long and how fast to train.

    Args:
      num_epochs: the most epochs a run may take; 0 leaves the networks untrained.
      learning_rate: Adam's step size.
      batch_size: the most rows in a mini-batch.
      patience: stop after this many epochs without improvement; ``None`` trains to the last epoch.
      tolerance: an improvement must exceed this share of the best value so far.
      epoch_rows: the most rows of an epoch; of more, every epoch takes a random part, and early
        stopping watches some of the validation rows. ``None`` takes all.
    """

    num_epochs: int = 20_000
    learning_rate: float = 1e-3
    batch_size: int = 256
    patience: int | None = None
    tolerance: float = 0.0
    epoch_rows: int | None = None

    def __post_init__(self) -> None:
        require_whole("num_epochs", self.num_epochs, 0)
        require_whole("batch_size", self.batch_size, 1)
        require_number("learning_rate", self.learning_rate, 0, np.inf)
        require_number("tolerance", self.tolerance, 0, 1, "[)")
        if self.patience is not None:
            require_whole("patience", self.patience, 1)
        if self.epoch_rows is not None:
            require_whole("epoch_rows", self.epoch_rows, 1)

    @classmethod
    def of_steps(
        cls, num_steps: int, num_rows: int, *, patience: int | None = None, **settings: Any
    ) -> "Training":
        """Return a training of about ``num_steps`` gradient steps, ``patience`` of them.

        From ``SMALL`` rows on, the steps grow with the square root of the rows. There are at least
        ``FEWEST_EPOCHS`` epochs. Beyond ``MANY`` rows, an epoch is a part of them, steps are those of
        ``LARGE`` rows, and early stopping waits longer: with that many, a network may need tens of
        thousands of steps to find that two inputs act together, while its loss stands still.
        """
        batch_size, rows = settings.get("batch_size", cls.batch_size), rows_of_epoch(num_rows)
        more = scale_of_rows(LARGE if num_rows > MANY else num_rows)
        epochs = epochs_of_steps(round(more * num_steps), rows, batch_size, FEWEST_EPOCHS)
        if patience is not None:
            patience *= LONGER_WAIT if num_rows > MANY else 1
            patience = epochs_of_steps(round(more * patience), rows, batch_size, FEWEST_EPOCHS // 5)
        if num_rows > MANY:
            settings = {"epoch_rows": rows} | settings
        return cls(num_epochs=epochs, patience=patience, **settings)


class TrainState(NamedTuple):
    """The state of one run between two epochs."""

    key: Key
    params: Params
    optimiser: optax.OptState
    epoch: Array
    best_params: Params
    best_value: Array
    best_epoch: Array
    stopped: Array
    failed_step: Array  # the first step with a non-finite loss, or −1
    history: Array  # (epochs, 2): mean training loss, monitored value


class Trained(NamedTuple):
    """Trained parameters of a fleet; every leaf has the runs as leading axis."""

    params: Params
    best_epoch: Array
    best_value: Array
    num_epochs: Array  # epochs that were run
    history: Array


class Run(NamedTuple):
    """Inputs in which the runs of a fleet differ."""

    state: TrainState
    learning_rate: Array
    num_epochs: Array
    train_rows: Array
    watch_rows: Array
    own: Any  # arrays of the objective of this run alone; None where runs share


class _Advance(eqx.Module):
    """Epochs of one run, up to a given one. A module, so that its compiled program is reused."""

    objective: Objective
    monitor: Monitor
    watched: bool
    batch_size: int
    patience: int | None
    tolerance: float
    shares: int  # devices
    epoch_rows: int | None = None

    def __call__(self, shared: tuple[AnyDataset, Array], run: Run) -> TrainState:
        data, until = shared
        objective = eqx.combine(run.own, self.objective)
        last = jnp.minimum(until, run.num_epochs)
        watch_data = take(data, run.watch_rows) if self.watched else None
        # Normalise per row: Adam's ε and the logs depend on the scale.
        scale = 1 / jnp.maximum(jnp.sum(weight_of(data, run.train_rows)), 1)
        num_rows = run.train_rows.shape[0]
        num_batches, _ = batch_shape(num_rows, self.batch_size)  # of all rows, for the scale of a batch
        num_steps = batches_of_epoch(num_rows, self.batch_size, self.epoch_rows)
        flat_start, unravel = ravel_pytree(run.state.params)
        optimiser = optax.scale_by_adam()

        def loss(flat: Array, batch: AnyDataset, key: Key) -> Array:
            # A share of a batch stands for as many: their mean is that of the batch.
            return scale * objective(unravel(flat), batch, num_batches * self.shares, key)

        def step(carry: Any, inputs: Any) -> Any:
            flat, optimiser_state = carry
            batch, key_batch = inputs
            batch = fetch_share(data, run.train_rows, batch, self.batch_size, self.shares)
            key_share = key_of_share(key_batch, self.shares)
            found = jax.value_and_grad(loss)(flat, batch, key_share)
            value, gradient = mean_of_shares(found, self.shares)
            update, optimiser_state = optimiser.update(gradient, optimiser_state)
            return (flat - run.learning_rate * update, optimiser_state), value

        def epoch(state: TrainState) -> TrainState:
            key, key_shuffle, key_batches = jax.random.split(state.key, 3)
            batches = shuffled_batches(
                key_shuffle, data, run.train_rows, self.batch_size, self.epoch_rows
            )
            keys = jax.random.split(key_batches, num_steps)
            carry = (state.params, state.optimiser)
            (flat, optimiser_state), losses = jax.lax.scan(step, carry, (batches, keys))
            number = state.epoch + 1
            value = self.monitor(unravel(flat), watch_data) if self.watched else jnp.mean(losses)
            finite = jnp.isfinite(losses)
            bad_step = state.epoch * num_steps + jnp.argmin(finite).astype(jnp.int32) + 1
            failed = jnp.where(jnp.all(finite), state.failed_step, bad_step)
            better = value < state.best_value - self.tolerance * jnp.abs(state.best_value)
            # Without validation rows, the last epoch is kept.
            keep = (better | ~jnp.isfinite(state.best_value)) if self.watched else True
            best_epoch = jnp.where(keep, number, state.best_epoch)
            waited = number - best_epoch
            impatient = False if self.patience is None else waited >= self.patience
            return TrainState(
                key=key,
                params=flat,
                optimiser=optimiser_state,
                epoch=number,
                best_params=jnp.where(keep, flat, state.best_params),
                best_value=jnp.where(keep, value, state.best_value),
                best_epoch=best_epoch,
                stopped=impatient | (failed >= 0),
                failed_step=failed,
                history=state.history.at[state.epoch].set(jnp.stack([jnp.mean(losses), value])),
            )

        def go_on(state: TrainState) -> Array:
            return (state.epoch < last) & ~state.stopped

        flat_state = run.state._replace(
            params=flat_start, best_params=ravel_pytree(run.state.best_params)[0]
        )
        end = jax.lax.while_loop(go_on, epoch, flat_state)
        return end._replace(params=unravel(end.params), best_params=unravel(end.best_params))


def train(
    key: Key,
    objective: Objective,
    starts: Params,
    data: AnyDataset,
    train_rows: Array,
    settings: Training,
    *,
    watch_rows: Array | None = None,
    monitor: Monitor | None = None,
    learning_rate: Array | None = None,
    num_epochs: Array | None = None,
    own: Any = None,
    stage: Stage = SILENT,
) -> Trained:
    """Minimise the objective with Adam for a fleet of runs.

    Args:
      starts: start parameters, stacked over runs.
      data: the rows of all runs.
      train_rows: ``(runs, n)`` row numbers each run trains on.
      watch_rows: ``(runs, m)`` row numbers on which the monitor is evaluated after every epoch; the
        parameters of the best epoch are kept. ``None`` keeps those of the last epoch.
      monitor: the criterion, smaller is better; by default the negative log-likelihood.
      learning_rate: ``(runs,)``; by default that of the settings.
      num_epochs: ``(runs,)``, at most ``settings.num_epochs``, the default.
      own: arrays of the objective in which runs differ, stacked: an objective with ``None`` in all
        other places.

    Raises:
      TrainingDiverged: if a loss became infinite or not a number.
    """
    num_runs = train_rows.shape[0]
    watched = watch_rows is not None
    monitor = monitor or NegativeLogLikelihood(objective.log_likelihood)
    shares = shares_of(data.x, num_runs)
    advance_run = _Advance(
        objective,
        monitor,
        watched,
        settings.batch_size,
        settings.patience,
        settings.tolerance,
        shares,
        settings.epoch_rows,
    )
    limits = np.full(num_runs, settings.num_epochs, np.int32)
    limits = limits if num_epochs is None else np.asarray(num_epochs)
    rates = np.full(num_runs, settings.learning_rate, np.float32)
    rates = rates if learning_rate is None else np.asarray(learning_rate)
    watch_rows = watch_rows if watched else np.zeros((num_runs, 0), np.int32)
    if settings.epoch_rows is not None:
        watch_rows = spread_evenly(watch_rows, math.ceil(WATCHED_SHARE * settings.epoch_rows))

    data = replicate(stream_if_large(with_spare_rows(data)), num_runs, shares=shares)
    own = jax.tree.map(lambda _: None, objective) if own is None else own
    train_rows, watch_rows, own = unchanging((train_rows, watch_rows, own))

    def advance(state: TrainState, until: int) -> TrainState:
        runs = Run(state, rates, limits, train_rows, watch_rows, own)
        return map_runs(advance_run, (data, np.int32(until)), runs, shares=shares)

    def position(state: TrainState) -> int:
        epoch = np.asarray(state.epoch)
        finished = np.asarray(state.stopped) | (epoch >= limits)
        return settings.num_epochs if finished.all() else int(epoch[~finished].min())

    def describe(state: TrainState) -> str:
        return f"loss {np.mean(np.asarray(state.best_value)):.4g}"

    start = _start(key, starts, settings.num_epochs)
    try:
        end = stage.run(advance, start, settings.num_epochs, position, describe)
    finally:
        release(data)
    raise_if_failed(end.failed_step, f"loss of {stage.name or 'training'}", "run", "learning_rate")
    return gather(Trained(end.best_params, end.best_epoch, end.best_value, end.epoch, end.history))


def _start(key: Key, starts: Params, num_epochs: int) -> TrainState:
    """Return the state before the first epoch, in NumPy: compiling it would take longer."""

    def begin(params: Params) -> tuple[Array, optax.OptState]:
        flat, _ = ravel_pytree(params)
        return flat, optax.scale_by_adam().init(flat)

    flat, optimiser = jax.eval_shape(jax.vmap(begin), starts)
    num_runs = len(flat)
    return TrainState(
        key=jax.random.split(key, num_runs),
        params=starts,
        optimiser=jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), optimiser),
        epoch=np.zeros(num_runs, np.int32),
        best_params=starts,
        best_value=np.full(num_runs, np.inf, flat.dtype),
        best_epoch=np.zeros(num_runs, np.int32),
        stopped=np.zeros(num_runs, bool),
        failed_step=np.full(num_runs, -1, np.int32),
        history=np.full((num_runs, num_epochs, 2), np.nan, flat.dtype),
    )


def raise_if_failed(failed_step: Array, what: str, run: str, setting: str) -> None:
    """Raise if a run of a fleet had a non-finite value; ``failed_step`` is −1 for the others.

    Raises:
      TrainingDiverged: naming the value, the step, the run and the setting to change.
    """
    failed = np.asarray(failed_step)
    if (failed >= 0).any():
        first = int(np.argmax(failed >= 0))
        raise TrainingDiverged(
            f"The {what} became non-finite at step {failed[first]} of {run} {first + 1} of "
            f"{len(failed)}. Try a smaller `{setting}`, and look for extreme values in the data."
        )
