"""The standing proof against damaged and hostile files: ``python -m trust.files --count 5000``.

Models, checkpoints, results, pickles and tables are changed at random and read. A reader must refuse a
file in a sentence or give what the whole file would have given. It must not execute anything, hang, or
take much memory.
"""

import argparse
import json
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from trust.promises import Promise, show, write

SECONDS = 20  # a reader that takes longer hangs
MOST_MEGABYTES = 1024
EXECUTIONS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class")


class Kind(NamedTuple):
    """Files of one kind, and how to read them."""

    name: str
    share: float  # of the count
    change: Callable[[random.Random, Path], None]  # changes a fresh copy
    read: Callable[[Path], Any]  # what the reader gives, comparable
    raw: bool  # whether a change must never give another result


def damage(chance: random.Random, content: bytes) -> bytes:
    """Return a content with a random change."""
    place, length = chance.randrange(len(content)), chance.choice((1, 4, 64))
    piece = content[place : place + length]
    before, after = content[:place], content[place + len(piece) :]
    flipped = bytes([piece[0] ^ 1 << chance.randrange(8)]) + piece[1:]
    inside = (flipped, chance.randbytes(length), bytes(length), b"", piece + piece)
    return chance.choice((before, *(before + new + after for new in inside)))


def damage_one(chance: random.Random, folder: Path) -> None:
    """Damage one file of a folder, or delete it."""
    path = chance.choice(sorted(folder.iterdir()))
    if chance.random() < 0.02:
        path.unlink()
    else:
        path.write_bytes(damage(chance, path.read_bytes()))


def swap(other: Path, chance: random.Random, folder: Path) -> None:
    """Put some files of another model in the place of these."""
    names = sorted(path.name for path in folder.iterdir())
    for name in chance.sample(names, chance.randrange(1, len(names))):
        shutil.copy(other / name, folder / name)


def reseal(chance: random.Random, folder: Path) -> None:
    """Change a value of a description, and make all checksums right."""
    from vebnn.serialization.folders import MODEL, TABLE

    sealed = {one.name: json.loads((folder / f"{one.name}.json").read_text()) for one in (TABLE, MODEL)}
    body = sealed[chance.choice(("table", "model"))]
    body = body.get("table", body.get("model"))
    holders = list(_holders(body))
    holder, key = chance.choice(holders)
    values = (None, -1, 0, 10**9, 10**400, 1e308, "", "x" * 10_000, [], {}, [5_000_000], True)
    holder[key] = chance.choice(values)
    (folder / "model.json").write_bytes(MODEL.seal(sealed["model"]["model"]))
    sealed["table"]["table"]["model"] = sha256((folder / "model.json").read_bytes()).hexdigest()
    (folder / "table.json").write_bytes(TABLE.seal(sealed["table"]["table"]))


