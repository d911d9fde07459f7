"""The HTTP service: rows in, mean and both uncertainties out."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from typing import Annotated, Any

import anyio
import pandas
from anyio.to_thread import run_sync
from fastapi import FastAPI, File, Request, Response, UploadFile
from fastapi.responses import HTMLResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

import vebnn
from vebnn.tabular.columns import Column, NumberColumn
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.files import read_csv
from vebnn.tabular.model import TableModel
from vebnn.tabular.sequences.encoder import SequenceEncoder
from vebnn.tabular.service.access import UNAUTHORISED, RequireKey
from vebnn.tabular.service.answers import PredictResponse, answer_csv, answer_json
from vebnn.tabular.service.errors import add_handlers
from vebnn.tabular.service.explaining import add_explanations
from vebnn.tabular.service.limits import (
    BAD_REQUEST,
    MAX_BYTES,
    MAX_ROWS,
    TOO_LARGE,
    LimitBody,
    Limits,
)
from vebnn.tabular.service.messages import INVALID, JSON, NOT_JSON, json_body, refusals, schema_of
from vebnn.tabular.service.rows import Level, PredictRequest, read_rows

WARM_ROWS = (1, 2, 4, 8, 16, 32, 64)  # other numbers of rows are padded to powers of two
AT_ONCE = 2  # predictions; more threads would only compete for Python's global lock
# The page is self-contained: whatever a model's names contain, nothing else is loaded or sent.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:"
)


def create_app(
    model: TableModel,
    *,
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
    api_keys: Sequence[str] = (),
    allow_hosts: Sequence[str] = (),
) -> FastAPI:
    """Return the service of a model, with its programs compiled.

    Args:
      model: what predicts.
      max_rows: largest number of rows in a request.
      max_bytes: largest size of a request.
      api_keys: keys of which a request must have one; none means that everybody may ask.
      allow_hosts: names by which the service may be called, such as ``"*.example.org"``; none means
        all.
    """
    for rows in _rows_to_warm_up(model):
        model.predict(rows)
    of_rows = isinstance(model.encoder, TableEncoder)
    if of_rows:
        model.explain(pandas.DataFrame([model.typical_row]))
    # FastAPI's interactive pages load scripts from other hosts, so only the schema is served.
    app = FastAPI(title="vebnn", version=vebnn.__version__, docs_url=None, redoc_url=None)
    add_handlers(app)
    limits = Limits(max_rows, max_bytes)
    # What is added last is asked first.
    app.add_middleware(LimitBody, max_bytes=max_bytes)
    if api_keys:
        app.add_middleware(RequireKey, keys=api_keys)
    if allow_hosts:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=allow_hosts, www_redirect=False)
    _add_descriptions(app, model, max_rows)
    _add_predictions(app, model, limits)
    if of_rows:
        add_explanations(app, model, limits)
    return app


def _rows_to_warm_up(model: TableModel) -> list[pandas.DataFrame]:
    """Return rows whose predictions compile the programs of most requests."""
    if isinstance(model.encoder, SequenceEncoder):
        return [model.encoder.example_rows]
    return [pandas.DataFrame([model.typical_row] * number) for number in WARM_ROWS]


def _add_descriptions(app: FastAPI, model: TableModel, max_rows: int) -> None:
    page = _page(model)
    facts = model.facts
    typical = model.typical_row if isinstance(model.encoder, TableEncoder) else {}
    description = {
        "vebnn": vebnn.__version__,
        "estimator": type(model.estimator).__name__,
        "features": [_feature(column, typical.get(column.name)) for column in model.encoder.columns],
        "targets": [one._asdict() for one in facts.targets],
        "scores": [one._asdict() for one in facts.scores],
        "trained_rows": facts.num_trained,
        "calibration": facts.calibration,
        "settings": {name: _setting(value) for name, value in model.settings.items()},
        "max_rows": max_rows,
    }
    if isinstance(encoder := model.encoder, SequenceEncoder):
        description |= {"sequence": encoder.by._asdict(), "example": encoder.example}

    # Functions without `async` would queue for a thread behind the predictions.
    @app.get("/", include_in_schema=False)
    async def show_page() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Report that the service is ready."""
        return {"status": "ok", "vebnn": vebnn.__version__}

    @app.get("/model", responses=refusals(UNAUTHORISED))
    async def show_model() -> dict[str, Any]:
        """Describe the model: features with kinds and ranges, targets, scores and settings."""
        return description


def _page(model: TableModel) -> str:
    """Return the page of a model, with the style and the functions that all pages share."""
    assets = files("vebnn.tabular.service") / "assets"
    sequences = isinstance(model.encoder, SequenceEncoder)
    page = (assets / ("sequences.html" if sequences else "page.html")).read_text("utf-8")
    for shared in ("page.css", "page.js"):
        page = page.replace(f"/* {shared} */", (assets / shared).read_text("utf-8"))
    return page


def _add_predictions(app: FastAPI, model: TableModel, limits: Limits) -> None:
    threads = anyio.CapacityLimiter(AT_ONCE)

    async def in_thread(work: Callable[[], Response]) -> Response:
        return await run_sync(work, limiter=threads)

    @app.post(
        "/predict",
        response_model=PredictResponse,
        responses=refusals(BAD_REQUEST, UNAUTHORISED, TOO_LARGE, NOT_JSON) | INVALID,
        openapi_extra=schema_of(PredictRequest),
    )
    async def predict(request: Request) -> Response:
        """Predict rows given as JSON objects, one value per feature."""
        return await in_thread(partial(_predict_json, model, limits, await json_body(request)))

    @app.post(
        "/predict/csv",
        response_model=PredictResponse,
        responses=refusals(BAD_REQUEST, UNAUTHORISED, TOO_LARGE),
    )
    async def predict_csv(
        request: Request,
        file: Annotated[UploadFile, File(description="A CSV file with the features as columns.")],
        level: Level = 0.95,
    ) -> Response:
        """Predict the rows of a CSV file; answer with CSV if the request accepts text/csv."""
        content = await file.read()
        as_csv = "text/csv" in request.headers.get("accept", "")
        return await in_thread(partial(_predict_csv, model, limits, content, level, as_csv))


def _predict_json(model: TableModel, limits: Limits, body: bytes) -> Response:
    asked = read_rows(body, model.encoder, limits, PredictRequest)
    content = answer_json(model, asked.table, asked.request.level, asked.unknown)
    return Response(content, media_type=JSON)


def _predict_csv(
    model: TableModel, limits: Limits, content: bytes, level: float, as_csv: bool
) -> Response:
    limits.check_csv(content, len(model.encoder.known_names))
    table = read_csv(content, "upload.csv", model.encoder.label_names)
    if as_csv:
        return Response(answer_csv(model, table, level), media_type="text/csv")
    return Response(answer_json(model, table, level, []), media_type=JSON)


def _feature(column: Column, typical: Any) -> dict[str, Any]:
    shared = {"name": column.name, "kind": column.kind, "typical": typical}
    if isinstance(column, NumberColumn):
        return {**shared, "low": column.low, "high": column.high, "whole": column.whole}
    if isinstance(column, DateColumn):
        ends = {"low": column.written(column.low), "high": column.written(column.high)}
        return {**shared, **ends, "times": column.has_times}
    return {**shared, "categories": column.present}


def _setting(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
