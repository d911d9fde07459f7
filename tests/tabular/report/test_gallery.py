"""Images in the report: the right ones, in the right order, bit for bit."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.discs import write_discs
from vebnn.tabular.model import TableModel
from vebnn.tabular.report.findings import Findings, find_out
from vebnn.tabular.report.gallery import as_data_uri, gallery
from vebnn.tabular.report.page import write_report


@pytest.fixture(scope="module")
def findings(discs_model: Path) -> Findings:
    folder = discs_model.with_name("discs")
    model = TableModel.load(discs_model)
    rows = model.encoder.reading(folder).encode(write_discs(folder))
    return find_out(model, rows, "labels.csv")


@pytest.mark.parametrize("channels", [1, 3])
def test_images_are_embedded_as_they_are(rng: np.random.Generator, channels: int) -> None:
    pixels = rng.integers(0, 256, (5, 7, channels), np.uint8)
    kind, content = as_data_uri(pixels).split(",")
    assert kind == "data:image/png;base64"
    found = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))
    np.testing.assert_array_equal(found.reshape(pixels.shape), pixels)


def test_images_the_model_knows_least_come_first(findings: Findings) -> None:
    (target,) = findings.targets
    shown = gallery(findings, target, target.epistemic_std)
    assert len(shown) == 12
    found = [one.epistemic_std for one in shown]
    assert found == sorted(target.epistemic_std, reverse=True)[:12]
    first = int(np.argmax(target.epistemic_std))
    assert shown[0].row == first + 1
    assert shown[0].name == findings.frame["file"][first]
    assert shown[0].source == as_data_uri(findings.evaluation.table.matrix[first])
    assert shown[0].observed == findings.frame["radius"][first]
    assert shown[0].trained == findings.evaluation.trained[first]
    noisiest = gallery(findings, target, target.aleatoric_std)
    assert noisiest[0].aleatoric_std == target.aleatoric_std.max()


def test_report_of_images_has_no_features(findings: Findings, tmp_path: Path) -> None:
    write_report(
        findings.model,
        findings.evaluation.table,
        tmp_path / "report.html",
        data_name="labels.csv",
        model_name="discs.model",
    )
    page = (tmp_path / "report.html").read_text()
    assert page.count('<img src="data:image/png;base64,') == 24
    assert "Images the model knows least" in page
    assert "One feature at a time" not in page
    assert "16 × 16 pixels, grey" in page
    assert "The model knows least about row" in page
