"""Saved models of tables: the estimator's own files, and two more, in one folder.

``table.json`` says how columns become numbers and describes the training; ``rows.safetensors`` holds
fingerprints of the rows and a sample of those trained on. Unless it keeps no rows, there are two files
more: ``kept.safetensors`` holds all rows, and ``history.json`` says which were added when. A pipeline
has ``composition.skops``, its transformers, and ``pipeline.json``.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vebnn.serialization.files import check_target, new_folder, write_bytes
from vebnn.serialization.folders import HISTORY, MODEL, PIPELINE, TABLE, SavedFolder, understanding
from vebnn.tabular.encoded import EncodedTable, Encoder
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_table
from vebnn.tabular.images.encoder import ImageColumn, ImageEncoder
from vebnn.tabular.images.folder import ImageFolder
from vebnn.tabular.pipelines.encoder import PipelineEncoder
from vebnn.tabular.pipelines.fitted import FittedPipeline, read_composition
from vebnn.tabular.sequences.encoder import SequenceEncoder

if TYPE_CHECKING:
    import pandas

    from vebnn.tabular.additions.history import History
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.saved_estimator import SavedEstimator

ESTIMATORS = ("JointRegressor", "VeBNNRegressor")  # that take tables
_NAMES = TABLE.names | MODEL.names | HISTORY.names | PIPELINE.names
_SAMPLE = ("sample", "sample_observed")


def check_can_save(folder: str | Path) -> None:
    """Check the folder of a model to be saved, before anything is trained."""
    check_target(folder, _NAMES)


def save_table_model(model: "TableModel", folder: str | Path) -> None:
    """Write a model to a folder; replace a saved model that is there, but nothing else."""
    from vebnn.estimators.compositions import to_bytes
    from vebnn.estimators.saving import write

    facts = asdict(model.facts) | {
        "targets": [one._asdict() for one in model.facts.targets],
        "scores": [one._asdict() for one in model.facts.scores],
    }
    estimator, composition = model.estimator, None
    if isinstance(estimator, FittedPipeline):
        estimator, composition = estimator.estimator, to_bytes(estimator.composition)
    kind = type(estimator).__name__
    body = {"estimator": kind, "encoder": model.encoder.describe(), "facts": facts}
    with new_folder(folder, _NAMES) as new:
        write(estimator, new)
        rows = vars(model.known_rows) | {name: getattr(model, name) for name in _SAMPLE}
        TABLE.write(new, body, {"rows": rows})
        if model.history is not None:
            HISTORY.write(new, model.history.describe(), {"kept": model.history.arrays()})
        if composition is not None:
            write_bytes(new / PIPELINE.files["composition"], composition)
            PIPELINE.write(new, {}, {})


@dataclass(frozen=True)
class SavedTableModel:
    """A saved model, before its estimator is read: commands check rows by its encoder first."""

    folder: SavedFolder
    body: dict[str, Any]
    rows: dict[str, np.ndarray]

    @classmethod
    def open(cls, path: str | Path, *, history: bool = False) -> "SavedTableModel":
        """Read and check the table's own files; with its history, if there is one, only if asked."""
        folder = SavedFolder(path, history=history)
        body, arrays = TABLE.read(folder)
        return cls(folder, body, arrays["rows"])

    @cached_property
    def encoder(self) -> Encoder:
        """How rows become what the network sees."""
        with understanding(self.folder):
            description = self.body["encoder"]
            if description["columns"][0]["kind"] == ImageColumn.kind:
                return ImageEncoder.from_description(description)
            if "pipeline" in description:
                return PipelineEncoder.from_description(description)
            of_sequences = "sequence" in description
            return (SequenceEncoder if of_sequences else TableEncoder).from_description(description)

    @cached_property
    def history(self) -> "History | None":
        """Its rows and additions, if it keeps its rows and was opened with them."""
        if self.folder.read("history.json") is None:
            return None
        from vebnn.tabular.additions.history import History

        body, arrays = HISTORY.read(self.folder)
        with understanding(self.folder):
            return History.revive(body, arrays["kept"])

    @property
    def label_names(self) -> list[str]:
        """Names of the columns whose values must be read as they are written."""
        with understanding(self.folder):
            group = self.body["facts"].get("group")
            return self.encoder.label_names + ([] if group is None else [group])

    def with_names(self, frame: "pandas.DataFrame") -> "pandas.DataFrame":
        """Return a table with the names that the model knows, which are its own."""
        return frame

    def load(self) -> "TableModel":
        """Read the estimator, too, and return the whole model."""
        from vebnn import estimators
        from vebnn.tabular.known_rows import KnownRows
        from vebnn.tabular.model import TableModel, TargetFacts, TrainingFacts
        from vebnn.tabular.scores import TargetScore

        if (kind := self.body["estimator"]) not in ESTIMATORS:
            raise ValueError(
                f"The model in {self.folder.path} is a {kind}, which this version does not know. "
                f"Upgrade vebnn."
            )
        with understanding(self.folder):
            facts = self.body["facts"]
            facts = facts | {
                "targets": tuple(TargetFacts(**one) for one in facts["targets"]),
                "scores": tuple(TargetScore(**one) for one in facts["scores"]),
                "notices": tuple(facts["notices"]),
                "y_std": tuple(facts.get("y_std", ())),
            }
            estimator = getattr(estimators, kind).load(self.folder)
            sample = {name: self.rows[name] for name in _SAMPLE}
            if isinstance(self.encoder, PipelineEncoder):
                composition = read_composition(self.folder, estimator)
                rows = sample["sample"]
                estimator = FittedPipeline(composition, estimator, self.encoder, rows)
            known = KnownRows(**{name: self.rows[name] for name in self.rows.keys() - sample})
            return TableModel(
                self.encoder, estimator, TrainingFacts(**facts), known, **sample, history=self.history
            )


def open_saved(path: str | Path, *, history: bool = False) -> "SavedTableModel | SavedEstimator":
    """Open a model of a table, or an estimator that was saved from Python."""
    there = {name for name in _NAMES if (Path(path) / name).exists()}
    if there != MODEL.names:  # with one file of a table, the others are missing
        return SavedTableModel.open(path, history=history)
    from vebnn.tabular.saved_estimator import SavedEstimator

    return SavedEstimator(SavedFolder(path))


def load_model_and_rows(
    folder: Path, data: Path | None, images: Path | None = None
) -> "tuple[TableModel, EncodedTable]":
    """Read a model and encoded rows for it; errors come before the slow import of JAX.

    Args:
      folder: the model.
      data: a file of rows; without one, all files in the folder of images.
      images: the folder of images, for a model of images.
    """
    saved = open_saved(folder)
    encoder = saved.encoder
    if isinstance(encoder, ImageEncoder):
        if images is None:
            raise TableError(f"The model in {folder} was trained on images. Add --images FOLDER.")
        source = ImageFolder(images)
        encoder = encoder.reading(images)
        if data is None:
            return saved.load(), encoder.encode(source.table_of_files(encoder.column.name))
    elif images is not None:
        raise TableError(f"The model in {folder} was trained on a table. Leave out --images.")
    if data is None:
        raise TableError(f"The model in {folder} needs a file of rows. Name it after the model.")
    frame = saved.with_names(read_table(data, saved.label_names))
    rows = encoder.encode(frame)
    return saved.load(), rows
