"""Why the model knows little about rows of a table, in a few words."""

from collections.abc import Sequence

import pandas

from vebnn.estimators import Explanation
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.model import TableModel


def explain_rows(model: TableModel, frame: pandas.DataFrame) -> Explanation | None:
    """Return the explanation of some rows; None for images and for steps of sequences."""
    return model.explain(frame) if isinstance(model.encoder, TableEncoder) else None


def reasons(
    explanation: Explanation,
    outputs: Sequence[str] = ("epistemic_std",),
    target: str | None = None,
) -> tuple[str, ...]:
    """Return a sentence for each row; of all targets, unless one is named."""
    names = explanation.target_names or ()
    shown = names if target is None else (target,)

    def sentence(row: int, name: str) -> str:
        words = "; ".join(explanation.reason(row, output, name) for output in outputs)
        return words if len(shown) == 1 else f"{name}: {words}"

    rows = range(len(explanation))
    return tuple(". ".join(sentence(row, name) for name in shown) for row in rows)
