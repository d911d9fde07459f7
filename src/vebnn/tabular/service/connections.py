"""Connections that a slow or silent client cannot keep."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 30.0
CLOSING_SECONDS = 3.0  # of an answer that is under way when the service is stopped


class TimedConnection(H11Protocol):
    """uvicorn's HTTP/1.1, with an end to waiting for a client.

    A request must have arrived ``seconds`` after the connection was made or after its first byte, and
    an answer must be taken in as many. uvicorn itself only ends idle connections.
    """

    def __init__(self, *arguments: Any, seconds: float = REQUEST_SECONDS, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.seconds = seconds
        self._arriving: asyncio.TimerHandle | None = None  # the end of waiting for a request
        self._taking: asyncio.TimerHandle | None = None  # the end of waiting for the client to read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a request."""
        super().connection_made(transport)
        self._expect_request()

    def data_received(self, data: bytes) -> None:
        """Expect the rest of a request, unless it is complete."""
        self._expect_request()
        super().data_received(data)
        self._forget_if_arrived()

    def on_response_complete(self) -> None:
        """Go on with the next request, of which a part may be here already."""
        super().on_response_complete()
        if self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY:
            self._expect_request()
            self._forget_if_arrived()

    def pause_writing(self) -> None:
        """Expect the client to read."""
        super().pause_writing()
        self._taking = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting: the client has read."""
        super().resume_writing()
        self._taking = _cancel(self._taking)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, also if the client has not read its last answer."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.seconds, self.transport.abort)

    def shutdown(self) -> None:
        """Let an answer be finished; drop a request that has not arrived."""
        if self._arriving is not None:
            self.transport.abort()
        else:
            super().shutdown()
            self.loop.call_later(CLOSING_SECONDS, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._arriving, self._taking = _cancel(self._arriving), _cancel(self._taking)
        super().connection_lost(exc)

    def _expect_request(self) -> None:
        if self._arriving is None:
            self._arriving = self.loop.call_later(self.seconds, self.transport.abort)

    def _forget_if_arrived(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._arriving = _cancel(self._arriving)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
