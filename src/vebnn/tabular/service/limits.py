"""Limits of a request, applied before anything is made of it."""

import asyncio
import re
from contextlib import nullcontext
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vebnn.tabular.errors import TableError

TOO_LARGE, BAD_REQUEST, BUSY = 413, 400, 429
MAX_ROWS, MAX_BYTES = 10_000, 5_000_000
LARGE_BYTES, LARGE_AT_ONCE = 64_000, 8
MAX_UNKNOWN = 100  # names of fields that the model does not know


class Limits(NamedTuple):
    """The size of the largest request."""

    max_rows: int = MAX_ROWS
    max_bytes: int = MAX_BYTES

    def check_rows(self, num_rows: int) -> None:
        """Raise 413 if there are more rows."""
        if num_rows > self.max_rows:
            detail = f"A request may have at most {self.max_rows:,} rows. Send them in parts."
            raise HTTPException(TOO_LARGE, detail)

    def check_csv(self, content: bytes, num_known: int) -> None:
        """Raise 413 or TableError by counting lines and separators, before a table is made.

        A short file can be a large table: every row has as many cells as the header.
        """
        text = content.strip()
        # "\r\n", "\n" and "\r" end a line. A line break inside quotes counts, too.
        self.check_rows(text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n"))
        header = re.split(rb"[\r\n]", text, maxsplit=1)[0]
        if max(header.count(b","), header.count(b";")) >= num_known + MAX_UNKNOWN:
            raise too_many_unknown()


def too_many_unknown(row: int | None = None) -> TableError:
    """Return the error for more than ``MAX_UNKNOWN`` different unknown fields."""
    return TableError(
        f"A request may have at most {MAX_UNKNOWN} different fields that the model does not know. "
        f"Leave them out; GET /model lists those it knows.",
        row=row,
    )


class LimitBody:
    """Refuse bodies of more than ``max_bytes``, and take few large ones at a time.

    Otherwise many clients could fill the memory with bodies that wait for their turn.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app, self.max_bytes = app, max_bytes
        self.large_bodies = asyncio.Semaphore(LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its bytes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = self.max_bytes if b"transfer-encoding" in headers else 0
        announced = headers.get(b"content-length", b"")
        length = int(announced) if announced.isdigit() else length
        if length > self.max_bytes:
            await JSONResponse({"detail": self._detail()}, TOO_LARGE)(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_bytes:
                raise HTTPException(TOO_LARGE, self._detail())
            return message

        async with self.large_bodies if length > LARGE_BYTES else nullcontext():
            await self.app(scope, counted, send)

    def _detail(self) -> str:
        return f"The body must have at most {self.max_bytes:,} bytes. Send fewer rows at a time."
