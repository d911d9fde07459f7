"""Saved models of tables: the estimator's own files, and two more, in one folder.

``table.json`` says how columns become numbers and describes the training; ``rows.safetensors`` holds
fingerprints of the training rows and a sample of them.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vebnn.serialization.files import check_target, new_folder
from vebnn.serialization.folders import MODEL, TABLE, SavedFolder
from vebnn.tabular.encoder import TableEncoder

if TYPE_CHECKING:
    from vebnn.tabular.model import TableModel

_NAMES = TABLE.names | MODEL.names


def check_can_save(folder: str | Path) -> None:
    """Check the folder of a model to be saved, before anything is trained.

    Raises:
      FileExistsError: if it holds something that is not a saved model, or is a file.
      NotADirectoryError: if a file is in the way.
    """
    check_target(folder, _NAMES)


def save_table_model(model: "TableModel", folder: str | Path) -> None:
    """Write a model to a folder, replacing a saved model that is there.

    Raises:
      FileExistsError: if the folder holds something that is not a saved model.
    """
    facts = asdict(model.facts) | {
        "targets": [one._asdict() for one in model.facts.targets],
        "scores": [one._asdict() for one in model.facts.scores],
    }
    body = {
        "estimator": type(model.estimator).__name__,
        "encoder": model.encoder.describe(),
        "facts": facts,
    }
    rows = {
        "trained_rows": model.trained_rows,
        "sample": model.sample,
        "sample_observed": model.sample_observed,
    }
    with new_folder(folder, _NAMES) as new:
        model.estimator.save(new)
        TABLE.write(new, body, {"rows": rows})


@dataclass(frozen=True)
class SavedTableModel:
    """A saved model whose table files are read and checked; the estimator follows on :meth:`load`.

    Commands look at the encoder first, and complain about rows before the estimator is imported.
    """

    folder: SavedFolder
    body: dict[str, Any]
    rows: dict[str, np.ndarray]

    @classmethod
    def open(cls, path: str | Path) -> "SavedTableModel":
        """Read the table's files.

        Raises:
          ValueError: if there is no model, or its files are damaged, edited or of another version.
        """
        folder = SavedFolder(path)
        body, arrays = TABLE.read(folder)
        return cls(folder, body, arrays["rows"])

    @cached_property
    def encoder(self) -> TableEncoder:
        """How columns become numbers."""
        return TableEncoder.revive(self.body["encoder"])

    def load(self) -> "TableModel":
        """Read the estimator and return the whole model.

        Raises:
          ValueError: if the estimator's files are damaged, or this version does not know it.
        """
        from vebnn.estimators import JointRegressor, VeBNNRegressor
        from vebnn.tabular.model import TableModel, TargetFacts, TrainingFacts
        from vebnn.tabular.scores import TargetScore

        estimators: dict[str, Any] = {kind.__name__: kind for kind in (JointRegressor, VeBNNRegressor)}
        if (kind := self.body["estimator"]) not in estimators:
            raise ValueError(
                f"The model in {self.folder.path} is a {kind}, which this version does not know. "
                f"Upgrade vebnn."
            )
        facts = self.body["facts"]
        facts = facts | {
            "targets": tuple(TargetFacts(**one) for one in facts["targets"]),
            "scores": tuple(TargetScore(**one) for one in facts["scores"]),
            "notices": tuple(facts["notices"]),
        }
        estimator = estimators[kind].load(self.folder)
        return TableModel(self.encoder, estimator, TrainingFacts(**facts), **self.rows)
