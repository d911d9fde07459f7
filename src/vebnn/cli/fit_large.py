"""``vebnn fit`` of a table that memory cannot hold."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from vebnn.cli.fit_output import print_columns, print_result
from vebnn.cli.fit_places import model_folder, resumable
from vebnn.cli.tables import print_json, print_notices

LARGE = 4_000_000  # rows


def is_large(data: Path) -> bool:
    """Return whether a file has so many rows that it is fitted from a mapped file."""
    from vebnn.tabular.streams.blocks import STREAMED, RowFile

    if not any(suffix in STREAMED for suffix in map(str.lower, data.suffixes)):
        return False
    return RowFile(data).exceeds(LARGE)


def fit_large(
    data: Path,
    options: Mapping[str, Any],
    *,
    out: Path | None,
    work_folder: Path | None,
    effort: str,
    hold_out: float,
    calibrate: str | None,
    seed: int,
    resume: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Read a table twice, train on the encoded rows, score, and save the model.

    Args:
      data: the file.
      options: those of :class:`~vebnn.tabular.mapped.learning.LargeTable`.
      work_folder: for the encoded rows.

    The others are options of ``vebnn fit``.
    """
    from vebnn.tabular.mapped.division import StreamDivision
    from vebnn.tabular.mapped.effort import mapped_estimator
    from vebnn.tabular.mapped.encoding import RowsFolder
    from vebnn.tabular.mapped.fitting import fingerprint, fit_large_table
    from vebnn.tabular.mapped.learning import LargeTable, learn_table
    from vebnn.tabular.plan import check_options
    from vebnn.tabular.streams.blocks import RowFile
    from vebnn.tabular.streams.progress import StreamProgress
    from vebnn.tabular.targets import read_targets

    started, console = time.perf_counter(), Console(quiet=as_json)
    check_options(hold_out, seed, options["max_categories"], calibrate)
    table = LargeTable(RowFile(data), **{name: _frozen(value) for name, value in options.items()})
    folder, checkpoint = model_folder(data, out, resume=resume or dry_run)
    rows_folder = RowsFolder(work_folder or folder.with_name(f"{folder.name}.rows"))
    rows_folder.check()
    total = table.file.count_rows()
    division = StreamDivision.of(total, hold_out, seed, calibrate=calibrate is not None)
    with StreamProgress(console) as progress:
        learned = learn_table(table, division, progress.show_rows)
    opening = (
        f"{learned.num_rows:,} rows: {learned.num_trained:,} to train on, "
        + (f"{len(learned.calibrated):,} to calibrate on, " if calibrate else "")
        + f"{len(learned.held_out):,} held out."
    )
    console.print(Text(opening), soft_wrap=True)
    observed = read_targets(learned.sample, table.targets)
    targets = zip(table.targets, observed.T, learned.missing_targets, strict=True)
    print_columns(console, learned.encoder, targets)
    sample = f"Kinds of columns are those of a sample of {len(learned.sample):,} rows; counts of all."
    print_notices(console, [*learned.notices, sample])
    estimator = mapped_estimator(
        learned.num_trained,
        effort,
        target=_one_or_all(table.target_kinds),
        random_state=seed,
        verbose=int(not as_json),
        checkpoint=checkpoint,
    )
    estimator.check_arguments(calibrate)
    if dry_run:
        if as_json:
            facts = {"rows": learned.num_rows, "trained": learned.num_trained}
            print_json({"dry_run": True, "model": str(folder), **facts, "notices": learned.notices})
        words = f"Nothing was trained or written. Without --dry-run, the model would go to {folder}."
        console.print(Text(words), soft_wrap=True)
        return
    with resumable(checkpoint):
        console.print(Text(f"Rows are encoded into {rows_folder.path}."), soft_wrap=True)
        with StreamProgress(console) as progress:
            rows = rows_folder.encode(
                table, learned, division, fingerprint(table, division), progress.show_rows
            )
        model = fit_large_table(estimator, table, learned, rows, seed=seed, calibrate=calibrate)
        # The place of the checkpoints is no part of the saved model.
        estimator.set_params(checkpoint=None, verbose=0)
        model.save(folder)
        checkpoint.delete()
        rows_folder.delete()
    seconds = time.perf_counter() - started
    print_result(console, model, folder, data, None, seconds=seconds, as_json=as_json)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _one_or_all(kinds: tuple[str, ...]) -> str | tuple[str, ...]:
    return kinds[0] if len(set(kinds)) == 1 else kinds
