"""Images of the report: those that a model knows least, and those whose targets scatter most."""

import base64
import io
from typing import NamedTuple

import numpy as np

from vebnn.tabular.report.findings import Findings, TargetFindings
from vebnn.tabular.report.summary import reading

IMAGES_SHOWN = 12


class Picture(NamedTuple):
    """One image with its prediction."""

    row: int  # from 1
    name: str  # of the file
    source: str  # the image itself, as a data URI
    observed: float
    mean: float
    epistemic_std: float
    aleatoric_std: float
    trained: bool  # whether the model was trained or calibrated on it
    reading: str  # whether more data would help


def gallery(findings: Findings, target: TargetFindings, by: np.ndarray) -> list[Picture]:
    """Return the images with the largest ``by``, largest first."""
    table = findings.evaluation.table
    (column,) = findings.model.encoder.columns
    return [
        Picture(
            row=int(findings.row_numbers[row]),
            name=str(findings.frame[column.name].iloc[row]),
            source=as_data_uri(table.matrix[row]),
            observed=float(target.observed[row]),
            mean=float(target.mean[row]),
            epistemic_std=float(target.epistemic_std[row]),
            aleatoric_std=float(target.aleatoric_std[row]),
            trained=bool(findings.evaluation.trained[row]),
            reading=reading(target.aleatoric_std[row], target.epistemic_std[row]),
        )
        for row in map(int, np.argsort(-by, kind="stable")[:IMAGES_SHOWN])
    ]


def as_data_uri(pixels: np.ndarray) -> str:
    """Return an image of bytes, ``(height, width, channels)``, as a PNG inside of an address."""
    from PIL import Image

    grey = pixels.shape[-1] == 1
    content = io.BytesIO()
    Image.fromarray(pixels[..., 0] if grey else pixels).save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"
