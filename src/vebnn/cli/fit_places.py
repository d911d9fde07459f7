"""Where the model of a fit and its checkpoint go, and what is said after an interruption."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vebnn.cli.groups import Interrupted

if TYPE_CHECKING:
    from vebnn.serialization.checkpoints import CheckpointFolder


def model_folder(data: Path, out: Path | None, *, resume: bool) -> "tuple[Path, CheckpointFolder]":
    """Return the folders of the model and of its checkpoint, after a check.

    Raises:
      ValueError: if there is an interrupted fit that is not to be resumed.
    """
    from vebnn.serialization.checkpoints import CheckpointFolder
    from vebnn.tabular.saving import check_can_save

    folder = out or data.with_name(f"{data.name.split('.')[0]}.model")
    check_can_save(folder)
    checkpoint = CheckpointFolder(folder.with_name(f"{folder.name}.checkpoint"))
    if checkpoint.exists() and not resume:
        raise ValueError(
            f"There is an interrupted fit in {checkpoint}. Add --resume to continue it, or delete it."
        )
    return folder, checkpoint


@contextmanager
def resumable(checkpoint: "CheckpointFolder") -> Iterator[None]:
    """Say how to resume after Ctrl-C, or after a failure to write such as a full disk."""
    resume = f"The work so far is in {checkpoint}; rerun the same command with --resume."
    try:
        yield
    except KeyboardInterrupt:
        way_out = resume if checkpoint.exists() else "Rerun the same command."
        raise Interrupted(f"Interrupted. {way_out}") from None
    except OSError as error:
        if not checkpoint.exists():
            raise
        reason = f"{error.strerror}: {error.filename}." if error.filename else str(error)
        raise OSError(f"{reason} {resume}") from error
