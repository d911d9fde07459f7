"""From the encoded rows of a large table to a model with scores."""

import hashlib
from typing import Any

import numpy as np
import pandas

import vebnn
from vebnn.estimators.mapped import fit_mapped
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.known_rows import KnownRows
from vebnn.tabular.mapped.division import StreamDivision
from vebnn.tabular.mapped.encoding import EncodedRows
from vebnn.tabular.mapped.learning import LargeTable, LearnedTable
from vebnn.tabular.model import (
    TableModel,
    TargetFacts,
    TrainingFacts,
    as_target,
    sample_places,
    target_facts,
)
from vebnn.tabular.plan import refuse_constant
from vebnn.tabular.scores import TargetScore, score_targets

NO_RECORD = (
    "The model keeps no record of its training rows, which are too many: scores of other files are "
    "honest only if their rows were not among them."
)


def fingerprint(table: LargeTable, division: StreamDivision) -> str:
    """Return a digest of the file and of all that decides how it is encoded."""
    facts = table.file.path.stat()
    words = (
        vebnn.__version__,
        str(table.file.path.absolute()),
        (facts.st_size, facts.st_mtime_ns),
        (table.targets, table.drop, table.categorical, table.max_categories, table.target_kinds),
        division,
    )
    return hashlib.sha256(repr(words).encode()).hexdigest()


def fit_large_table(
    estimator: Any,
    table: LargeTable,
    learned: LearnedTable,
    rows: EncodedRows,
    *,
    seed: int,
    calibrate: str | None,
) -> TableModel:
    """Fit an estimator to the encoded rows, calibrate it if asked, and score it."""
    names = table.targets
    facts = _facts_of(names, rows)
    fit_mapped(
        estimator,
        rows.inputs,
        lambda: rows.read_targets()[:, 0] if len(names) == 1 else rows.read_targets(),
        units=rows.units,
        names=rows.encoder.encoded_names,
        target_names=names,
    )
    if calibrate is not None:
        inputs, observed = _read(rows.encoder, learned.calibrated)
        estimator.calibrate(inputs, as_target(observed, names), calibrate)
    scores: tuple[TargetScore, ...] = ()
    held_out = np.zeros(0, np.uint64)
    if len(learned.held_out):
        inputs, observed = _read(rows.encoder, learned.held_out)
        prediction = estimator.predict_distribution(inputs)
        scores = score_targets(prediction, observed, names, tuple(one.mean for one in facts))
        held_out = rows.encoder.encode(learned.held_out).fingerprints()
    some = sample_places(len(learned.sample), rows.encoder.sample_rows)
    sample, sample_observed = _read(rows.encoder, learned.sample.iloc[some])
    nothing = np.zeros(0, np.uint64)
    return TableModel(
        encoder=rows.encoder,
        estimator=estimator,
        facts=TrainingFacts(
            source=table.file.path.name,
            num_rows=learned.num_rows,
            num_trained=learned.num_trained,
            num_held_out=len(learned.held_out),
            seed=seed,
            targets=facts,
            notices=(*learned.notices, NO_RECORD),
            scores=scores,
            calibration=calibrate,
            num_calibrated=len(learned.calibrated),
        ),
        known_rows=KnownRows(nothing, np.sort(held_out)),
        sample=np.asarray(sample),
        sample_observed=sample_observed,
    )


def _facts_of(names: tuple[str, ...], rows: EncodedRows) -> tuple[TargetFacts, ...]:
    observed = rows.read_targets()
    refuse_constant(names, observed)
    return target_facts(names, observed)


def _read(encoder: TableEncoder, frame: pandas.DataFrame) -> tuple[pandas.DataFrame, np.ndarray]:
    """Return inputs and targets of rows that are kept in memory."""
    table = encoder.encode(frame)
    return table.matrix, table.observed
