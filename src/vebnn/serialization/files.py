"""Files and folders that are whole or absent: written under a temporary name, then renamed.

A temporary file is locked by its writer. One without a lock was left by a process that was killed, and
the next writer deletes it.
"""

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from vebnn.serialization.exchange import exchange
from vebnn.serialization.locks import has_no_owner, locked


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part.

    A symbolic link stays, and the file that it points to is written.
    """
    path = Path(os.path.realpath(path))
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary(path, lambda new: new.touch(exist_ok=False)) as new:
            new.write_bytes(content)
            os.replace(new, path)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of a file to the system's errors that have none, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def temporary(path: Path, make: Callable[[Path], Any]) -> Iterator[Path]:
    """Yield a new name beside ``path``, made as a file or folder; delete what has it at the end."""
    remove_strays(path)
    with ExitStack() as stack:
        while True:
            new = _new_name(path)
            make(new)
            stack.callback(_delete, new)
            with suppress(FileNotFoundError):
                stack.enter_context(locked(new))
            # Before it was locked, another process may have taken it for a stray: make it again.
            if new.exists():
                break
        yield new


def remove_strays(path: Path) -> None:
    """Delete temporary files and folders of ``path`` whose writer has ended."""
    if not path.parent.is_dir():
        return
    for other in path.parent.iterdir():
        rest = other.name.removeprefix(_prefix(path))
        if rest != other.name and re.fullmatch("[0-9a-f]{32}", rest) and has_no_owner(other):
            _delete(other)


def _prefix(path: Path) -> str:
    return f".{path.name[:40]}."


def _new_name(path: Path) -> Path:
    # Not tempfile: its files have mode 0600, and keep it when renamed.
    return path.parent / f"{_prefix(path)}{uuid4().hex}"


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def replace_folder(new: Path, folder: Path) -> None:
    """Put a new folder in the place of another, which then has the name of the new one.

    This is one step for a reader where the system can exchange two names; elsewhere there is no
    folder for a moment.
    """
    if not folder.exists():
        os.replace(new, folder)
    elif not exchange(new, folder):
        old = _new_name(folder)
        with locked(folder):
            os.replace(folder, old)
            try:
                os.replace(new, folder)
            except BaseException:
                os.replace(old, folder)
                raise
        _delete(old)


def check_target(folder: str | Path, names: Collection[str]) -> Path:
    """Check that a folder can be made, or replaced if it holds no other files than ``names``.

    Returns the folder itself if the name is a symbolic link.

    Raises:
      FileExistsError: if it is a file, holds other files, or cannot be replaced.
      FileNotFoundError: if a symbolic link leads nowhere.
      NotADirectoryError: if a file is in the way.
      OSError: if the system does not let this process write there.
    """
    folder = Path(folder).absolute()
    for link in (folder, *folder.parents):
        if link.is_symlink() and not link.exists():
            raise FileNotFoundError(
                f"{link} is a link to {os.readlink(link)}, which does not exist. Delete the link, or "
                f"choose another folder."
            )
    folder = Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file. Choose the name of a new folder for the model.")
    if folder.exists() and not {path.name for path in folder.iterdir()} <= set(names):
        raise FileExistsError(f"The folder {folder} holds other files. Choose a new or empty one.")
    if os.path.ismount(folder) or Path.cwd().is_relative_to(folder):
        kind = "a mount point" if os.path.ismount(folder) else "the working folder"
        raise FileExistsError(
            f"The folder {folder} is {kind}, which cannot be replaced. Choose a folder inside it."
        )
    if any(parent.exists() and not parent.is_dir() for parent in folder.parents):
        raise NotADirectoryError(f"A file is in the way of the folder {folder}. Choose another one.")
    _try_to_write(folder)
    return folder


def _try_to_write(folder: Path) -> None:
    parent = next(parent for parent in folder.parents if parent.exists())
    try:
        with temporary(parent / folder.name, Path.mkdir):
            pass
    except OSError as error:
        error.filename = str(folder)
        raise


@contextmanager
def new_folder(folder: str | Path, names: Collection[str]) -> Iterator[Path]:
    """Yield an empty folder to fill; on success it takes the place of ``folder``, as checked first."""
    folder = check_target(folder, names)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary(folder, Path.mkdir) as new:
        try:
            yield new
            replace_folder(new, folder)
        except OSError as error:
            # The temporary name means nothing to the user.
            if error.filename is not None and Path(error.filename).is_relative_to(new):
                error.filename, error.filename2 = str(folder), None
            raise
