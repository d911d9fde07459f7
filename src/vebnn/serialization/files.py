"""Files and folders that are whole or absent: written under a temporary name, then renamed."""

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def temporary_name(path: Path) -> Path:
    """Return a new name beside ``path``, to write to before it is renamed."""
    # Not tempfile: its files have mode 0600, and keep it when renamed.
    return path.parent / f".{path.name[:40]}.{uuid4().hex}"


def replace_folder(new: Path, folder: Path) -> None:
    """Put a new folder in the place of another; the old one disappears only after that."""
    if not folder.exists():
        os.replace(new, folder)
        return
    old = temporary_name(folder)
    os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        os.replace(old, folder)
        raise
    shutil.rmtree(old)


def check_target(folder: str | Path, names: Collection[str]) -> None:
    """Check that a folder can be made, or replaced if it holds no other files than ``names``.

    Raises:
      FileExistsError: if it is a file, or holds other files.
      NotADirectoryError: if a file is in the way.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Choose the name of a new folder for the model.")
    if folder.exists() and not {path.name for path in folder.iterdir()} <= set(names):
        raise FileExistsError(f"The folder {folder} holds other files. Choose a new or empty one.")
    if any(parent.exists() and not parent.is_dir() for parent in folder.absolute().parents):
        raise NotADirectoryError(f"A file is in the way of the folder {folder}. Choose another one.")


@contextmanager
def new_folder(folder: str | Path, names: Collection[str]) -> Iterator[Path]:
    """Yield an empty folder to fill; on success it takes the place of ``folder``, as checked first."""
    folder = Path(folder)
    check_target(folder, names)
    temporary = temporary_name(folder)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        replace_folder(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
