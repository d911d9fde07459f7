"""``python -m benchmarks.streams``: measure, print, and write rows and the tables of docs/scale.md.

Each command runs in a process of its own, on generated Parquet files of 20 columns. Its peak of
resident memory is VmHWM, which counts the pages of mapped files.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.streams import page
from benchmarks.streams.table import write_table

PARTS = ("predict", "fit")
MODEL_ROWS = 10_000  # of the model that predicts


def measure(part: str, num_rows: int, folder: Path, effort: str) -> page.Row:
    """Run one command on a table of so many rows; return what it took."""
    data, out = folder / f"{num_rows}.parquet", folder / "measured.json"
    write_table(data, num_rows)
    if part == "fit":
        model = folder / f"{num_rows}.model"
        _run(out, *_fit(data, model, effort))
    else:
        effort, model = "quick", folder / "predicts.model"
        if not model.exists():
            write_table(folder / f"{MODEL_ROWS}.parquet", MODEL_ROWS)
            _run(out, *_fit(folder / f"{MODEL_ROWS}.parquet", model, effort))
        target = folder / "predictions.parquet"
        _run(out, "predict", str(model), str(data), "--out", str(target))
        target.unlink()
    return page.Row(part, num_rows, effort, page.machine(), **json.loads(out.read_text()))


def _fit(data: Path, model: Path, effort: str) -> list[str]:
    return ["fit", str(data), "--target", "y", "--effort", effort, "--out", str(model)]


def _run(out: Path, *arguments: str) -> None:
    print("vebnn", *arguments, flush=True)
    command = [sys.executable, "-m", "benchmarks.streams.child", str(out), *arguments]
    subprocess.run(command, check=True, stdout=sys.stderr)


def main() -> None:
    """Measure what is asked for; keep the rows of other sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000,10000000", help="rows of the tables")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--effort", default="quick", help="of the fits")
    parser.add_argument(
        "--folder", type=Path, help="for the tables, which are kept; by default deleted"
    )
    parser.add_argument("--rows", type=Path, default=page.ROWS, help="file of the measurements")
    arguments = parser.parse_args()
    found = page.read(arguments.rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for part in arguments.only.split(","):
            for size in map(int, arguments.sizes.split(",")):
                found |= {(part, size): measure(part, size, folder, arguments.effort)}
                page.write(arguments.rows, found)
    if arguments.rows == page.ROWS:
        page.update(found)
    print(page.text(found))


if __name__ == "__main__":
    main()
