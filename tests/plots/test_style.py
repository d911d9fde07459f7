from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from vebnn.plots import save_figure
from vebnn.plots.style import logarithmic


def test_save_writes_both_files_whole(tmp_path: Path) -> None:
    picture, drawing = save_figure(Figure(), tmp_path / "new" / "folder", "name")
    assert sorted(path.name for path in picture.parent.iterdir()) == ["name.png", "name.svg"]
    plain = tmp_path / "plain"
    plain.touch()
    assert picture.stat().st_mode == plain.stat().st_mode  # the permissions of any new file
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ElementTree.parse(drawing).getroot().tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize(
    ("drawn", "ticks"),
    [
        ([12.2, 17.4], ["12", "14", "16"]),
        ([0.02, 1.5], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"]),
    ],
)
def test_logarithmic_scale_has_plain_numbers_however_narrow(drawn: list, ticks: list) -> None:
    axes = Figure().subplots()
    canvas = FigureCanvasAgg(axes.figure)
    axes.plot(drawn)
    logarithmic(axes)
    canvas.draw()
    low, high = axes.get_ylim()
    texts = [label.get_text() for label in axes.get_yticklabels()]
    shown = zip(axes.get_yticks(), texts, strict=True)
    assert axes.get_yscale() == "log"
    assert [text for place, text in shown if low <= place <= high] == ticks
