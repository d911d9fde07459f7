"""``python -m benchmarks.streams.child OUT.json COMMAND …``: run a command, and say what it took."""

import json
import sys
import time
from pathlib import Path


def peak_mib() -> float:
    """Return the most resident memory of this process so far (VmHWM), mapped files included."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Run the command; write seconds, processor seconds, memory and the exit code."""
    out, *arguments = sys.argv[1:]
    started = time.perf_counter()
    from vebnn.cli import app

    sys.argv, code = ["vebnn", *arguments], 0
    try:
        app()
    except SystemExit as end:
        code = int(end.code or 0)
    found = {
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(time.process_time(), 1),
        "peak_mib": round(peak_mib()),
    }
    Path(out).write_text(json.dumps(found))
    sys.exit(code)


if __name__ == "__main__":
    main()
