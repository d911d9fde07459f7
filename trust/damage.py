"""Random changes of files: damage, files of another model, hostile pickles and hostile tables."""

import json
import random
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

# Pickle opcodes that call something, each a complete expression: it can be put between two others.
CALLS = (
    b"cos\nsystem\n(S'true'\ntR0",
    b"c__builtin__\neval\n(S'1'\ntR0",
    b"csubprocess\nPopen\n(S'true'\ntR0",
    b"(S'true'\nios\nsystem\n0",
    b"\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R0",
    b"cpandas\nread_pickle\n(S'/dev/zero'\ntR0",
    b"cnumpy\nones\n(I1000000000000\ntR0",
    b"cbuiltins\nbytearray\n(I10000000000\ntR0",
)
# Opcodes that ask for much: memory, memo or depth.
DEMANDS = (
    b"\x8e" + (1 << 40).to_bytes(8, "little"),  # BINBYTES8
    b"\x96" + (1 << 62).to_bytes(8, "little"),  # BYTEARRAY8
    b"r" + b"\xff\xff\xff\x7f",  # LONG_BINPUT
    b"\x8b" + b"\xff\xff\xff\x7f",  # LONG4
    b"(" * 100_000,  # MARK
    b"]" * 100_000 + b"a" * 99_999 + b"0",
    b"2" * 100_000 + b"0" * 100_000,  # DUP
)
CELLS = (
    *("", "NaN", "inf", "-1e400", "1e308", "9" * 400, "0x10", "1_000", "007", "1,5", "1 000", "−1"),
    *("=1+1", "@SUM(A1)", "'; DROP TABLE rows; --", "<script>alert(1)</script>", "${7*7}", "../../x"),
    *(
        "\x00",
        "1\x0050",
        "\ufeff",
        "\u202e",
        "\U0001f600",
        "a" * 100_000,
        "\r",
        "\n",
        '"',
        '""',
        ",",
        ";",
    ),
    *("\t", "1e-320", "2026-11-18", "12:30", "true", "None", "[1, 2]", '{"a": 1}', "\\N", "#REF!"),
)


def damage(chance: random.Random, content: bytes) -> bytes:
    """Return a content with a random change."""
    place, length = chance.randrange(len(content)), chance.choice((1, 4, 64))
    piece = content[place : place + length]
    before, after = content[:place], content[place + len(piece) :]
    flipped = bytes([piece[0] ^ 1 << chance.randrange(8)]) + piece[1:]
    inside = (flipped, chance.randbytes(length), bytes(length), b"", piece + piece)
    return chance.choice((before, *(before + new + after for new in inside)))


def damage_one(chance: random.Random, folder: Path) -> None:
    """Damage one file of a folder, or delete it."""
    path = chance.choice(sorted(folder.iterdir()))
    if chance.random() < 0.02:
        path.unlink()
    else:
        path.write_bytes(damage(chance, path.read_bytes()))


def swap(other: Path, chance: random.Random, folder: Path) -> None:
    """Put some files of another model in the place of these."""
    names = sorted(path.name for path in folder.iterdir())
    for name in chance.sample(names, chance.randrange(1, len(names))):
        shutil.copy(other / name, folder / name)


def reseal(chance: random.Random, folder: Path) -> None:
    """Change a value of a description, and make all checksums right."""
    from vebnn.serialization.folders import MODEL, TABLE

    sealed = {one.name: json.loads((folder / f"{one.name}.json").read_text()) for one in (TABLE, MODEL)}
    body = sealed[chance.choice(("table", "model"))]
    body = body.get("table", body.get("model"))
    holder, key = chance.choice(list(_holders(body)))
    values = (None, -1, 0, 10**9, 10**400, 1e308, "", "x" * 10_000, [], {}, [5_000_000], True)
    holder[key] = chance.choice(values)
    (folder / "model.json").write_bytes(MODEL.seal(sealed["model"]["model"]))
    sealed["table"]["table"]["model"] = sha256((folder / "model.json").read_bytes()).hexdigest()
    (folder / "table.json").write_bytes(TABLE.seal(sealed["table"]["table"]))
    # It has a checksum of table.json, and would be refused before the changed value is read.
    (folder / "history.json").unlink(missing_ok=True)


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in list(pairs):
        yield value, key
        if isinstance(inside, dict | list):
            yield from _holders(inside)


def arm_pickle(chance: random.Random, folder: Path) -> None:
    """Damage a pickle, or put opcodes between two of its own that call or demand something."""
    import pickletools

    if chance.random() < 0.5:
        damage_one(chance, folder)
        return
    path = folder / "f"
    content = path.read_bytes()
    places = [place for _, _, place in pickletools.genops(content) if place]
    place = chance.choice(places)
    path.write_bytes(content[:place] + chance.choice(CALLS + DEMANDS) + content[place:])


def spoil_table(chance: random.Random, folder: Path) -> None:
    """Damage a file of rows, or put hostile cells, names and rows into the CSV file."""
    if chance.random() < 0.5:
        damage_one(chance, folder)
        return
    path = folder / "t.csv"
    lines = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    for _ in range(chance.choice((1, 3, 30))):
        cells = chance.choice((lines[0], chance.choice(lines)))
        cells[chance.randrange(len(cells))] = chance.choice(CELLS)
    longer = chance.choice(lines)
    longer += chance.choice(([], [], ["1"], ["1"] * 1_000))
    text = "\n".join(",".join(cells) for cells in lines) + "\n"
    path.write_bytes(text.encode(chance.choice(("utf-8", "utf-8", "utf-16", "utf-8-sig"))))
