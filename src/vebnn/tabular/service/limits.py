"""Limit on the size of a request, applied while it is read."""

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOO_LARGE = 413


class LimitBody:
    """Refuse bodies of more than ``max_bytes``, with or without a Content-Length."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app, self.max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its bytes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self.max_bytes:
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

        await self.app(scope, counted, send)

    def _detail(self) -> str:
        return f"The body must have at most {self.max_bytes:,} bytes. Send fewer rows at a time."
