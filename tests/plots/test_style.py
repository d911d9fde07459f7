from pathlib import Path
from xml.etree import ElementTree

from matplotlib.figure import Figure

from vebnn.plots import save_figure


def test_save_writes_both_files_whole(tmp_path: Path) -> None:
    picture, drawing = save_figure(Figure(), tmp_path / "new" / "folder", "name")
    assert sorted(path.name for path in picture.parent.iterdir()) == ["name.png", "name.svg"]
    plain = tmp_path / "plain"
    plain.touch()
    assert picture.stat().st_mode == plain.stat().st_mode  # whoever may read files may read these
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ElementTree.parse(drawing).getroot().tag == "{http://www.w3.org/2000/svg}svg"
