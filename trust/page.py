"""The page of all promises, written from their figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trust.promises import Proof, verdict

HEAD = """# Promises and proofs

`make trust` tries to break this library, and writes this page: what is promised, with its limit, and
what was measured. `python -m trust --only kill,files` runs some of the proofs. `--short` runs their
short form, which is also a part of `make test`. All figures are in `docs/trust/`.
"""
# What the tables of figures do not say themselves.
NOTES = {
    "kill": "Commands are killed before every change of a file and at random moments, and run again.",
    "files": "Damaged results, pickles and tables may give *another* result: they have no checksum, "
    "and a changed digit is another number. Re-sealed models were changed on purpose, and have right "
    "checksums.",
    "service": "Everything happens at once: clients, hostile requests, slow clients and schemathesis.",
    "samplers": "Parameters are drawn from the prior and data from the likelihood; the rank of the "
    "truth among the draws must then be uniform (Talts et al. 2018). Steps are small, so that the "
    "equations are tested and not the bias of long steps.\n\n"
    "![Rank histograms of every engine, on a linear model and on a network](images/trust-ranks.png)",
    "coverage": "The default model on simulated data with known mean and noise, not recalibrated.",
}


def write_page(figures: Sequence[Path], page: Path) -> Path:
    """Write a page from files of figures; return its path."""
    proofs = {path.stem: Proof.read(path) for path in figures}
    every = [promise for proof in proofs.values() for promise in proof.promises]
    kept = sum(one.kept is True for one in every)
    unknown = sum(one.kept is None for one in every)
    besides = f" {unknown} could not be measured on this machine." if unknown else ""
    parts = [HEAD, f"{kept} of {len(every)} promises are kept.{besides}\n"]
    parts += [section(name, proof) for name, proof in proofs.items()]
    page.write_text("\n".join(parts), "utf-8")
    return page


def section(name: str, proof: Proof) -> str:
    """Return the section of one proof."""
    facts = proof.facts
    rows = [
        f"| {_cell(one.promise)} | {_cell(one.measured)} | {_bold(verdict(one))} |"
        for one in proof.promises
    ]
    cores = f"{facts['cores']} core{'s' * (facts['cores'] != 1)}"
    lines = [
        f"## {proof.title}",
        "",
        *([NOTES[name], ""] if name in NOTES else []),
        "| promise | measured | kept |",
        "|---|---|---|",
        *rows,
        "",
        f"`python -m trust --only {name}{' --short' * facts['short']}`: "
        f"{facts['seconds'] / 60:.1f} minutes on {cores}, load average {facts['load_average'][0]:g} at "
        f"the end, Python {facts['python']}, {facts['system']}, seed {facts['seed']}.",
        "",
    ]
    return "\n".join(lines + table(proof.figures.get("table", [])))


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table; all rows have the fields of the first."""
    if not rows:
        return []
    lines = [
        list(rows[0]),
        ["---"] * len(rows[0]),
        *([str(row[name]) for name in rows[0]] for row in rows),
    ]
    return [*(f"| {' | '.join(map(_cell, line))} |" for line in lines), ""]


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|").replace("<", "&lt;")


def _bold(word: str) -> str:
    return word if word == "yes" else f"**{word}**"
