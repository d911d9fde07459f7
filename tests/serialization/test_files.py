"""Files and folders are whole or absent, also after a kill, through links and for readers meanwhile."""

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from vebnn.serialization import files
from vebnn.serialization.checkpoints import CheckpointFolder
from vebnn.serialization.files import check_target, new_folder, temporary, write_bytes
from vebnn.serialization.folders import MODEL

NAMES = MODEL.names


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def save(folder: Path, kind: str) -> None:
    with new_folder(folder, NAMES) as new:
        MODEL.write(new, {"kind": kind}, {"weights": {}})


@pytest.fixture(params=["exchange", "two renames"])
def swap(request, monkeypatch) -> None:
    """Both ways to replace a folder: systems differ."""
    if request.param == "two renames":
        monkeypatch.setattr(files, "exchange", lambda first, second: False)


def test_a_folder_is_replaced(swap, tmp_path: Path) -> None:
    save(tmp_path / "model", "old")
    save(tmp_path / "model", "new")
    assert MODEL.read(tmp_path / "model")[0]["kind"] == "new"
    assert names_in(tmp_path) == ["model"]


@pytest.mark.parametrize("dead", [False, True])
def test_a_link_to_a_model_stays_a_link(swap, dead: bool, tmp_path: Path) -> None:
    save(tmp_path / "model", "old")
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link"
    link.symlink_to(tmp_path / ("nothing" if dead else "model"), target_is_directory=True)
    if dead:
        for target in (link, link / "deeper" / "model"):
            with pytest.raises(FileNotFoundError, match=r"link is a link to .*nothing, which does not"):
                check_target(target, NAMES)
    else:
        save(link, "new")
        assert MODEL.read(tmp_path / "model")[0]["kind"] == "new"
    assert link.is_symlink()
    assert names_in(tmp_path) == ["links", "model"]
    assert names_in(tmp_path / "links") == ["link"]


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_bytes(tmp_path / "link", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert (tmp_path / "link").is_symlink()


def test_folders_that_cannot_be_replaced(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileExistsError, match="is the working folder, which cannot be replaced"):
        check_target(".", NAMES)
    (tmp_path / "volume").mkdir()
    monkeypatch.setattr("os.path.ismount", lambda path: Path(path).name == "volume")
    with pytest.raises(FileExistsError, match="is a mount point, which cannot be replaced"):
        check_target("volume", NAMES)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that nobody can write to")
def test_folders_that_cannot_be_written() -> None:
    with pytest.raises(OSError, match="/proc/models/mine") as caught:
        check_target("/proc/models/mine", NAMES)
    assert caught.value.filename == "/proc/models/mine"


def test_the_check_makes_nothing(tmp_path: Path) -> None:
    check_target(tmp_path / "deep" / "model", NAMES)
    assert names_in(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from vebnn.serialization.files import temporary
path, make = Path(sys.argv[1]), getattr(Path, sys.argv[2])
with temporary(path, make) as new:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_writer(path: Path, make: str) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), make], check=False)
    assert killed.returncode == -signal.SIGKILL


def test_what_a_killed_writer_left_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".model.notes").write_text("not ours")
    kill_a_writer(tmp_path / "model", "mkdir")
    kill_a_writer(tmp_path / "file", "touch")
    assert len(names_in(tmp_path)) == 3
    with temporary(tmp_path / "model", Path.mkdir) as alive:
        save(tmp_path / "model", "new")
        assert alive.exists()
    write_bytes(tmp_path / "file", b"")
    assert names_in(tmp_path) == [".model.notes", "file", "model"]


def test_a_killed_write_of_a_checkpoint_blocks_nothing(tmp_path: Path) -> None:
    checkpoints = CheckpointFolder(tmp_path / "c")
    checkpoints.folder.mkdir()
    kill_a_writer(checkpoints.path("Step 1"), "touch")
    assert len(names_in(checkpoints.folder)) == 1
    assert not checkpoints.exists()
    assert names_in(tmp_path) == []


def test_a_temporary_file_taken_for_a_stray_is_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(new: Path) -> None:
        made.append(new)
        if len(made) > 1:  # the first one is deleted before it can be locked
            new.touch()

    with temporary(tmp_path / "file", make) as new:
        assert new == made[1]
    assert len(made) == 2
    assert names_in(tmp_path) == []


def test_a_reader_never_sees_no_model_or_a_mixture(tmp_path: Path) -> None:
    if not files.exchange(*(Path(tmp_path / name).mkdir() or tmp_path / name for name in "ab")):
        pytest.skip("This file system cannot exchange two names.")
    folder, stop = tmp_path / "model", threading.Event()
    save(folder, "first")

    def keep_saving() -> None:
        while not stop.is_set():
            save(folder, "next")

    writer = threading.Thread(target=keep_saving)
    writer.start()
    try:
        for _ in range(300):
            MODEL.read(folder)
    finally:
        stop.set()
        writer.join()


def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch) -> None:
    def full(*_) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space") as caught:
        write_bytes(tmp_path / "file", b"content")
    assert caught.value.filename == str(tmp_path / "file")
    with pytest.raises(OSError, match="No space") as caught:
        save(tmp_path / "model", "new")
    assert caught.value.filename == str(tmp_path / "model")
    assert names_in(tmp_path) == []
