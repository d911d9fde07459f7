"""``vebnn fit``: from a file of rows to a saved model."""

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vebnn.cli.fit_large import fit_large, is_large
from vebnn.cli.fit_output import print_dry_run, print_plan, print_result
from vebnn.cli.fit_places import model_folder, resumable
from vebnn.cli.options import AsJSON, DataFile, ErrorColumns, Images, Scheduler

if TYPE_CHECKING:
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.plan import TrainingPlan
    from vebnn.tabular.sequences.encoder import SequenceColumns


def fit(
    data: DataFile,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="Column to predict; repeat it for several."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the model (default: NAME.model for NAME.csv)."),
    ] = None,
    images: Images = None,
    image_column: Annotated[
        str | None,
        typer.Option(help="Column of file names (default: the one with names of files in --images)."),
    ] = None,
    image_size: Annotated[
        int | None,
        typer.Option(help="Side in pixels of the square that images are resized to (default: ≤ 64)."),
    ] = None,
    target_kind: Annotated[
        list[str] | None,
        typer.Option(
            help="Possible values: real, positive, fraction or count; once, or once for each --target."
        ),
    ] = None,
    heavy_tails: Annotated[
        bool, typer.Option("--heavy-tails", help="Noise is Student-t, for data with outliers.")
    ] = False,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; repeat it for several.")
    ] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column of numbers that are categories; may be repeated.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Column whose equal values mark rows that stay together, such as specimens."),
    ] = None,
    group_as_input: Annotated[
        bool, typer.Option("--group-as-input", help="Use the group column as an input, too.")
    ] = False,
    time_column: Annotated[
        str | None,
        typer.Option(
            "--time", help="Column of dates or numbers: hold out the latest rows, not random ones."
        ),
    ] = None,
    sequence: Annotated[
        str | None,
        typer.Option(help="Column whose equal values mark the rows of one sequence; needs --step."),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(help="Column of numbers or dates that orders the rows of each --sequence."),
    ] = None,
    step_as_input: Annotated[
        bool, typer.Option("--step-as-input", help="Use the step column as an input, too.")
    ] = False,
    y_std: ErrorColumns = None,
    weight: Annotated[
        str | None, typer.Option(help="Column that says how much each row counts in the training.")
    ] = None,
    max_categories: Annotated[
        int, typer.Option(help="Most categories of a column that have an input of their own.")
    ] = 50,
    inference: Annotated[
        str,
        typer.Option(
            help="Engine: psghmc, psgld, mclmc, ensemble, laplace, mc_dropout, bbb, sgld, sghmc, "
            "nuts, map."
        ),
    ] = "psghmc",
    effort: Annotated[
        str, typer.Option(help="Length of the training: quick (a quarter), normal or thorough (× 4).")
    ] = "normal",
    time_budget: Annotated[
        float | None,
        typer.Option(help="Seconds for continuing chains that disagree; at most twice by default."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(help="Rounds of Steps 2 and 3; by default until the noise has settled."),
    ] = None,
    hold_out: Annotated[
        float, typer.Option(help="Share of the rows kept for the score; 0 trains on all rows.")
    ] = 0.2,
    calibrate: Annotated[
        str | None, typer.Option(help="Correct the error bars: common, separate or conformal.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the held-out rows and the training.")] = 0,
    no_rows: Annotated[
        bool,
        typer.Option(
            "--no-rows",
            help="Keep a sample of up to 1,000 rows only: vebnn add then has none to go on from.",
        ),
    ] = False,
    work_folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the encoded rows of a table larger than memory (default: MODEL.rows)."
        ),
    ] = None,
    backend: Annotated[
        str, typer.Option(help="Where the parts of the fit are computed: local, dask or ray.")
    ] = "local",
    jobs: Annotated[
        int | None,
        typer.Option(help="Worker processes for the parts; of a cluster, all by default."),
    ] = None,
    scheduler: Scheduler = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted fit.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show columns, rows and budget; train and write nothing.")
    ] = False,
    as_json: AsJSON = False,
) -> None:
    """Learn from a file of rows; score on held-out rows; save the model.

    The model is trained on 80 % of the rows, scored on the others and then
    saved as it is. With --hold-out 0 it is trained on all rows and has no
    score. With --calibrate, a fifth of the rows that are not held out is
    used only to correct the error bars. With --images, a column names files
    in that folder, and the model learns from these images. With --sequence
    and --step, rows are steps of sequences: a prediction depends on the
    steps before, and whole sequences are held out. Rows without a target
    are left out, but remain steps of their sequence.
    Ctrl-C leaves a checkpoint in MODEL.checkpoint; rerun the same command
    with --resume to continue.

    A CSV, TSV or Parquet file of more than 4 million rows is encoded into a
    file, block by block, and trained on from there; with --work-folder, a
    smaller one is, too.
    """
    from vebnn.core.workers import backend_of_fit
    from vebnn.tabular.files import read_table
    from vebnn.tabular.images.folder import ImageFolder
    from vebnn.tabular.plan import plan_table
    from vebnn.tabular.sequences.plan import plan_sequences

    started = time.perf_counter()
    console = Console(quiet=as_json)
    if images is None and not (image_column is None and image_size is None):
        raise ValueError("The --image-column and --image-size are for images. Add --images FOLDER.")
    in_memory = {
        "--images": images,
        "--group": group,
        "--time": time_column,
        "--sequence": sequence,
        "--y-std": y_std,
        "--weight": weight,
        "--heavy-tails": heavy_tails,
        "--rounds": rounds,
        "--time-budget": time_budget,
        "--backend": None if backend == "local" else backend,
        "--jobs": jobs,
        "--inference": None if inference == "psghmc" else inference,
    }
    used = [name for name, value in in_memory.items() if value]
    if work_folder is not None or (not used and is_large(data)):
        if used:
            raise ValueError(f"Without --work-folder only: {', '.join(used)} need all rows in memory.")
        fit_large(
            data,
            {
                "targets": target or [],
                "drop": drop or [],
                "categorical": categorical or [],
                "max_categories": max_categories,
                "target_kinds": target_kind or [],
            },
            out=out,
            work_folder=work_folder,
            effort=effort,
            hold_out=hold_out,
            calibrate=calibrate,
            seed=seed,
            resume=resume,
            dry_run=dry_run,
            as_json=as_json,
        )
        return
    workers = backend_of_fit(backend, jobs, scheduler)
    by = _columns_of_sequences(sequence, step, step_as_input=step_as_input)
    if by is not None:
        _refuse_beside_sequences(images=images, time=time_column, group_as_input=group_as_input)
    labels = [*(categorical or []), *(name for name in (group, image_column, sequence) if name)]
    frame = read_table(data, labels)
    options: dict[str, Any] = {
        "drop": drop or [],
        "categorical": categorical or [],
        "group": group,
        "y_std": y_std or [],
        "weight": weight,
        "max_categories": max_categories,
        "hold_out": hold_out,
        "seed": seed,
        "source": data.name,
        "calibrate": calibrate,
        "target_kinds": target_kind or [],
    }
    if by is not None:
        plan = plan_sequences(frame, target or [], by, **options)
    else:
        plan = plan_table(
            frame,
            target or [],
            group_as_input=group_as_input,
            time=time_column,
            images=None if images is None else ImageFolder(images, image_column, image_size),
            **options,
        )
    folder, checkpoint = model_folder(data, out, resume=resume or dry_run)
    print_plan(console, plan)

    from vebnn.tabular.effort import lengths_of, new_estimator

    image_shape = None if images is None else plan.table.matrix.shape[1:]
    shape: dict[str, Any] = {"image_shape": image_shape, "sequences": by is not None}
    num_examples = plan.table.count_examples(plan.trained)
    estimator = new_estimator(
        num_examples,
        inference=inference,
        effort=effort,
        rounds=rounds,
        time_budget=time_budget,
        target=plan.target,
        heavy_tails=heavy_tails,
        random_state=seed,
        verbose=int(not as_json),
        checkpoint=checkpoint,
        n_jobs=jobs if backend == "local" else None,
        **shape,
    )
    estimator.check_arguments(plan.calibrate)
    if dry_run:
        lengths = lengths_of(num_examples, inference, effort, estimator.network, **shape)
        if estimator.residuals == "cross_fit":
            rounds = rounds or 1
        print_dry_run(console, plan, lengths, folder, rounds=rounds, as_json=as_json)
        return
    with resumable(checkpoint), workers:
        model = _train(estimator, plan, keep_rows=not no_rows)
        model.save(folder)
        checkpoint.delete()
    seconds = time.perf_counter() - started
    print_result(console, model, folder, data, images, seconds=seconds, as_json=as_json)


