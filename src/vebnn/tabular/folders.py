"""The folder of a saved model of a table: what may be there, before anything is loaded or trained."""

from pathlib import Path
from typing import Any

from vebnn.serialization.sealed import digest, seal, unseal

FORMAT = 2
_OLDEST_FORMAT = 1  # knew of no calibration
DESCRIPTION, ROWS = "table.json", "rows.safetensors"
_FILES = {DESCRIPTION, ROWS, "model.json", "weights.safetensors"}


def check_can_save(folder: str | Path) -> None:
    """Complain about the folder of a model to be saved, before anything is trained.

    Raises:
      FileExistsError: if it holds something that is not a saved model, or is a file.
      NotADirectoryError: if a file is in the way.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Choose the name of a new folder for the model.")
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if not there <= _FILES:
        raise FileExistsError(f"The folder {folder} holds other files. Choose a new or empty one.")
    if any(parent.exists() and not parent.is_dir() for parent in folder.absolute().parents):
        raise NotADirectoryError(f"A file is in the way of the folder {folder}. Choose another one.")


def write_description(body: dict[str, Any]) -> bytes:
    """Return the content of the description, with a checksum."""
    return seal("table", body, FORMAT)


def read_description(folder: str | Path) -> dict[str, Any]:
    """Return what a saved model says of itself.

    Raises:
      ValueError: if there is none, or its files are damaged, edited or of another version.
    """
    folder = Path(folder)
    path = folder / DESCRIPTION
    if not path.is_file():
        raise ValueError(
            f"There is no model of a table in {folder}: {DESCRIPTION} is missing. Make one with "
            f"vebnn fit."
        )
    body = unseal(path, "table", FORMAT, again="fit the model again", oldest=_OLDEST_FORMAT)
    for name, wanted in ((ROWS, body["rows"]), ("model.json", body["model"])):
        path = folder / name
        if not path.exists() or digest(path.read_bytes()) != wanted:
            raise ValueError(f"The file {path} is missing or was changed. Fit the model again.")
    return body
