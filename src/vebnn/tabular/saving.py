"""Saved models of tables: the estimator's own files, and two more, in one folder.

``table.json`` says how columns become numbers and what the training was like; ``rows.safetensors``
holds fingerprints of the training rows and a sample of them. Both have checksums; neither holds code.
"""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vebnn.estimators import JointRegressor, VeBNNRegressor
from vebnn.serialization.files import (
    read_arrays,
    replace_folder,
    temporary_name,
    write_arrays,
    write_bytes,
)
from vebnn.serialization.sealed import digest
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.folders import (
    DESCRIPTION,
    ROWS,
    check_can_save,
    read_description,
    write_description,
)
from vebnn.tabular.model import TableModel, TargetFacts, TrainingFacts
from vebnn.tabular.scores import TargetScore

_ESTIMATORS = {kind.__name__: kind for kind in (JointRegressor, VeBNNRegressor)}


def save_table_model(model: TableModel, folder: str | Path) -> None:
    """Write a model to a folder, replacing a saved model that is there.

    Raises:
      FileExistsError: if the folder holds something that is not a saved model.
    """
    folder = Path(folder)
    check_can_save(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(folder)
    try:
        model.estimator.save(temporary)
        arrays = {
            "trained_rows": model.trained_rows,
            "sample": model.sample,
            "sample_observed": model.sample_observed,
        }
        write_arrays(temporary / ROWS, arrays, {})
        facts = asdict(model.facts) | {
            "targets": [one._asdict() for one in model.facts.targets],
            "scores": [one._asdict() for one in model.facts.scores],
        }
        body = {
            "estimator": type(model.estimator).__name__,
            "encoder": model.encoder.describe(),
            "facts": facts,
            "rows": digest((temporary / ROWS).read_bytes()),
            "model": digest((temporary / "model.json").read_bytes()),
        }
        write_bytes(temporary / DESCRIPTION, write_description(body))
        replace_folder(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load_table_model(folder: str | Path) -> TableModel:
    """Read a saved model.

    Raises:
      ValueError: if there is none, or its files are damaged, edited or of another version.
    """
    folder = Path(folder)
    body = read_description(folder)
    if body["estimator"] not in _ESTIMATORS:
        raise ValueError(
            f"The model in {folder} is a {body['estimator']}, which this version does not know. "
            f"Upgrade vebnn."
        )
    arrays, _ = read_arrays(folder / ROWS)
    return TableModel(
        encoder=TableEncoder.from_description(body["encoder"]),
        estimator=_ESTIMATORS[body["estimator"]].load(folder),
        facts=_facts(body["facts"]),
        **arrays,
    )


def _facts(description: dict[str, Any]) -> TrainingFacts:
    return TrainingFacts(
        **description
        | {
            "targets": tuple(TargetFacts(**one) for one in description["targets"]),
            "scores": tuple(TargetScore(**one) for one in description["scores"]),
            "notices": tuple(description["notices"]),
        }
    )
