"""A preset of ``vebnn bench images`` that takes seconds."""

from vebnn import Training
from vebnn.bench.experiments.images_settings import ImagePreset, ImageSizes
from vebnn.bench.simulators.cells.plan import Plan
from vebnn.networks import ResNet

_TRAINING = Training(1, batch_size=16, learning_rate=1e-2)
TINY = ImagePreset(
    sizes=ImageSizes(num_train=32, num_validation=16, num_test=24, side=8),
    cells=Plan(train=64, validation=40, test=40, size=8),
    network=ResNet(4, 4, head=()),
    variance_network=ResNet(4, 4, head=()),
    training=_TRAINING,
    variance_training=_TRAINING,
    chains={"num_samples": 2, "burn_in": 1, "thinning": 1, "num_chains": 1, "batch_size": 16},
    elbo=_TRAINING,
    num_members=2,
    num_masks=3,
    cooperative={"residuals": "in_sample", "rounds": 1},
)
