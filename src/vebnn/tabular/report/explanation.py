"""Why the model knows least about some rows: what each column adds to ignorance and noise."""

from typing import Any, NamedTuple

import numpy as np

from vebnn.estimators import Explanation
from vebnn.tabular.reasons import explain_rows
from vebnn.tabular.report.figures import Figure, Trace, axis, figure, shortened
from vebnn.tabular.report.findings import Findings, TargetFindings

ROWS_EXPLAINED = 3
MOST_COLUMNS_DRAWN = 12


class Reason(NamedTuple):
    """What the report says about one row."""

    row: int  # from 1
    sentence: str


class LeastKnown(NamedTuple):
    """The explanation of the rows that the model knows least about one target."""

    rows: np.ndarray  # positions in the table, the least known first
    explanation: Explanation
    target: str

    @property
    def reasons(self) -> list[Reason]:
        """A sentence for each row."""
        say = self.explanation.reason
        return [
            Reason(int(row) + 1, f"{say(number, target=self.target)}; {self._noise(number)}.")
            for number, row in enumerate(self.rows)
        ]

    def _noise(self, number: int) -> str:
        return self.explanation.reason(number, "aleatoric_std", self.target)

    def figure(self) -> Figure:
        """Draw what each column adds to ignorance and noise of the first row."""
        parts = {
            name: self.explanation.output(name, self.target).values[0]
            for name in ("epistemic_std", "aleatoric_std")
        }
        shown = np.argsort(-np.abs(parts["epistemic_std"]), kind="stable")[:MOST_COLUMNS_DRAWN]
        names = [self.explanation.features[number] for number in shown]
        data = [
            _bars(parts[part][shown], names, word, colour)
            for part, word, colour in (
                ("epistemic_std", "ignorance", "$ignorance"),
                ("aleatoric_std", "noise", "$noise"),
            )
        ]
        places: dict[str, Any] = {
            "tickvals": list(range(len(names))),
            "ticktext": [shortened(name, 24) for name in names],
            "range": [len(names) - 0.5, -0.5],
        }
        x = axis("added to the average std", zeroline=True)
        return figure(data, x, places, barmode="group", bargap=0.35, showlegend=False)


def least_known(findings: Findings, target: TargetFindings) -> LeastKnown | None:
    """Explain the rows with the largest ignorance; None for images."""
    rows = np.argsort(-target.epistemic_std, kind="stable")[:ROWS_EXPLAINED]
    explanation = explain_rows(findings.model, findings.frame.iloc[rows])
    return None if explanation is None else LeastKnown(rows, explanation, target.name)


def _bars(values: np.ndarray, names: list[str], word: str, colour: str) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "name": word,
        "x": values.tolist(),
        "y": list(range(len(names))),
        "text": [shortened(name, 60) for name in names],
        "textposition": "none",
        "marker": {"color": colour},
        "hovertemplate": f"%{{text}}<br>{word} %{{x:+.3g}}<extra></extra>",
    }
