"""The benchmark of dealing: its arithmetic, its bytes and its page."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.dealing import page
from benchmarks.dealing.estimate import Cost, estimate
from benchmarks.dealing.meter import Meter
from benchmarks.streams import page as streams
from vebnn.core.workers import Workers

ONE = page.Row(
    workers=1,
    rows=10**6,
    epochs=20,
    machine="a machine, load 0.5",
    seconds=90.0,
    alone_seconds=3.6,
    worker_seconds=86.4,
    control_seconds=4.0,
    pieces=60,
    data_bytes=10**8,
    passed_bytes=0,
    state_bytes=6 * 10**6,
)
TWO = replace(
    ONE, workers=2, seconds=50.0, worker_seconds=90.0, control_seconds=2.0, passed_bytes=3 * 10**8
)
SMALL = replace(ONE, rows=10**5, data_bytes=10**7, worker_seconds=43.2, alone_seconds=0.036)


def test_the_gain_of_two_workers() -> None:
    text = page.table([ONE, TWO, ONE, replace(TWO, seconds=40.0), ONE, replace(TWO, seconds=60.0)])
    assert "| 1,000,000 | 2 | 3 | 50.0 | 3.6 | 90.0 | 2.0 | 100.0 MB | 300.0 MB | 6.0 MB |" in text
    assert "1.80 times as fast as one (limit 1.7, kept; median of the turns), and 2.00 times" in text
    assert "the fastest fits give 2.25;" in text  # 90 / 40
    assert "the time alone 1.85." in text  # (3.6 + 86.4) / (3.6 + 90 / 2)
    assert text.endswith("Machine: a machine, load 0.5 to 0.5.")
    assert "**missed**" in page.table([ONE, replace(TWO, seconds=60.0)])


def test_costs_grow_with_the_power_measured_and_at_least_with_the_rows() -> None:
    assert Cost({100: 3.0}).at(1_000) == pytest.approx(30)
    assert Cost({10: 1.0, 1_000: 10.0}).power == pytest.approx(0.5)
    assert Cost({10: 1.0, 1_000: 10.0}).at(10_000) == pytest.approx(100)
    assert Cost({10: 1.0, 100: 100.0}).at(1_000) == pytest.approx(10_000)


def test_the_estimate_by_hand() -> None:
    predictions = {
        ("predict", rows): streams.Row("predict", rows, "quick", "a machine", 0.0, seconds, 0)
        for rows, seconds in ((10**6, 60.0), (10**7, 600.0))
    }
    lines = estimate([SMALL, ONE, TWO], predictions).splitlines()
    found = [line.removesuffix(" |").rpartition("| ")[2] for line in lines[2:]]
    # 100 times the rows: data and work are multiplied by 100; the time alone grows with rows².
    assert found == [
        "10 GB",
        "20 GB",  # (100 + 300) MB · 100 / 2 workers
        "2.0 TB",  # 100 times 20 GB
        "0.4 hours",  # 1,600 seconds
        "0.6 GB",  # 0.1 MB a piece, 3 stages of 20 epochs, 100 runs
        "one run: 0.4 hours",  # 86.4 s · 100 / 6 runs
        "10.0 hours",  # 3.6 s · 100²
        "10.8 hours",
        "1.0 minutes",  # 6,000 s on 100 cores
    ]


def test_bytes_are_counted_once_for_each_array(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def results(workers, tasks):
        yield iter([(0, [np.zeros(10)]), (1, [np.zeros(10)])])

    class Piece:
        code, leaves = b"12", b"345"

    monkeypatch.setattr(Workers, "results", results)
    data, meter = np.zeros(1_000, np.float32), Meter()
    tasks = [(None, (number, Piece(), data), {}) for number in range(2)]
    with meter.on(), Workers().results(tasks) as answers:
        assert len(list(answers)) == 2
    assert (meter.data, meter.state, meter.pieces) == (4_000, 2 * (5 + 80), 2)
    assert Workers.results is results


def test_the_page_reads_the_committed_rows() -> None:
    text = page.PAGE.read_text()
    if rows := page.read(page.ROWS):
        assert page.table(rows) in text
        assert estimate(rows, streams.read(streams.ROWS)) in text
