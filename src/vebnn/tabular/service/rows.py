"""The body of ``POST /predict`` and ``/explain``: JSON, checked, as a table of the model's features.

Nothing here may hold Python's global lock for long, because ``/health`` waits for it.
"""

import math
from collections.abc import Callable
from json import JSONDecodeError, JSONDecoder
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Annotated, Any, Generic, NamedTuple, NoReturn, TypeVar

import pandas
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)

from vebnn.tabular.encoded import Encoder
from vebnn.tabular.errors import TableError
from vebnn.tabular.service.limits import MAX_UNKNOWN, Limits, too_many_unknown

# Python's fast scanner keeps the lock: about 20 ms for the worst body of this size.
FAST_BYTES = 100_000
LONGEST_WHOLE = 300  # digits; a double ends at 308
_Scanner = Callable[[str, int], Any]
_TYPES = (bool, int, float, str, type(None))


def _check_level(level: float) -> float:
    if (1 + level) / 2 == 1:
        raise ValueError("the level is so close to 1 that its interval has no end")
    return level


def _check_cell(value: Any) -> Any:
    if not isinstance(value, _TYPES):
        raise ValueError("a cell must be a valid number, text, true, false or null")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number must be finite; write null for a missing value")
    if isinstance(value, str) and not _is_unicode(value):
        raise ValueError("text must be valid Unicode, but this has half of a surrogate pair")
    return value


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


Level = Annotated[
    float,
    Field(
        gt=0,
        lt=1,
        allow_inf_nan=False,
        description="Probability that an interval holds a new observation.",
    ),
    AfterValidator(_check_level),
]
Cell = Annotated[
    bool | int | float | str | None,
    PlainValidator(_check_cell),
    WithJsonSchema({"anyOf": [{"type": kind} for kind in ("boolean", "number", "string", "null")]}),
]


class RowsRequest(BaseModel):
    """Rows for the model: every feature has a value, or null where it is missing."""

    model_config = ConfigDict(extra="forbid")
    rows: Annotated[list[dict[str, Cell]], Field(min_length=1), FailFast()]


class PredictRequest(RowsRequest):
    """Rows to predict: every feature has a value, or null where it is missing."""

    level: Level = 0.95


class InvalidBody(ValueError):
    """A body that is not JSON of the right form; ``errors`` are entries of a 422 answer."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__("The body is not valid.")
        self.errors = errors

    @classmethod
    def at(cls, place: tuple[str | int, ...], message: str) -> "InvalidBody":
        """Return the error of one place."""
        return cls([{"loc": ("body", *place), "msg": message, "type": "json"}])


Request = TypeVar("Request", bound=RowsRequest)


class RequestedRows(NamedTuple, Generic[Request]):
    """What a request asks for."""

    table: pandas.DataFrame  # the features of the model, and nothing else
    request: Request
    unknown: list[str]  # names of the fields that were dropped


def read_rows(
    body: bytes, encoder: Encoder, limits: Limits, form: type[Request]
) -> RequestedRows[Request]:
    """Return the rows of a body; limits come first, then the form, then the names.

    Raises:
      HTTPException: 413 if there are too many rows.
      InvalidBody: if it is not JSON, or not of the form.
      TableError: if a feature is missing, or too many fields are unknown.
    """
    scan = _Scan(encoder.known_names | form.model_fields.keys(), limits)
    content = scan.decode(body)
    try:
        request = form.model_validate(content)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidBody([{**one, "loc": ("body", *one["loc"])} for one in found]) from None
    names = encoder.input_names
    for position, row in enumerate(request.rows):
        for name in names:
            if name not in row:
                raise TableError(
                    f"Row {position + 1} lacks {name!r}. Give a value, or null if it is missing.",
                    name,
                    position,
                )
    table = pandas.DataFrame({name: [row[name] for row in request.rows] for name in names})
    return RequestedRows(table, request, list(scan.unknown))


class _Scan:
    """One pass over JSON that ends as soon as a limit is passed.

    Long bodies are scanned by the part of ``json`` that is written in Python: between any two of its
    steps, another thread can run.
    """

    def __init__(self, known: frozenset[str], limits: Limits) -> None:
        self.known, self.limits = known, limits
        self.unknown: dict[str, None] = {}  # in the order of their appearance
        self.num_objects = self.num_arrays = 0

    def decode(self, body: bytes) -> Any:
        """Return the content of a body."""
        # NaN and Infinity are read, so that they can be refused with the name of their field.
        decoder: Any = JSONDecoder(object_pairs_hook=self._object, parse_int=_whole)
        if len(body) > FAST_BYTES:
            decoder.parse_array, decoder.parse_object = self._scan_rows, self._scan_row
            decoder.scan_once = py_make_scanner(decoder)
        try:
            return decoder.decode(body.decode())
        except UnicodeDecodeError as error:
            raise InvalidBody.at((), f"The body is not UTF-8: see byte {error.start}.") from None
        except JSONDecodeError as error:
            message = f"The body is not JSON: {error.msg}, at character {error.pos}."
            raise InvalidBody.at((), message) from None
        except RecursionError:
            raise InvalidBody.at((), "The body is nested too deeply.") from None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        # Rows end before the object around them does; a valid body has no other objects.
        self.num_objects += 1
        self.limits.check_rows(self.num_objects - 1)
        row = dict(pairs)
        for name in row.keys() - self.known:
            if not _is_unicode(name):
                message = "A field's name must be valid Unicode, but has half of a surrogate pair."
                raise InvalidBody.at(("rows", self.num_objects - 1), message)
            self.unknown[name] = None
            if len(self.unknown) > MAX_UNKNOWN:
                raise too_many_unknown(self.num_objects - 1)
        return row

    def _scan_rows(self, start: tuple[str, int], scan: _Scanner) -> Any:
        """Scan an array, which must be the only one, and hold objects."""
        self.num_arrays += 1
        if self.num_arrays > 1:
            self._refuse_row()

        def scan_row(text: str, at: int) -> Any:
            if text[at : at + 1] != "{":
                self._refuse_row()
            return scan(text, at)

        return JSONArray(start, scan_row)

    def _scan_row(self, start: tuple[str, int], strict: bool, scan: _Scanner, *more: Any) -> Any:
        """Scan an object, up to its largest number of fields."""
        fields = iter(range(len(self.known) + MAX_UNKNOWN))

        def scan_cell(text: str, at: int) -> Any:
            if next(fields, None) is None:
                raise too_many_unknown(self.num_objects)
            return scan(text, at)

        return JSONObject(start, strict, scan_cell, *more)

    def _refuse_row(self) -> NoReturn:
        message = "A row must be an object, and a cell a number, text, true, false or null."
        raise InvalidBody.at(("rows", self.num_objects), message)


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= LONGEST_WHOLE else math.inf
