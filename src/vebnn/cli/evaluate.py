"""``vebnn evaluate``: scores of a saved model on rows whose targets are known."""

import numpy as np
from rich.console import Console

from vebnn.cli import tables
from vebnn.cli.options import AsJSON, DataFile, ErrorColumns, Images, IntervalLevel, ModelFolder


def evaluate(
    model: ModelFolder,
    data: DataFile,
    images: Images = None,
    level: IntervalLevel = 0.95,
    y_std: ErrorColumns = None,
    as_json: AsJSON = False,
) -> None:
    """Score a model on rows whose targets are known.

    Rows the model was trained or calibrated on are recognised and left
    out, because a score on them would be too good. If there are no other
    rows, the score is on them, and a notice says so. Rows without a target
    are left out. Measurement errors in the columns of fit --y-std are used
    if the file has them.
    """
    from vebnn.tabular.saving import load_model_and_rows

    loaded, rows = load_model_and_rows(model, data, images)
    found = loaded.evaluate(rows, level, y_std=y_std or ())
    rows = found.table
    num_trained, num_scored = int(found.trained.sum()), int(found.scored.sum())
    used = tables.training_use(loaded)
    notices = [*rows.notices, *([] if found.known else loaded.facts.notices)]
    if num_trained:
        notices.append(
            f"{num_trained:,} of {len(rows):,} rows were {used}, and are left out."
            if found.fresh
            else f"The model was {used} all of these rows: the score flatters it."
        )
    if found.fresh and (num_related := int(np.sum(found.related & found.scored))):
        notices.append(
            f"{num_related:,} of the {num_scored:,} scored rows have the inputs or the group of a "
            f"training row; errors for others are larger."
        )
    if as_json:
        tables.print_json(
            {
                "rows": len(rows),
                "trained_on": num_trained,
                "scored": num_scored,
                "related": int(found.related.sum()),
                "fresh": found.fresh if found.known else None,
                "scores": [score._asdict() for score in found.scores],
                "calibration": tables.calibration_facts(loaded, level),
                "r_hat": tables.r_hat_of(loaded.estimator),
                "notices": notices,
            }
        )
        return
    console = Console()
    tables.print_notices(console, notices)
    title = f"On {num_scored:,} rows"
    if found.known:
        title += f" it {'was not' if found.fresh else 'WAS'} {used}"
    console.print(tables.score_table(title, found.scores, loaded.estimator))
