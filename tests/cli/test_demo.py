import io

from rich.console import Console

from vebnn.cli.demo import score_table
from vebnn.datasets.toy_score import ToyScore


def test_scores_are_shown_beside_their_ideals() -> None:
    console = Console(file=io.StringIO(), width=80)
    console.print(score_table(ToyScore(0.41, 0.12, 0.953, 0.5, 12.3, -1.7, -5.0, 0.83)))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("RMSE of the mean", "0.41", "12%", "95.3%", "12.30", "83.0%"):
        assert part in text