def _columns_of_sequences(
    sequence: str | None, step: str | None, *, step_as_input: bool
) -> "SequenceColumns | None":
    """Return the columns that make sequences of rows, or nothing for a table."""
    from vebnn.tabular.sequences.encoder import SequenceColumns

    if sequence is None and step is None and not step_as_input:
        return None
    if sequence is None or step is None:
        raise ValueError(
            "Sequences need --sequence COLUMN, whose equal values mark the rows of one sequence, and "
            "--step COLUMN, which orders these rows. Got only one of them."
        )
    return SequenceColumns(sequence, step, step_as_input)


def _refuse_beside_sequences(*, images: Path | None, time: str | None, group_as_input: bool) -> None:
    if images is not None:
        raise ValueError("Rows can be images or steps of sequences. Leave out --images or --sequence.")
    if time is not None:
        raise ValueError(
            "The --time holds out the latest rows, but of sequences whole ones are held out. Leave it "
            "out; the order of rows within a sequence is --step."
        )
    if group_as_input:
        raise ValueError("The --group-as-input is for tables. Leave it out with --sequence.")


def _train(estimator: Any, plan: "TrainingPlan", *, keep_rows: bool) -> "TableModel":
    from sklearn.exceptions import ConvergenceWarning

    from vebnn.tabular.model import TableModel

    with warnings.catch_warnings():
        # The advice at the end says the same in terms of the command line.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = TableModel.fit(estimator, plan, keep_rows=keep_rows)
    # The place of the checkpoints and the workers are no part of the saved model.
    estimator.set_params(checkpoint=None, n_jobs=None, verbose=0)
    return model
