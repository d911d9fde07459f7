"""How long to train: each engine's settings, longer or shorter; networks for images and sequences."""

from dataclasses import replace
from typing import Any, NamedTuple

from vebnn.core.arguments import require_one_of
from vebnn.estimators import VeBNNRegressor
from vebnn.estimators.images import ImageLengths
from vebnn.inference import ENGINES, Engine
from vebnn.networks import ResNet
from vebnn.presets import default_mean_training, default_variance_training, stretched
from vebnn.tabular.sequences import effort as of_sequences
from vebnn.training import Training

EFFORTS = {"quick": 0.25, "normal": 1.0, "thorough": 4.0}
# A wider network makes a shorter training, because lengths follow its cost.
IMAGE_NETWORKS = {
    "quick": ResNet(6, 8, head=(64,)),
    "normal": ResNet(10, 16, head=(128,)),
    "thorough": ResNet(18, 32),
}
IMAGE_DROPOUT = 0.1  # of engines that need it


def new_estimator(
    num_rows: int,
    *,
    inference: str,
    effort: str,
    image_shape: tuple[int, ...] | None = None,
    sequences: bool = False,
    **settings: Any,
) -> VeBNNRegressor:
    """Return an estimator with lengths for an effort; ``"normal"`` keeps the estimator's defaults.

    Args:
      num_rows: number of training rows, or sequences.
      inference: name of the engine.
      effort: name of the effort.
      image_shape: height, width and channels, if rows are images. They get a residual network.
      sequences: whether rows are steps of sequences. They get a recurrent network.
      **settings: other arguments of the estimator.
    """
    require_one_of("inference", inference, tuple(ENGINES))
    require_one_of("effort", effort, tuple(EFFORTS))
    if image_shape is not None:
        rate = IMAGE_DROPOUT if ENGINES[inference].needs_dropout else 0.0
        settings["network"] = replace(IMAGE_NETWORKS[effort], dropout_rate=rate)
    if sequences:
        settings["network"] = of_sequences.sequence_network(effort, ENGINES[inference])
        settings |= {"residuals": of_sequences.RESIDUALS, "num_folds": of_sequences.NUM_FOLDS}
    elif effort == "normal":
        return VeBNNRegressor(inference=inference, **settings)
    network = settings.get("network")
    lengths = lengths_of(num_rows, inference, effort, network, image_shape, sequences)
    return VeBNNRegressor(**lengths._asdict(), **settings)


class Lengths(NamedTuple):
    """The lengths of all trainings; arguments of an estimator."""

    inference: Engine
    mean_training: Training
    variance_training: Training


def lengths_of(
    num_rows: int,
    inference: str,
    effort: str,
    network: Any = None,
    image_shape: tuple[int, ...] | None = None,
    sequences: bool = False,
) -> Lengths:
    """Return the lengths for an effort; the network matters for images alone."""
    kind, factor = ENGINES[inference], EFFORTS[effort]
    if sequences:
        engine = of_sequences.sequence_engine(kind, num_rows)
        trainings = of_sequences.sequence_trainings(num_rows)
    elif image_shape is None:
        engine = kind.for_rows(num_rows)
        trainings = default_mean_training(num_rows), default_variance_training(num_rows)
    else:
        lengths = ImageLengths.of(network, image_shape, num_rows)
        engine, trainings = lengths.engine(kind), (lengths.mean_training, lengths.variance_training)
    return Lengths(*(stretched(one, factor) for one in (engine, *trainings)))
