"""How long to train: each engine's own settings, longer or shorter; and which network for images."""

from dataclasses import replace
from typing import Any, NamedTuple

from vebnn.core.arguments import require_one_of
from vebnn.estimators import VeBNNRegressor
from vebnn.estimators.images import ImageLengths
from vebnn.inference import ENGINES, Engine
from vebnn.networks import ResNet
from vebnn.presets import default_mean_training, default_variance_training, stretched
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
    **settings: Any,
) -> VeBNNRegressor:
    """Return an estimator with lengths for an effort; ``"normal"`` keeps the estimator's defaults.

    Args:
      num_rows: number of training rows.
      inference: name of the engine.
      effort: name of the effort.
      image_shape: height, width and channels, if rows are images. They get a residual network.
      **settings: other arguments of the estimator.
    """
    require_one_of("inference", inference, tuple(ENGINES))
    require_one_of("effort", effort, tuple(EFFORTS))
    if image_shape is not None:
        rate = IMAGE_DROPOUT if ENGINES[inference].needs_dropout else 0.0
        settings["network"] = replace(IMAGE_NETWORKS[effort], dropout_rate=rate)
    if effort == "normal":
        return VeBNNRegressor(inference=inference, **settings)
    lengths = lengths_of(num_rows, inference, effort, settings.get("network"), image_shape)
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
) -> Lengths:
    """Return the lengths for an effort; the network matters for images alone."""
    kind, factor = ENGINES[inference], EFFORTS[effort]
    if image_shape is None:
        engine = kind.for_rows(num_rows)
        trainings = default_mean_training(num_rows), default_variance_training(num_rows)
    else:
        lengths = ImageLengths.of(network, image_shape, num_rows)
        engine, trainings = lengths.engine(kind), (lengths.mean_training, lengths.variance_training)
    return Lengths(*(stretched(one, factor) for one in (engine, *trainings)))
