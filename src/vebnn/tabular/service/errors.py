"""Errors of a request as short answers: the first few, without what was sent."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from vebnn.calibration import UnreachableLevel
from vebnn.tabular.errors import TableError
from vebnn.tabular.service.rows import InvalidBody

UNPROCESSABLE = 422
MOST_ERRORS, LONGEST_PLACE = 5, 60


def add_handlers(app: FastAPI) -> None:
    """Answer 422 to everything that is wrong with a request's content."""

    @app.exception_handler(TableError)
    async def explain_table(request: Request, error: TableError) -> Response:
        place = [part for part in ("body", "rows", error.row, error.column) if part is not None]
        return _refusal([{"loc": place, "msg": str(error), "type": "table"}])

    @app.exception_handler(UnreachableLevel)
    async def explain_level(request: Request, error: UnreachableLevel) -> Response:
        return _refusal([{"loc": ["level"], "msg": str(error), "type": "level"}])

    @app.exception_handler(InvalidBody)
    async def explain_body(request: Request, error: InvalidBody) -> Response:
        return _refusal(error.errors)

    @app.exception_handler(RequestValidationError)
    async def explain_parameters(request: Request, error: RequestValidationError) -> Response:
        return _refusal(error.errors())


def _refusal(errors: Iterable[Mapping[str, Any]]) -> Response:
    detail = [
        {"loc": [_cut(part) for part in one["loc"]], "msg": one["msg"], "type": one["type"]}
        for one in list(errors)[:MOST_ERRORS]
    ]
    # ASCII alone, so that names that are no valid Unicode can be answered, too.
    content = json.dumps({"detail": detail}, ensure_ascii=True)
    return Response(content, UNPROCESSABLE, media_type="application/json")


def _cut(part: str | int) -> str | int:
    return part[:LONGEST_PLACE] if isinstance(part, str) else part
