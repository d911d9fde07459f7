"""How every method is trained on images: the paper's way, or at a size that two cores can train."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from vebnn import presets
from vebnn.bench.methods import Method, find_method
from vebnn.bench.simulators.cells.plan import Plan
from vebnn.core.arguments import require_one_of
from vebnn.inference import ENGINES, Engine, Ensemble, MCDropout
from vebnn.inference.engine import Budget
from vebnn.networks import Augmentation, ResNet
from vebnn.training import Training

GROUPS: Mapping[str, tuple[str, ...]] = {
    # The rows of the paper's tables of all data sets.
    "paper": (
        *("MVE (β-NLL=0.5)", "MVE (Natural)", "Evidential"),
        *("MVE (β-NLL=0.5 / Ensembles)", "VeBNN (Ensembles)", "MVE (pSGLD)", "VeBNN (pSGLD)"),
    ),
    # Those of its table of β-NLL against NLL, and single networks with both.
    "loss": ("MVE (β-NLL=0.5 / Ensembles)", "MVE (Ensembles)", "MVE (β-NLL=0.5)", "MVE (NLL)"),
    # Left out of the paper's tables, because they did not converge there.
    "dropout": ("MVE (MC-Dropout)", "VeBNN (MC-Dropout)"),
}


@dataclass(frozen=True)
class ImageSizes:
    """How many images are used, and how large they are; ``None`` is what the files have."""

    num_train: int | None = None
    num_validation: int | None = None
    num_test: int | None = None
    side: int | None = None  # larger images are averaged down to this many pixels


@dataclass(frozen=True)
class ImagePreset:
    """All that can be tuned: images, networks and lengths."""

    sizes: ImageSizes
    cells: Plan  # what is generated if there are no images of cells
    network: ResNet
    variance_network: ResNet
    training: Training
    variance_training: Training
    chains: Mapping[str, Any]  # of pSGLD and the other samplers
    elbo: Training
    dropout_rate: float = 0.1
    num_members: int = 5  # of ensembles
    num_masks: int = 20  # of MC dropout
    cooperative: Mapping[str, Any] = field(default_factory=dict)  # other arguments of VeBNNRegressor
    joint: Mapping[str, Any] = field(default_factory=dict)  # and of JointRegressor

    def engine(self, name: str) -> Engine:
        """Return an inference engine with these lengths."""
        if name == "ensemble":
            return Ensemble(self.num_members, self.training)
        engine = ENGINES[name].for_budget(Budget(self.training, self.chains, self.elbo))
        return replace(engine, num_samples=self.num_masks) if isinstance(engine, MCDropout) else engine

    def arguments(self, method: Method) -> dict[str, Any]:
        """Return the arguments of a method's estimator."""
        chosen: dict[str, Any] = {"network": self.network}
        if "inference" in method.arguments:
            engine = self.engine(method.arguments["inference"])
            rate = self.dropout_rate if engine.needs_dropout else 0.0
            chosen = {"network": replace(self.network, dropout_rate=rate), "inference": engine}
        if method.strategy == "joint":
            return chosen | {"training": self.training, **self.joint}
        return chosen | {
            "variance_network": self.variance_network,
            "mean_training": self.training,
            "variance_training": self.variance_training,
            **self.cooperative,
        }


_SMALL_TRAINING = Training(num_epochs=20, learning_rate=2e-3, batch_size=32, patience=6)
SMALL = ImagePreset(
    sizes=ImageSizes(num_train=3_000, num_validation=500, num_test=2_000, side=32),
    # Sets with a gap or without tails keep half of the images for training and validation.
    cells=Plan(train=6_000, validation=1_000, test=2_000, size=32),
    # Neither a count nor an angle changes much if an image is shifted by two pixels.
    network=ResNet(8, width=16, head=(32,), stem_stride=2, augmentation=Augmentation(shift=2)),
    variance_network=ResNet(8, width=8, head=(), stem_stride=2, augmentation=Augmentation(shift=2)),
    training=_SMALL_TRAINING,
    variance_training=Training(num_epochs=10, learning_rate=2e-3, batch_size=32, patience=4),
    # Few epochs: with the paper's step size of 1e-3 the chains' noise would be most of the spread.
    chains=MappingProxyType(
        {
            **{"num_samples": 6, "burn_in": 6, "thinning": 1, "num_chains": 3, "batch_size": 32},
            "step_size": 1e-4,
        }
    ),
    elbo=_SMALL_TRAINING,
    num_members=4,
    # Residuals of images the mean was not trained on, from three networks with two thirds of them each.
    cooperative=MappingProxyType({"residuals": "cross_fit", "num_folds": 3, "rounds": 1}),
)
IMAGE_PRESETS = ("small", "paper")


def sizes_of(preset: str) -> ImageSizes:
    """Return how many images a preset uses."""
    require_one_of("preset", preset, IMAGE_PRESETS)
    return SMALL.sizes if preset == "small" else ImageSizes()


def settings_of(preset: str) -> dict[str, str]:
    """Return what the rows of a preset share: rows of other settings are computed again."""
    require_one_of("preset", preset, IMAGE_PRESETS)
    if preset == "paper":
        return {"preset": preset}
    named = {field.name: str(getattr(SMALL, field.name)) for field in fields(SMALL)}
    return {"preset": preset, **named}


def arguments(method: Method, preset: str) -> dict[str, Any]:
    """Return the arguments of a method's estimator in a preset."""
    require_one_of("preset", preset, IMAGE_PRESETS)
    if preset == "small":
        return SMALL.arguments(method)
    settings: Any = presets.paper if method.strategy == "cooperative" else presets.paper_joint
    chosen = settings("images", method.arguments.get("inference"))
    if method.arguments.get("loss") == "evidential":
        # The paper's evidential network has its outputs right behind the residual blocks.
        chosen["network"] = replace(chosen["network"], head=())
    return chosen


def image_methods(names: Sequence[str]) -> list[str]:
    """Return names of methods and members of groups as tables spell them, each once."""
    wanted = [one for name in names for one in GROUPS.get(name.casefold(), (name,))]
    return list(dict.fromkeys(find_method(name).name for name in wanted))