def _holders(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in list(pairs):
        yield value, key
        if isinstance(inside, dict | list):
            yield from _holders(inside)


def read_model(rows: Path, folder: Path) -> bytes:
    """Return the predictions of a model."""
    from vebnn.tabular.files import read_table
    from vebnn.tabular.model import TableModel

    model = TableModel.load(folder)
    return model.predict(read_table(rows)).prediction.to_frame().to_numpy().tobytes()


def read_checkpoint(folder: Path) -> dict[str, bytes]:
    """Return the arrays of a checkpoint."""
    from vebnn.serialization.arrays import read_part

    return {name: one.tobytes() for name, one in read_part(folder / "part", "mine", "part").items()}


def read_results(folder: Path) -> list[str]:
    """Return rows of results. They have no checksum: a changed digit is another number."""
    from vebnn.bench.results import read_rows

    return [json.dumps(row, sort_keys=True) for row in read_rows(folder / "rows.jsonl")]


def read_pickle(folder: Path) -> str:
    """Return the columns of a pickled table."""
    from vebnn.datasets.pickled_frames import read_frame

    columns = read_frame(folder / "f")
    return repr({name: [repr(cell) for cell in columns[name]] for name in columns})


def read_tables(model: Path, folder: Path) -> list[bytes]:
    """Return encoded tables, as they would be predicted."""
    from vebnn.tabular.saving import SavedTableModel

    encoder = SavedTableModel.open(model).encoder
    from vebnn.tabular.files import read_table

    return [
        encoder.encode(read_table(path, encoder.label_names)).matrix.to_numpy().tobytes()
        for path in sorted(folder.iterdir())
    ]


def prepare(folder: Path) -> list[Kind]:
    """Make whole files of every kind in folders of their names."""
    import numpy as np
    import pandas

    from examples.alloys import TARGETS, alloys
    from vebnn import Ensemble, JointRegressor, Training
    from vebnn.serialization.arrays import write_part
    from vebnn.tabular.files import write_table
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.plan import plan_table

    rows = alloys(20, seed=1).drop(columns=list(TARGETS))
    names = ("raw", "swapped", "re-sealed", "checkpoint", "results", "pickle", "table", "other")
    for name in names:
        (folder / name).mkdir()
    for seed, name in enumerate(("raw", "other")):
        engine = Ensemble(num_members=2, training=Training(num_epochs=20))
        estimator = JointRegressor(inference=engine, random_state=seed)
        TableModel.fit(estimator, plan_table(alloys(), TARGETS, seed=seed)).save(folder / name)
    for name in ("swapped", "re-sealed"):
        shutil.copytree(folder / "raw", folder / name, dirs_exist_ok=True)
    rng = np.random.default_rng(0)
    write_part(folder / "checkpoint" / "part", {"a": rng.normal(size=300), "b": np.arange(7)}, "mine")
    lines = [
        json.dumps({"results_version": 1, "seed": seed, "rmse": rng.random()}) for seed in range(9)
    ]
    (folder / "results" / "rows.jsonl").write_text("\n".join(lines) + "\n")
    cells = pandas.Series([rng.normal(size=(3, 2)) for _ in range(3)], dtype=object)
    frame = pandas.DataFrame({"strain": cells, "seed": [1, 2, 3]})
    frame = frame.set_axis(frame.columns.astype(object), axis=1).set_axis(pandas.Index([0, 2, 4]))
    (folder / "pickle" / "f").write_bytes(pickle.dumps(frame))
    for suffix in ("csv", "parquet", "feather"):
        write_table(rows, folder / "table" / f"t.{suffix}")
    rows_file = folder / "rows.csv"
    write_table(rows, rows_file)
    model = partial(read_model, rows_file)
    return [
        Kind("raw", 0.6, damage_one, model, raw=True),
        Kind("swapped", 0.1, partial(swap, folder / "other"), model, raw=True),
        Kind("re-sealed", 0.1, reseal, model, raw=False),
        Kind("checkpoint", 0.1, damage_one, read_checkpoint, raw=True),
        Kind("results", 0.1, damage_one, read_results, raw=False),
        Kind("pickle", 1.0, damage_one, read_pickle, raw=False),
        Kind("table", 0.1, damage_one, partial(read_tables, folder / "raw"), raw=False),
    ]


@contextmanager
def watched() -> Iterator[list[str]]:
    """Note every attempt to execute something, and stop a reader that hangs."""
    executed: list[str] = []
    active = [True]

    def note(event: str, _: Any) -> None:
        if active[0] and event in EXECUTIONS:
            executed.append(event)

    sys.addaudithook(note)

    def stop(*_: Any) -> None:
        raise TimeoutError("hang")

    signal.signal(signal.SIGALRM, stop)
    yield executed
    active[0] = False


def outcome_of(kind: Kind, folder: Path, whole: Any) -> str:
    """Read a changed copy; return what came of it."""
    signal.alarm(SECONDS)
    try:
        found = kind.read(folder)
    except TimeoutError:
        return "hang"
    except (ValueError, ImportError, OSError):
        return "refused"
    except Exception as error:
        return f"traceback: {type(error).__name__}"
    finally:
        signal.alarm(0)
    return "the same" if found == whole else "another"


def run(count: int, seed: int) -> dict[str, Any]:
    """Change files ``count`` times, some kinds more often than others; return all figures."""
    chance = random.Random(seed)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, watched() as executed:
        folder = Path(name)
        kinds = prepare(folder)
        copy = folder / "copy"
        for kind in kinds:
            whole, outcomes = kind.read(folder / kind.name), Counter()
            executed.clear()
            before, started = _megabytes(), time.monotonic()
            for _ in range(max(1, int(kind.share * count))):
                shutil.copytree(folder / kind.name, copy)
                kind.change(chance, copy)
                outcomes[outcome_of(kind, copy, whole)] += 1
                shutil.rmtree(copy)
            figures[kind.name] = {
                "outcomes": dict(outcomes),
                "executed": len(executed),
                "megabytes": round(_megabytes() - before),
                "seconds": round(time.monotonic() - started, 1),
                "raw": kind.raw,
            }
    return figures


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def promises_of(figures: dict[str, Any]) -> list[Promise]:
    """Return what the figures show."""
    every = Counter()
    for one in figures.values():
        every.update(one["outcomes"])
    total = sum(every.values())
    raw = [one["outcomes"] for one in figures.values() if one["raw"]]
    different, damaged = (
        sum(one.get("another", 0) for one in raw),
        sum(sum(one.values()) for one in raw),
    )
    executed = sum(one["executed"] for one in figures.values())
    memory = max(one["megabytes"] for one in figures.values())
    tracebacks = sum(number for name, number in every.items() if name.startswith("traceback"))
    return [
        Promise(
            "no damaged model or checkpoint gives another result",
            f"{different} of {damaged}",
            not different,
        ),
        Promise("nothing in a file is executed", f"{executed} of {total}", not executed),
        Promise("no reader hangs", f"{every['hang']} of {total}", not every["hang"]),
        Promise(
            "a reader refuses in a sentence", f"{tracebacks} tracebacks of {total}", not tracebacks
        ),
        Promise("memory stays below 1 GiB", f"{memory} MB more", memory < MOST_MEGABYTES),
    ]


def main() -> None:
    """Run the proof."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5_000, help="changed models, and changed pickles")
    parser.add_argument("--seed", type=int, default=0, help="of the changes")
    parser.add_argument("--out", type=Path, default=Path("files.json"), help="file for the figures")
    options = parser.parse_args()
    figures = run(options.count, options.seed)
    promises = promises_of(figures)
    show("Files", promises)
    for name, one in figures.items():
        print(f"{name}: {one['outcomes']}")
    write(options.out, promises, figures)


if __name__ == "__main__":
    main()
