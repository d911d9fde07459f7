"""Write the page: a line for every table and figure, what is left to run, and the tables."""

from pathlib import Path

from vebnn.bench.experiments.rounds import rounds_sheet
from vebnn.bench.pages.page import Page
from vebnn.bench.pages.paper.commands import MORE
from vebnn.bench.pages.paper.evidence import FAILS, HALF, HOLDS, MOST, PARTLY, UNDECIDED, Rows
from vebnn.bench.pages.paper.items import ITEMS, Item
from vebnn.bench.pages.paper.plasticity_tables import plasticity_sheets
from vebnn.bench.pages.paper.uci import uci_sheets
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import Sheet, cells

TEXT = f"""# The paper, table by table

Every table and figure of the paper, main text and appendix, in its order: what it claims, what was run
here, and whether the claim holds. Names are the labels in the paper's source. This page is written from
the rows beside it, without a fit:

```sh
vebnn bench paper docs/results --out docs/results/paper.md
```

Preset *paper* is what was published: its networks, lengths, in-sample residuals, (α, λ) as outputs of
the variance network, K = 2 with the round chosen by training likelihood, five learning rates, Step 1
trained again on all rows, and on UCI data the calibration of the variance. Other presets are this
library's settings. The paper's splits and plasticity data are not those used here, so its numbers are a
yardstick.

**Marks.** A claim is a number of comparisons, each between means over the repeats that both methods
have. ✓: at least {MOST:.0%} of them hold; (✓): at least {HALF:.0%}; ✗: fewer. A coverage is near 0.95
within 0.03, two validation NLLs are alike within 0.1 nats, errors within 5 %, sizes within 10 %. The
Gamma loss must be better by 5 %, because the paper calls it clearly advantageous. UCI tables get a mark
when five data sets have five splits of two methods.
"""
# Drawn by the commands above from rows; names are the labels in the paper.
FIGURES = (
    (
        "UCI_validation_loss",
        "rounds-energy",
        "Validation NLL on Energy after every step: with Step 1 trained it is flat from round 2 on; "
        "untrained, it falls until round 4.",
    ),
    (
        "beta_vs_cuq",
        "beta-nll-paper",
        "The one-dimensional example with the paper's settings: one network with β-NLL, a mean network "
        "alone, and the same with the variance network.",
    ),
)


def paper_page(folder: Path) -> Page:
    """Return the page of the rows in a folder."""
    rows = Rows(folder)
    found = [(item, item.find(rows)) for item in ITEMS]
    marks = [finding.mark for _, finding in found if finding is not None]
    counted = ", ".join(f"{marks.count(mark)} {mark}" for mark in (HOLDS, PARTLY, FAILS))
    early = f", {marks.count(UNDECIDED)} with too few rows for a mark"
    left = [item for item, finding in found if finding is None]
    parts = [
        TEXT.strip(),
        f"**Result.** Of {len(ITEMS)} entries, {len(marks)} have rows or tests here: {counted}{early}.",
        sheet_as_markdown(_claims(found)),
        sheet_as_markdown(_left(left)),
        sheet_as_markdown(_more()),
        *map(sheet_as_markdown, _tables(rows)),
        "## Figures",
        *(f"{name}: ![{alt}](../images/{file}.png)" for name, file, alt in FIGURES),
    ]
    return Page("\n\n".join(parts) + "\n")


def _claims(found: list) -> Sheet:
    lines = []
    for item, finding in found:
        if finding is None:
            lines.append(cells(item.name, item.claim, item.missing or "not run", "", "–", ""))
            continue
        why = "" if finding.mark == HOLDS else finding.why
        lines.append(
            cells(item.name, item.claim, finding.ours, finding.paper or "–", finding.mark, why)
        )
    return Sheet(
        "Claims",
        "Ours and the paper's: how many comparisons hold, or numbers.",
        ("in the paper", "claim", "ours", "the paper's", "", "remark"),
        [lines],
        words=True,
    )


def _left(items: list[Item]) -> Sheet:
    lines = [
        cells(item.name, item.command or "–", f"{item.hours:g}" if item.command else "–", item.missing)
        for item in items
    ]
    return Sheet(
        "What has no rows yet",
        "The command that runs it as published, and an estimate of its hours on one core; the same "
        "command serves several lines. Commands resume.",
        ("in the paper", "command", "core-hours", "remark"),
        [lines],
        words=True,
    )


def _more() -> Sheet:
    return Sheet(
        "What should have more rows",
        "Entries above rest on a few fits, or on another preset. These commands complete them.",
        ("what", "command", "core-hours"),
        [[cells(what, command, f"{hours:g}") for what, command, hours in MORE]],
        words=True,
    )


def _tables(rows: Rows) -> list[Sheet]:
    rounds = rows.of("rounds.jsonl")
    return [
        *uci_sheets(rows),
        *plasticity_sheets(rows),
        *([rounds_sheet(rounds)] if rounds else []),
    ]
