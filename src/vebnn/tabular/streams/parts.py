"""One output file from finished blocks, which wait in a folder beside it until all are there."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas

from vebnn.serialization.files import naming, temporary, write_bytes
from vebnn.tabular.files import to_bytes
from vebnn.tabular.notices import as_json, from_json
from vebnn.tabular.streams.blocks import SEPARATORS

_WORK = "work.json"


class Parts:
    """The finished blocks of an output file; those of an interrupted run count, if it was the same."""

    def __init__(self, out: Path, fingerprint: str) -> None:
        self.out, self._kind = out, out.suffix.lower()
        self._folder = out.with_name(f"{out.name}.parts")
        self._fingerprint = fingerprint

    def open(self) -> int:
        """Make the folder; return how many blocks an interrupted run has finished."""
        work, same = self._folder / _WORK, {"fingerprint": self._fingerprint}
        if work.exists() and json.loads(work.read_text()) != same:
            shutil.rmtree(self._folder)
        if not work.exists():
            write_bytes(work, json.dumps(same).encode())
        number = 0
        while self._notices(number).exists():
            number += 1
        return number

    def add(self, number: int, table: pandas.DataFrame, notices: Sequence[str]) -> None:
        """Keep a finished block; its notices are written last, and mark it as finished."""
        header = {"header": number == 0} if self._kind in SEPARATORS else {}
        write_bytes(self._part(number), to_bytes(table, self._kind, **header))
        write_bytes(self._notices(number), json.dumps(as_json(notices)).encode())

    def join(self, count: int) -> list[str]:
        """Write the output file, delete the blocks, and return their notices."""
        parts = [self._part(number) for number in range(count)]
        notices = [
            notice
            for number in range(count)
            for notice in from_json(json.loads(self._notices(number).read_text()))
        ]
        join: Callable[[list[Path], Path], None] = _concatenate
        if self._kind not in SEPARATORS:
            join = _join_parquet
        with naming(self.out), temporary(self.out, lambda new: new.touch(exist_ok=False)) as new:
            join(parts, new)
            os.replace(new, os.path.realpath(self.out))
        shutil.rmtree(self._folder)
        return notices

    def _part(self, number: int) -> Path:
        return self._folder / f"{number:08d}{self._kind}"

    def _notices(self, number: int) -> Path:
        return self._folder / f"{number:08d}.json"


def _concatenate(parts: list[Path], new: Path) -> None:
    with open(new, "wb") as target:
        for part in parts:
            with open(part, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)


def _join_parquet(parts: list[Path], new: Path) -> None:
    """Write a row group per part; a column of whole numbers with gaps in some parts becomes floats."""
    import pyarrow
    from pyarrow import parquet

    schemas = [parquet.read_schema(part) for part in parts]
    schema: Any = pyarrow.unify_schemas(
        [one.remove_metadata() for one in schemas], promote_options="permissive"
    )
    with parquet.ParquetWriter(new, schema) as writer:
        for part in parts:
            writer.write_table(parquet.read_table(part).cast(schema))
