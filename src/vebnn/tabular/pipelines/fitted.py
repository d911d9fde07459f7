"""A fitted pipeline that answers as the estimator of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vebnn.serialization.folders import PIPELINE, SavedFolder
from vebnn.tabular.pipelines.encoder import PipelineEncoder

if TYPE_CHECKING:
    from vebnn.estimators import Explanation
    from vebnn.prediction import Prediction


@dataclass(frozen=True)
class FittedPipeline:
    """A composition that takes encoded rows; its training is that of the estimator inside."""

    composition: Any
    estimator: Any  # the one inside
    encoder: PipelineEncoder
    sample: np.ndarray = field(repr=False)  # some training rows, encoded

    # Corrections are applied inside, in units that a transformer of targets may have changed.
    calibration_ = None

    @property
    def fitted_(self) -> Any:
        """Networks and chains."""
        return self.estimator.fitted_

    @property
    def diagnostics_(self) -> Any:
        """Whether the chains agree."""
        return self.estimator.diagnostics_

    @property
    def target_kinds_(self) -> Any:
        """The kinds of the targets."""
        return self.estimator.target_kinds_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the estimator inside."""
        params: dict[str, Any] = self.estimator.get_params(deep=deep)
        return params

    def predict_distribution(self, rows: Any, *, y_std: Any = None) -> "Prediction":
        """Return the predictive distribution of encoded rows, in the units of y."""
        from vebnn.estimators import predict_distribution

        found = predict_distribution(self.composition, self.encoder.given(rows), y_std=y_std)
        return replace(found, target_names=self.encoder.targets)

    def explain(
        self, rows: Any, background: Any = None, *, groups: Mapping[str, Sequence[int]]
    ) -> "Explanation":
        """Return what each column adds to mean, noise and ignorance of encoded rows."""
        from vebnn.estimators.explanations.explain import explain_function, some_background

        others = self.sample if background is None else np.asarray(background, float)
        return explain_function(
            self.predict_distribution,
            np.asarray(rows, float),
            some_background(others) if background is None else others,
            groups,
            target_names=self.encoder.targets,
            index=getattr(rows, "index", None),
        )


def read_composition(folder: SavedFolder, estimator: Any, trusted: Sequence[str] = ()) -> Any:
    """Return the composition of a saved pipeline, with its estimator.

    Raises:
      ValueError: if there is none, or if it is damaged or asks for types that are not trusted.
    """
    from vebnn.estimators.compositions import from_bytes

    PIPELINE.read(folder)  # checks its files
    name = PIPELINE.files["composition"]
    return from_bytes(folder.read(name) or b"", folder.path / name, estimator, trusted)
