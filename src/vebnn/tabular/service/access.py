"""Who may ask: API keys."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

UNAUTHORISED = 401
SHORTEST_KEY = 16
# The page holds nothing of the model, and asks for a key itself.
OPEN_PATHS = ("/", "/health")


def read_keys(path: Path) -> tuple[str, ...]:
    """Read a file of API keys, one per line; empty lines and those that begin with # do not count.

    Raises:
      ValueError: if there is none, or one that is too short or cannot be sent in a header.
    """
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    keys = tuple(line for line in lines if line and not line.startswith("#"))
    if not keys:
        raise ValueError(f"The --api-key-file {path} has no key. Write one per line.")
    for number, key in enumerate(keys, 1):
        if len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
            # The key itself must not get into a log.
            raise ValueError(
                f"A key in --api-key-file must have at least {SHORTEST_KEY} characters, all ASCII, no "
                f"space. Key {number} in {path} has {len(key)}; make one with: openssl rand -hex 32."
            )
    return keys


class RequireKey:
    """Answer 401 unless ``Authorization: Bearer`` has one of the keys."""

    def __init__(self, app: ASGIApp, keys: Sequence[str]) -> None:
        self.app, self.keys = app, [key.encode() for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it has a key or needs none."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            # All keys are compared, each in constant time: how long it takes says nothing of them.
            matches = [secrets.compare_digest(given.strip().encode(), key) for key in self.keys]
            if scheme.lower() != "bearer" or not any(matches):
                answer = JSONResponse(
                    {"detail": "An API key is needed: send the header Authorization: Bearer KEY."},
                    UNAUTHORISED,
                    {"WWW-Authenticate": "Bearer"},
                )
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)
