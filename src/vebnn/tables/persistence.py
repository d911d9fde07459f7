"""Saved models of tables: the estimator's own files, and two more, in one folder.

``table.json`` says how columns become numbers and what the training was like; ``rows.safetensors``
holds fingerprints of the training rows and a sample of them. Both have checksums; neither holds code.
"""

import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vebnn.estimators import VeBNNRegressor
from vebnn.files import read_arrays, replace_folder, temporary_name, write_arrays, write_bytes
from vebnn.tables.encoder import TableEncoder
from vebnn.tables.model import TableModel, TargetFacts, TrainingFacts
from vebnn.tables.scores import TargetScore

FORMAT = 1
_DESCRIPTION, _ROWS = "table.json", "rows.safetensors"
_FILES = {_DESCRIPTION, _ROWS, "model.json", "weights.safetensors"}
_ESTIMATORS = {kind.__name__: kind for kind in (VeBNNRegressor,)}


def check_can_save(folder: str | Path) -> None:
    """Complain about the folder of a model to be saved, before anything is trained.

    Raises:
      FileExistsError: if it holds something that is not a saved model, or is a file.
      PermissionError: if it cannot be written.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Choose the name of a new folder for the model.")
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if not there <= _FILES:
        raise FileExistsError(f"The folder {folder} holds other files. Choose a new or empty one.")
    if any(parent.exists() and not parent.is_dir() for parent in folder.absolute().parents):
        raise NotADirectoryError(f"A file is in the way of the folder {folder}. Choose another one.")


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
        write_arrays(temporary / _ROWS, arrays, {})
        body = {
            "estimator": type(model.estimator).__name__,
            "encoder": model.encoder.describe(),
            "facts": asdict(model.facts)
            | {
                "targets": [one._asdict() for one in model.facts.targets],
                "scores": [one._asdict() for one in model.facts.scores],
            },
            "rows": _digest((temporary / _ROWS).read_bytes()),
            "model": _digest((temporary / "model.json").read_bytes()),
        }
        description = {"format": FORMAT, "checksum": _digest(_canonical(body)), "table": body}
        write_bytes(temporary / _DESCRIPTION, json.dumps(description, indent=2).encode())
        replace_folder(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load_table_model(folder: str | Path) -> TableModel:
    """Read a saved model.

    Raises:
      ValueError: if there is none, or its files are damaged, edited or of another version.
    """
    folder = Path(folder)
    body = _read_description(folder)
    for name, wanted in ((_ROWS, body["rows"]), ("model.json", body["model"])):
        path = folder / name
        if not path.exists() or _digest(path.read_bytes()) != wanted:
            raise ValueError(
                f"The file {path} is missing, truncated or was edited. Fit the model again."
            )
    if body["estimator"] not in _ESTIMATORS:
        raise ValueError(
            f"The model in {folder} is a {body['estimator']}, which this version does not know. "
            f"Upgrade vebnn."
        )
    arrays, _ = read_arrays(folder / _ROWS)
    return TableModel(
        encoder=TableEncoder.revive(body["encoder"]),
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


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / _DESCRIPTION
    if not path.is_file():
        raise ValueError(
            f"There is no model of a table in {folder}: {_DESCRIPTION} is missing. Make one with "
            f"vebnn fit."
        )
    try:
        description = json.loads(path.read_bytes())
        version, body = description["format"], description["table"]
        whole = description["checksum"] == _digest(_canonical(body))
    except (ValueError, KeyError, TypeError):
        whole, version = False, FORMAT
    if version != FORMAT:
        raise ValueError(
            f"The model in {folder} has format {version}; this version reads format {FORMAT}. Upgrade "
            f"vebnn or fit the model again."
        )
    if not whole:
        raise ValueError(f"The file {path} is truncated or was edited. Fit the model again.")
    return body


def _canonical(body: dict) -> bytes:
    return json.dumps(body, sort_keys=True).encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
