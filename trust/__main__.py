"""All standing proofs, one after the other: ``python -m trust``, or ``make trust``.

Each proof writes its promises and figures as JSON; then ``trust.md`` is written from all of them. With
``--only`` the figures of the other proofs stay as they are.
"""

import argparse
import os
import platform
import sys
import time
from importlib import import_module
from pathlib import Path

from trust.page import write_page
from trust.promises import Proof, show

# The proofs and their modules, in the order of the page. Each has a TITLE and a function prove.
PROOFS = {
    name: f"trust.{name}" for name in ("kill", "files", "service", "samplers", "coverage", "supply")
}
FULL, SHORT = Path("docs/trust"), Path("results/trust")


def run(name: str, *, short: bool, seed: int) -> Proof:
    """Run one proof and print its promises."""
    module = import_module(PROOFS[name])
    print(f"{module.TITLE} …", flush=True)
    started = time.monotonic()
    promises, figures = module.prove(short=short, seed=seed)
    show(module.TITLE, promises)
    facts = {
        "short": short,
        "seed": seed,
        "seconds": round(time.monotonic() - started, 1),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load_average": [round(one, 1) for one in os.getloadavg()],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    return Proof(module.TITLE, promises, figures, facts)


def main() -> int:
    """Run proofs, write their figures and the page; return 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(prog="python -m trust", description=__doc__)
    parser.add_argument("--only", help=f"proofs to run, separated by commas: {', '.join(PROOFS)}")
    parser.add_argument("--short", action="store_true", help="run the short form of each proof")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument("--out", type=Path, help=f"folder of the figures ({FULL}; {SHORT} if short)")
    parser.add_argument("--page", action="store_true", help="run nothing; write the page again")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else [] if given.page else list(PROOFS)
    if unknown := set(names) - set(PROOFS):
        parser.error(f"there is no proof {min(unknown)!r}; choose from {', '.join(PROOFS)}")
    folder = given.out or (SHORT if given.short else FULL)
    folder.mkdir(parents=True, exist_ok=True)
    kept = True
    for name in names:
        proof = run(name, short=given.short, seed=given.seed)
        proof.write(folder / f"{name}.json")
        kept &= proof.is_kept
    files = [folder / f"{name}.json" for name in PROOFS]
    page = write_page([path for path in files if path.exists()], folder.with_suffix(".md"))
    print(f"{page} has all promises, {folder} all figures.")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
