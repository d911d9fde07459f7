"""The folder of an interrupted fit: one file per stage of the training."""

from dataclasses import dataclass
from pathlib import Path

from vebnn.serialization.files import remove_strays

_SUFFIX = ".stage.safetensors"


@dataclass(frozen=True)
class CheckpointFolder:
    """A folder of checkpoints. As ``checkpoint=`` of an estimator, they outlive the fit.

    Whoever makes it deletes them, after the model is saved.
    """

    folder: Path

    def __fspath__(self) -> str:
        return str(self.folder)

    def __str__(self) -> str:
        return str(self.folder)

    def path(self, stage: str) -> Path:
        """Return the file of a stage."""
        name = "".join(letter if letter.isalnum() else "-" for letter in stage.lower())
        return self.folder / f"{name}{_SUFFIX}"

    def exists(self) -> bool:
        """Return whether there is something to resume; delete what killed processes have left."""
        for path in self.folder.glob(f".*{_SUFFIX}.*"):
            remove_strays(path.with_name(path.name[1:].rpartition(".")[0]))
        self._delete_if_empty()
        return self.folder.exists()

    def delete(self) -> None:
        """Delete the checkpoints, and the folder if nothing else is in it."""
        for path in self.folder.glob(f"*{_SUFFIX}"):
            path.unlink()
        self._delete_if_empty()

    def _delete_if_empty(self) -> None:
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()
