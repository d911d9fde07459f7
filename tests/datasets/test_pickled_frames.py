import os
import pickle
import pickletools
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from vebnn.datasets.pickled_frames import ALLOWED, read_frame


def frame(num_rows: int = 3) -> pandas.DataFrame:
    """A table as the authors of the paper have saved theirs: arrays and numbers in cells."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((5, 2, 2)) for _ in range(num_rows)]
    turned = [np.asfortranarray(one) for one in arrays]
    return (
        pandas.DataFrame(
            {
                "strain": pandas.Series(arrays, dtype=object),
                "path_seed": np.arange(num_rows),
                "stress": pandas.Series(turned, dtype=object),
                "size": np.full(num_rows, 0.048),
                "label": pandas.Series([None] * num_rows, dtype=object),
            }
        )
        .set_axis(
            pandas.Index(["strain", "path_seed", "stress", "size", "label"], dtype=object), axis=1
        )
        .set_axis(pandas.Index(np.arange(num_rows) * 2), axis=0)
    )


def write(path: Path, content: Any, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(content, protocol))
    return path


def global_names(content: bytes) -> set[str]:
    strings, names = [], set()
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name == "GLOBAL":
            names.add(argument.replace(" ", "."))
        elif opcode.name == "STACK_GLOBAL":
            names.add(".".join(strings[-2:]))
        elif isinstance(argument, str):
            strings.append(argument)
    return names


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_table_comes_back(protocol: int, tmp_path: Path) -> None:
    path = write(tmp_path / "frame.pickle", frame(), protocol)
    columns = read_frame(path)
    assert set(columns) == set(frame().columns)
    for name in ("strain", "stress"):
        np.testing.assert_array_equal(np.stack(columns[name]), np.stack(frame()[name]))
    np.testing.assert_array_equal(columns["path_seed"], [0, 1, 2])
    np.testing.assert_array_equal(columns["size"], [0.048] * 3)
    assert list(columns["label"]) == [None] * 3


def test_test_table_names_what_the_original_files_name() -> None:
    # Memoised strings hide some names, but none may be unknown.
    assert global_names(pickle.dumps(frame(), 3)) <= ALLOWED


class Evil:
    """An object whose unpickling runs a command."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def explode() -> None:
    raise AssertionError("this was executed")


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (os.system, ("touch {trace}",), "system"),
        (eval, ("open({trace!r}, 'w')",), "eval"),
        (exec, ("open({trace!r}, 'w')",), "exec"),
        (getattr, (np.ndarray, "__subclasses__"), "getattr"),
        (explode, (), "explode"),
        (np.load, ("{trace}",), "load"),
        (pandas.read_pickle, ("{trace}",), "read_pickle"),
        (np.frombuffer, (b"12345678",), "frombuffer"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_commands_in_a_pickle_are_not_run(
    function: Any, arguments: tuple, name: str, protocol: int, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    filled = [one.format(trace=str(trace)) if isinstance(one, str) else one for one in arguments]
    table = frame()
    table.at[0, "label"] = Evil(function, *filled)
    for content in (Evil(function, *filled), table):
        path = write(tmp_path / "evil.pickle", content, protocol)
        with pytest.raises(ValueError, match=r"asks for .*, which a pickled") as caught:
            read_frame(path)
        assert "nothing in it was executed" in str(caught.value)
        assert protocol == 2 or f"{name}, which" in str(caught.value)
    assert not trace.exists()


def test_allowed_names_are_not_called_either(tmp_path: Path) -> None:
    """An array of objects over bytes would be a pointer of the file's choice: it is never made."""
    wrong = Evil(np.ndarray, (1,), np.dtype("O"), b"\xff" * 8)
    table = frame()
    table.at[0, "label"] = wrong
    path = write(tmp_path / "pointer.pickle", table)
    with pytest.raises(ValueError, match="is damaged or not a pickled pandas table"):
        read_frame(path)


def test_numbers_with_objects_inside_are_refused(tmp_path: Path) -> None:
    content = pickle.dumps(frame(), 4)
    # The same length, another kind: eight-byte numbers become eight-byte pointers.
    assert content.count(b"\x8c\x02f8") == 1
    path = tmp_path / "kind.pickle"
    path.write_bytes(content.replace(b"\x8c\x02f8", b"\x8c\x02O8"))
    with pytest.raises(ValueError, match="is damaged"):
        read_frame(path)
    path.write_bytes(content.replace(b"\x8c\x02f8", b"\x8c\x02V8"))
    with pytest.raises(ValueError, match="is damaged"):
        read_frame(path)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files(share: float, tmp_path: Path) -> None:
    whole = pickle.dumps(frame(), 4)
    path = tmp_path / "half.pickle"
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="is damaged"):
        read_frame(path)


@pytest.mark.parametrize("content", [None, [1, 2], {"strain": 1}, np.zeros(3)])
def test_other_things(content: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a pickled pandas table"):
        read_frame(write(tmp_path / "other.pickle", content))


def test_no_flipped_byte_does_worse_than_a_sentence(tmp_path: Path) -> None:
    whole = pickle.dumps(frame(1), 4)
    rng = np.random.default_rng(0)
    path = tmp_path / "flipped.pickle"
    for _ in range(300):
        content = bytearray(whole)
        content[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(content)
        try:
            read_frame(path)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_missing_file_stays_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_frame(tmp_path / "nothing.pickle")


def doubled(times: int) -> tuple:
    """Return a tuple whose pickle has a few bytes a level, and whose hash takes twice as long."""
    value: tuple = ()
    for _ in range(times):
        value = (value, value)
    return value


class Array:
    """An array whose pickle shares its bytes with others."""

    def __init__(self, content: bytes, dtype: Any) -> None:
        self.state = (1, (len(content) // 8,), dtype, False, content)

    def __reduce__(self) -> Any:
        return (*np.zeros(0).__reduce__()[:2], self.state)


def with_cell(cell: Any) -> bytes:
    table = frame()
    table.at[0, "label"] = cell
    return pickle.dumps(table, 4)


@pytest.mark.parametrize(
    "content",
    [
        b"Nr\xff\xff\xff\x0f.",  # a memo with 2**28 places
        b"\x80\x04\x95\xff\xff\xff\xff\x00\x00\x00\x00N.",  # a frame of 4 GB
        b"\x80\x05\x96\xff\xff\xff\x7f\x00\x00\x00\x00N.",  # 2 GB of bytes
        # A dictionary with such a tuple as its key: hashing that takes 20 s.
        b"\x80\x02}" + pickle.dumps(doubled(32), 2)[2:-1] + b"K\x01s.",
        with_cell(doubled(26)),
        with_cell(Array(bytes(8), Evil(np.dtype, doubled(26)))),
        b"\x80\x04" + b"(" * 200_000 + b"t" * 200_000 + b".",
        b"\x80\x04)" + b"\x85" * 200_000 + b".",
    ],
)
def test_small_files_take_little_time_and_memory(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bomb.pickle").write_bytes(content)
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(ValueError, match="is damaged or not a pickled pandas table"):
        read_frame(tmp_path / "bomb.pickle")
    seconds, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6 + 200 * len(content)
    assert seconds < 0.5 + 5e-5 * len(content)


def test_arrays_that_share_their_numbers_take_no_more_than_the_file(tmp_path: Path) -> None:
    table, content = frame(300), bytes(80_000)
    cells = np.empty(300, object)
    cells[:] = [Array(content, np.dtype("f8"))] * 300
    table["strain"] = cells
    # The same array in many cells is the same array again.
    same = read_frame(write(tmp_path / "same.pickle", table))["strain"]
    assert len({id(cell) for cell in same}) == 1
    np.testing.assert_array_equal(same[0], np.zeros(10_000))
    table["strain"] = [Array(content, np.dtype("f8")) for _ in range(300)]
    path = write(tmp_path / "shared.pickle", table)
    assert path.stat().st_size < 200_000
    with pytest.raises(ValueError, match="is damaged"):
        read_frame(path)
