"""What the addresses of the service share: bodies of JSON, and refusals in the schema."""

from typing import Any

from fastapi import HTTPException, Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from vebnn.tabular.service.access import UNAUTHORISED
from vebnn.tabular.service.limits import BAD_REQUEST, BUSY, TOO_LARGE

JSON = "application/json"
NOT_JSON = 415
INVALID: dict[int | str, dict[str, Any]] = {
    422: {
        "description": "Validation Error",
        "content": {JSON: {"schema": {"$ref": "#/components/schemas/HTTPValidationError"}}},
    }
}


async def json_body(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
      HTTPException: 415 if it is not called JSON; 400 if the client has gone, so that nobody reads it.
    """
    try:
        body = await request.body()
    except ClientDisconnect:
        raise HTTPException(BAD_REQUEST) from None
    # Browsers send other types to other sites without asking them.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise HTTPException(NOT_JSON, f"The Content-Type must be {JSON}.")
    return body


def schema_of(form: type[BaseModel]) -> dict[str, Any]:
    """Return what OpenAPI says of a body that the service reads itself."""
    content = {JSON: {"schema": form.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    """Return what OpenAPI says of these answers."""
    words = {
        BAD_REQUEST: "Not HTTP that can be read",
        UNAUTHORISED: "No valid API key",
        TOO_LARGE: "Too many rows or bytes",
        NOT_JSON: "Not JSON",
        BUSY: "Too many explanations are waiting",
    }
    return {code: {"description": words[code]} for code in codes}
