"""How methods are trained on the one-dimensional example: with their defaults, or the paper's way."""

from typing import Any

from vebnn import presets
from vebnn.bench.methods import METHODS
from vebnn.bench.results import Row
from vebnn.core.arguments import require_one_of

TOY_PRESETS = ("standard", "paper")


def make_toy_model(name: str, preset: str, seed: int) -> Any:
    """Return a method's estimator, not fitted: with its defaults, or with the paper's settings."""
    require_one_of("preset", preset, TOY_PRESETS)
    method = METHODS[name]
    if preset == "standard":
        return method.make(random_state=seed)
    engine: Any = method.arguments.get("inference")
    settings = presets.paper if method.strategy == "cooperative" else presets.paper_joint
    return method.make(**settings("toy", engine), random_state=seed)


def preset_stamp(preset: str) -> Row:
    """Return what rows of a preset have in their stamp: nothing for the defaults."""
    return {} if preset == "standard" else {"preset": preset}
