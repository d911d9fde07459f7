"""The HTTP service: rows in, mean and both uncertainties out."""

from importlib.resources import files
from typing import Annotated, Any

import pandas
from fastapi import FastAPI, File, HTTPException, Query, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field

import vebnn
from vebnn.calibration import UnreachableLevel
from vebnn.tabular.columns import Column, NumberColumn
from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_csv
from vebnn.tabular.model import TableModel
from vebnn.tabular.scores import columns_of
from vebnn.tabular.service.limits import TOO_LARGE, LimitBody

MAX_ROWS, MAX_BYTES = 10_000, 5_000_000
WARM_ROWS = (1, 2, 4, 8, 16, 32, 64)  # other numbers of rows are padded to powers of two
# The page is self-contained: whatever a model's names contain, nothing else is loaded or sent.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:"
)

Level = Annotated[
    float, Field(gt=0, lt=1, description="Probability that an interval holds a new observation.")
]


class PredictRequest(BaseModel):
    """Rows to predict: every feature has a value, or null where it is missing."""

    model_config = ConfigDict(extra="forbid")
    rows: Annotated[list[dict[str, bool | int | float | str | None]], Field(min_length=1)]
    level: Level = 0.95


class TargetPrediction(BaseModel):
    """One target of one row, in the units of the training table."""

    mean: float
    std: float
    aleatoric_std: float
    epistemic_std: float
    lower: float
    upper: float


class PredictResponse(BaseModel):
    """Predictions, one per row and target."""

    level: float
    notices: list[str]
    predictions: list[dict[str, TargetPrediction]]


def create_app(model: TableModel, *, max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES) -> FastAPI:
    """Return the service of a model, with its programs compiled; the limits are those of a request."""
    # FastAPI's interactive pages load scripts from other hosts, so only the schema is served.
    app = FastAPI(title="vebnn", version=vebnn.__version__, docs_url=None, redoc_url=None)
    app.add_middleware(LimitBody, max_bytes=max_bytes)
    page = (files("vebnn.tabular.service") / "assets" / "page.html").read_text("utf-8")
    names = [column.name for column in model.encoder.columns]
    for num_rows in WARM_ROWS:
        model.predict(pandas.DataFrame([model.encoder.typical_row] * num_rows))

    @app.exception_handler(TableError)
    def explain(request: Request, error: TableError) -> JSONResponse:
        place = [part for part in ("body", "rows", error.row, error.column) if part is not None]
        return JSONResponse({"detail": [{"loc": place, "msg": str(error), "type": "table"}]}, 422)

    @app.exception_handler(UnreachableLevel)
    def explain_level(request: Request, error: UnreachableLevel) -> JSONResponse:
        return JSONResponse({"detail": [{"loc": ["level"], "msg": str(error), "type": "level"}]}, 422)

    @app.get("/", include_in_schema=False)
    def show_page() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})

    @app.get("/health")
    def health() -> dict[str, str]:
        """Report that the service is ready."""
        return {"status": "ok", "vebnn": vebnn.__version__}

    @app.get("/model")
    def show_model() -> dict[str, Any]:
        """Describe the model: features with kinds and ranges, targets, scores and settings."""
        facts = model.facts
        return {
            "vebnn": vebnn.__version__,
            "estimator": type(model.estimator).__name__,
            "features": [_feature(column) for column in model.encoder.columns],
            "targets": [one._asdict() for one in facts.targets],
            "scores": [one._asdict() for one in facts.scores],
            "trained_rows": facts.num_trained,
            "calibration": facts.calibration,
            "settings": {name: _setting(value) for name, value in model.settings.items()},
            "max_rows": max_rows,
        }

    @app.post("/predict")
    def predict(request: PredictRequest) -> PredictResponse:
        """Predict rows given as JSON objects, one value per feature."""
        _check_number(len(request.rows), max_rows)
        for position, row in enumerate(request.rows):
            for name in names:
                if name not in row:
                    message = (
                        f"Row {position + 1} lacks {name!r}. Give a value, or null if it is missing."
                    )
                    raise TableError(message, name, position)
        return _response(model, pandas.DataFrame(request.rows), request.level)

    @app.post("/predict/csv", response_model=PredictResponse)
    def predict_csv(
        request: Request,
        file: Annotated[UploadFile, File(description="A CSV file with the features as columns.")],
        level: Annotated[float, Query(gt=0, lt=1)] = 0.95,
    ) -> Any:
        """Predict the rows of a CSV file; answer with CSV if the request accepts text/csv."""
        frame = read_csv(file.file.read(), file.filename or "upload.csv")
        _check_number(len(frame), max_rows)
        if "text/csv" in request.headers.get("accept", ""):
            prediction, _ = model.predict(frame)
            table = model.prediction_table(frame, prediction, level)
            return Response(table.to_csv(index=False), media_type="text/csv")
        return _response(model, frame, level)

    return app


def _check_number(num_rows: int, max_rows: int) -> None:
    if num_rows > max_rows:
        detail = f"A request may have at most {max_rows:,} rows. Got {num_rows:,}; send them in parts."
        raise HTTPException(TOO_LARGE, detail)


def _feature(column: Column) -> dict[str, Any]:
    shared = {"name": column.name, "kind": column.kind, "typical": column.typical}
    if isinstance(column, NumberColumn):
        return {**shared, "low": column.low, "high": column.high, "whole": column.whole}
    return {**shared, "categories": column.present}


def _setting(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _response(model: TableModel, frame: pandas.DataFrame, level: float) -> PredictResponse:
    prediction, notices = model.predict(frame)
    lower, upper = prediction.interval(level)
    stds = {name: getattr(prediction, name) for name in ("std", "aleatoric_std", "epistemic_std")}
    parts = {"mean": prediction.mean, **stds, "lower": lower, "upper": upper}
    columns = {name: columns_of(values).tolist() for name, values in parts.items()}
    predictions = [
        {
            target: TargetPrediction(**{name: values[row][at] for name, values in columns.items()})
            for at, target in enumerate(model.targets)
        }
        for row in range(len(prediction))
    ]
    return PredictResponse(level=level, notices=list(notices), predictions=predictions)
