"""Steps of predicted sequences, as rows."""

from dataclasses import replace

import numpy as np

from vebnn.prediction.back_transformed import BackTransformed
from vebnn.prediction.components import Components
from vebnn.prediction.prediction import Prediction


def steps_as_rows(
    prediction: Prediction, places: tuple[np.ndarray, np.ndarray], names: tuple[str, ...]
) -> Prediction:
    """Return some steps of sequences, each as a row: ``(rows,)``, or ``(rows, outputs)`` of several.

    Args:
      prediction: of sequences, ``(sequences, time, outputs)``.
      places: the sequence and the step of each row.
      names: of the outputs.
    """
    single = len(names) == 1
    where = (*places, 0) if single else places
    law, freedom = prediction.law, prediction.degrees_of_freedom
    if isinstance(law, BackTransformed):
        law = replace(law, transformed=steps_as_rows(law.transformed, places, names))

    def load_components() -> Components:
        parts = np.broadcast_arrays(*prediction.components)
        return Components(*(part[(slice(None), slice(None), *where)] for part in parts))

    return replace(
        prediction,
        mean=prediction.mean[where],
        aleatoric_variance=prediction.aleatoric_variance[where],
        epistemic_variance=prediction.epistemic_variance[where],
        load_components=load_components,
        target_names=None if single else names,
        degrees_of_freedom=freedom[0] if single and freedom is not None else freedom,
        noise_autocorrelation=None,
        law=law,
    )
