"""Tables of the user's own as data sets: what each predicts, and how its rows are divided."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from vebnn.tabular.errors import TableError, counted, quoted_list
from vebnn.tabular.files import read_table
from vebnn.tabular.plan import TrainingPlan, plan_table
from vebnn.tabular.target_kinds import proposals
from vebnn.tabular.targets import read_targets, rows_with_targets
from vebnn.tabular.time_order import TimeOrder

_READING = "1"  # raise it when the same file gives other inputs or other splits


@dataclass(frozen=True)
class OwnTable:
    """A file of rows, one target, and how rows are held out."""

    path: Path
    target: str
    target_kind: str = "real"
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    group: str | None = None  # rows of one group are held out together
    time: str | None = None  # the latest rows are held out
    hold_out: float = 0.2
    num_splits: int = 1

    @property
    def name(self) -> str:
        """The name of the data set."""
        return f"{self.path.name.split('.')[0]}: {self.target}"

    @cached_property
    def frame(self) -> pandas.DataFrame:
        """All rows of the file."""
        return read_table(self.path, [*self.categorical, *([] if self.group is None else [self.group])])

    @cached_property
    def present(self) -> np.ndarray:
        """Whether each row has the target, ``(rows,)``."""
        return rows_with_targets(read_targets(self.frame, [self.target]), [self.target])

    @cached_property
    def fingerprint(self) -> str:
        """A number of the file's content and of all settings but the number of random splits."""
        settings: dict[str, Any] = asdict(self) | {"path": self.path.name}
        if self.time is None:
            del settings["num_splits"]  # split 3 is the same whatever their number
        content = hashlib.sha256(self.path.read_bytes()).hexdigest()
        text = json.dumps([_READING, content, settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def plan(self, split: int) -> TrainingPlan:
        """Return the rows of a split, encoded as its training rows say.

        Without a time, the split is the seed of a random choice. With one, the latest rows, their share
        being ``hold_out``, are cut into as many blocks as there are splits, and a split predicts its
        block from all earlier rows.
        """
        frame, hold_out = self.frame, self.hold_out
        if self.time is not None:
            frame, hold_out = self._until_block(split)
        return plan_table(
            frame,
            [self.target],
            drop=self.drop,
            categorical=self.categorical,
            group=self.group,
            time=self.time,
            hold_out=hold_out,
            seed=split,
            source=self.path.name,
            target_kinds=[self.target_kind],
        )

    def _until_block(self, split: int) -> tuple[pandas.DataFrame, float]:
        """Return the rows up to the end of a block, and the share of the block in them."""
        frame = self.frame[self.present].reset_index(drop=True)
        times = TimeOrder.read(frame, str(self.time)).times
        latest = int(np.ceil(self.hold_out * len(times)))
        ends = len(times) - latest + np.arange(self.num_splits + 1) * latest / self.num_splits
        borders = np.sort(times)[np.round(ends).astype(int) - 1]
        if (np.diff(borders) <= 0).any():
            raise TableError(
                f"The latest {self.hold_out:.0%} of the rows by {self.time!r} cannot be cut into "
                f"{counted(self.num_splits, 'block')}: too many have the same time. Give fewer "
                f"--splits."
            )
        kept = times <= borders[split + 1]
        share = np.mean(times[kept] > borders[split])
        return frame[kept], float(share)

    def describe(self, plan: TrainingPlan) -> str:
        """Return a line about the data set, and a reason for another kind of target."""
        division = "at random"
        if self.group is not None:
            division = f"in whole groups of {self.group}"
        elif self.time is not None:
            division = f"as the latest by {self.time}"
        rows = counted(int(self.present.sum()), "row")
        inputs = counted(plan.table.matrix.shape[1], "input")
        said = f"{self.name} ({self.target_kind}): {rows}, {inputs}; rows are held out {division}."
        observed = plan.table.observed[plan.trained]
        return " ".join([said, *proposals(observed, [self.target], [self.target_kind])])


def own_tables(
    files: Sequence[Path],
    targets: Sequence[str],
    *,
    target_kinds: Sequence[str] = (),
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    group: str | None = None,
    time: str | None = None,
    hold_out: float = 0.2,
    num_splits: int = 1,
) -> list[OwnTable]:
    """Return the data sets of a command.

    One file may have several targets, and several files the same one; otherwise there is one target for
    each file, in order. The kinds of targets are one for all data sets, or one for each. Columns to
    drop, categories, groups and times count in every file that has them.

    Raises:
      TableError: if the options contradict each other or the files.
    """
    if not files or not targets:
        raise TableError("The benchmark needs at least one --data FILE and one --target COLUMN.")
    if 1 not in (len(files), len(targets)) and len(files) != len(targets):
        raise TableError(
            f"Give one --target for each --data, or one for all. Got {counted(len(files), 'file')} and "
            f"{counted(len(targets), 'target')}."
        )
    number = max(len(files), len(targets))
    files, targets = _each(files, number), _each(targets, number)
    if len(target_kinds) not in (0, 1, number):
        raise TableError(
            f"Give one --target-kind for all data sets, or one for each of the {number}. Got "
            f"{len(target_kinds)}."
        )
    if group is not None and time is not None and number == 1:
        raise TableError("The rows can be divided by --group or by --time. Leave one of them out.")
    kinds = _each(target_kinds or ["real"], number)
    tables = []
    named = {name: False for name in (*drop, *categorical, group, time) if name is not None}
    for path, target, kind in zip(files, targets, kinds, strict=True):
        table = OwnTable(Path(path), target, kind, hold_out=hold_out, num_splits=num_splits)
        there = set(read_table(path).columns)
        # As in vebnn fit, no target is an input of another one.
        others = [other for where, other in zip(files, targets, strict=True) if where == path]
        named |= {name: True for name in named if name in there}
        tables.append(
            replace(
                table,
                drop=tuple(name for name in (*drop, *others) if name in there and name != target),
                categorical=tuple(name for name in categorical if name in there),
                group=group if group in there else None,
                time=time if time in there else None,
            )
        )
    if absent := [name for name, found in named.items() if not found]:
        raise TableError(f"No file has the column {quoted_list(absent)}.")
    names = [table.name for table in tables]
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise TableError(
            f"Two data sets would have the name {quoted_list(repeated)}, that of the file and the "
            f"target. Rename a file."
        )
    return tables


def _each(values: Sequence[Any], number: int) -> list[Any]:
    return list(values) * (number if len(values) == 1 else 1)
