"""``POST /explain``: what each column adds to mean, noise and ignorance of a few rows."""

import json
from functools import partial
from typing import Any

import anyio
import numpy as np
from anyio.to_thread import run_sync
from fastapi import FastAPI, HTTPException, Request, Response
from pydantic import BaseModel

from vebnn.estimators import Explanation
from vebnn.estimators.explanations import OUTPUTS
from vebnn.tabular.errors import TableError
from vebnn.tabular.model import TableModel
from vebnn.tabular.service.access import UNAUTHORISED
from vebnn.tabular.service.answers import predict_finite
from vebnn.tabular.service.limits import BAD_REQUEST, BUSY, TOO_LARGE, Limits
from vebnn.tabular.service.messages import INVALID, JSON, NOT_JSON, json_body, refusals, schema_of
from vebnn.tabular.service.rows import RowsRequest, read_rows

# One row takes as long as thousands of predictions: few at a time, and few that wait.
MOST_ROWS = 8
MOST_WAITING = 16


class ExplainedOutput(BaseModel):
    """One output of one row: ``predicted`` is ``base`` plus all ``values``."""

    base: float  # average over training rows
    values: dict[str, float]  # what each feature adds
    predicted: float
    reason: str


class ExplainedTarget(BaseModel):
    """One target of one row, in the units of the training table."""

    mean: ExplainedOutput
    aleatoric_std: ExplainedOutput
    epistemic_std: ExplainedOutput


class ExplainResponse(BaseModel):
    """Explanations, one per row and target."""

    notices: list[str]
    explanations: list[dict[str, ExplainedTarget]]


def add_explanations(app: FastAPI, model: TableModel, limits: Limits) -> None:
    """Add the address to a service."""
    one_at_once = anyio.CapacityLimiter(1)
    limits = limits._replace(max_rows=min(limits.max_rows, MOST_ROWS))

    @app.post(
        "/explain",
        response_model=ExplainResponse,
        responses=refusals(BAD_REQUEST, UNAUTHORISED, TOO_LARGE, NOT_JSON, BUSY) | INVALID,
        openapi_extra=schema_of(RowsRequest),
    )
    async def explain(request: Request) -> Response:
        """Say what each feature adds to mean, noise and ignorance, of up to eight rows."""
        body = await json_body(request)
        if one_at_once.statistics().tasks_waiting >= MOST_WAITING:
            detail = "Too many explanations are waiting. Ask again in a second."
            raise HTTPException(BUSY, detail, {"Retry-After": "1"})
        return await run_sync(partial(_explain, model, limits, body), limiter=one_at_once)


def _explain(model: TableModel, limits: Limits, body: bytes) -> Response:
    asked = read_rows(body, model.table_encoder, limits, RowsRequest)
    _, notices = predict_finite(model, asked.table)
    about = [*notices, *model.encoder.notices_of_unknown(asked.unknown)]
    with np.errstate(over="ignore", invalid="ignore"):
        found = model.explain(asked.table)
    if not all(np.isfinite(part).all() for name in OUTPUTS for part in getattr(found, name)):
        raise TableError(
            "There is no explanation: between these rows and the training rows, predictions overflow."
        )
    return Response(answer(found, about), media_type=JSON)


def answer(explanation: Explanation, notices: list[str]) -> bytes:
    """Return an explanation as JSON, in the form of ExplainResponse."""
    names = explanation.target_names or ()

    def output_of(row: int, target: str, name: str) -> dict[str, Any]:
        base, values, predicted = explanation.output(name, target)
        return {
            "base": float(base),
            "values": dict(zip(explanation.features, values[row].tolist(), strict=True)),
            "predicted": float(predicted[row]),
            "reason": explanation.reason(row, name, target),
        }

    rows = [
        {target: {name: output_of(row, target, name) for name in OUTPUTS} for target in names}
        for row in range(len(explanation))
    ]
    content = {"notices": notices, "explanations": rows}
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
