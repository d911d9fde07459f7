"""Folders that describe themselves: whole or refused, each file read and hashed once."""

import json
import os
from collections import Counter
from hashlib import sha256
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from vebnn.serialization import folders
from vebnn.serialization.files import new_folder
from vebnn.serialization.folders import MODEL, TABLE, SavedFolder

NAMES = MODEL.names
BODY = {"kind": "test", "numbers": [1, 2.5, None]}
ARRAYS = {"draws/0": np.arange(4.0)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with new_folder(tmp_path / "saved", NAMES) as new:
        MODEL.write(new, BODY, {"weights": ARRAYS})
    return tmp_path / "saved"


def test_what_is_written_is_read(folder: Path) -> None:
    body, arrays = MODEL.read(folder)
    assert body.items() >= BODY.items()
    np.testing.assert_array_equal(arrays["weights"]["draws/0"], ARRAYS["draws/0"])
    assert {path.name for path in folder.iterdir()} == NAMES
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]


def test_two_formats_in_one_folder_read_and_hash_each_file_once(folder: Path, monkeypatch) -> None:
    TABLE.write(folder, BODY, {"rows": {"sample": np.zeros(2)}})
    contents = {path.read_bytes(): path.name for path in folder.iterdir()}
    reads, hashes = Counter(), Counter()
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.update([self.name]) or read_bytes(self))
    monkeypatch.setattr(
        folders, "sha256", lambda content: hashes.update([contents.get(content)]) or sha256(content)
    )
    saved = SavedFolder(folder)
    assert TABLE.read(saved)[1].keys() == {"rows"}
    assert MODEL.read(saved)[1].keys() == {"weights"}
    assert reads == dict.fromkeys(contents.values(), 1)
    # The checksum of a description covers its body; that of every other file is its digest.
    assert hashes.pop(None) == 2
    assert hashes == dict.fromkeys({"rows.safetensors", "model.json", "weights.safetensors"}, 1)


def test_exchanged_models_are_refused(folder: Path) -> None:
    TABLE.write(folder, BODY, {"rows": {}})
    MODEL.write(folder, BODY | {"kind": "other"}, {"weights": ARRAYS})
    assert MODEL.read(folder)[0]["kind"] == "other"
    with pytest.raises(ValueError, match=r"model.json is missing, truncated or was edited; fit the"):
        TABLE.read(folder)


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("damage", [lambda whole: whole[:-20], lambda whole: b"", None])
def test_damaged_files_are_refused(folder: Path, name: str, damage) -> None:
    path = folder / name
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"{name} is missing"):
        MODEL.read(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"3",
        b"\xff",
        b'{"format": 4}',
        b'{"format": 4, "checksum": "x", "model": []}',
        b'{"format": 4, "checksum": "x", "model": ' + 100_000 * b"[" + 100_000 * b"]" + b"}",
    ],
)
def test_descriptions_that_are_none_are_refused(folder: Path, content: bytes) -> None:
    (folder / "model.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"model.json is missing, truncated or was edited"):
        MODEL.read(folder)


def test_sealed_files_that_are_no_arrays_are_refused(folder: Path) -> None:
    weights = folder / "weights.safetensors"
    weights.write_bytes(b"not safetensors")
    body = json.loads((folder / "model.json").read_bytes())["model"]
    body["weights"] = sha256(weights.read_bytes()).hexdigest()
    (folder / "model.json").write_bytes(MODEL.seal(body))
    with pytest.raises(ValueError, match=r"weights.safetensors is missing, truncated or was edited"):
        MODEL.read(folder)


def test_versions(folder: Path) -> None:
    body = MODEL.read(folder)[0]
    for version in range(MODEL.oldest, MODEL.version + 1):
        (folder / "model.json").write_bytes(MODEL.seal(body, version))
        assert MODEL.read(folder)[0] == body
    for version in (1, 6, "5", None):
        sealed = json.loads(MODEL.seal(body)) | {"format": version}
        (folder / "model.json").write_text(json.dumps(sealed))
        with pytest.raises(ValueError, match=f"has format {version}; .* reads formats 2 to 5. Upgrade"):
            MODEL.read(folder)


def test_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no model of a table in .*table.json is missing"):
        TABLE.read(tmp_path)


def write_other(folder: Path, before_the_end) -> None:
    """Begin to replace a saved folder."""
    with new_folder(folder, NAMES) as new:
        MODEL.write(new, BODY | {"kind": "other"}, {"weights": ARRAYS})
        before_the_end()


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("when", ["writing", "swapping"])
def test_a_failure_leaves_the_old_folder(folder: Path, failure, when, monkeypatch) -> None:
    before, replace, fail = MODEL.read(folder)[0], os.replace, Mock(side_effect=failure("denied"))

    def swap(source: Path, target: Path) -> None:
        if target == folder and not fail.called:
            fail()
        replace(source, target)

    def prepare() -> None:
        monkeypatch.setattr("vebnn.serialization.files.exchange", lambda first, second: False)
        monkeypatch.setattr("vebnn.serialization.files.os.replace", swap)

    with pytest.raises(failure, match="denied"):
        write_other(folder, prepare if when == "swapping" else fail)
    assert fail.called
    assert MODEL.read(folder)[0] == before
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]


def test_targets_that_cannot_be_written(folder: Path) -> None:
    (folder / "thesis.tex").write_text("years of work")
    targets = {
        folder: (FileExistsError, "holds other files"),
        folder / "thesis.tex": (FileExistsError, "is a file"),
        folder / "thesis.tex" / "deeper" / "model": (NotADirectoryError, "A file is in the way"),
    }
    for target, (kind, sentence) in targets.items():
        with pytest.raises(kind, match=sentence), new_folder(target, NAMES):
            pass
    assert (folder / "thesis.tex").read_text() == "years of work"
