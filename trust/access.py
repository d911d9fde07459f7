"""API keys and host names of a service."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from trust.abuse import Abuse, send
from trust.promises import Promise
from trust.serving import serving

KEY = "0123456789abcdef0123456789abcdef"
UNAUTHORISED, WRONG_HOST = 401, 400


class Visit(NamedTuple):
    """A request and the status it must get."""

    host: str
    authorisation: str
    status: int

    def request(self) -> str:
        """Return the request."""
        key = f"Authorization: {self.authorisation}\r\n" if self.authorisation else ""
        return f"GET /model HTTP/1.1\r\nHost: {self.host}\r\n{key}\r\n"


VISITS = (
    Visit("lab.example.org", f"Bearer {KEY}", 200),
    Visit("lab.example.org:8000", f"bearer {KEY}", 200),
    Visit("lab.example.org", "", UNAUTHORISED),
    Visit("lab.example.org", f"Bearer {KEY[:-1]}", UNAUTHORISED),
    Visit("lab.example.org", f"Basic {KEY}", UNAUTHORISED),
    Visit("lab.example.org", "Bearer ", UNAUTHORISED),
    Visit("evil.example.com", f"Bearer {KEY}", WRONG_HOST),
    Visit("127.0.0.1", f"Bearer {KEY}", WRONG_HOST),
    Visit("lab.example.org.evil.com", f"Bearer {KEY}", WRONG_HOST),
)


def check_access(model: Path) -> Promise:
    """Start a service with a key and a host name; ask with right and wrong ones."""
    wrong = []
    with NamedTemporaryFile("w") as keys:
        keys.write(f"{KEY}\n")
        keys.flush()
        with serving(model, "--api-key-file", keys.name, "--allow-host", "lab.example.org") as service:
            for visit in VISITS:
                abuse = Abuse(visit.host, visit.request(), (visit.status,))
                if not (got := send(abuse, service.port)).expected:
                    wrong.append(f"{visit.host}, {visit.authorisation!r}: {got.status}")
    return Promise(
        "With --api-key-file and --allow-host, only the right key and name get an answer",
        "; ".join(wrong) or f"{len(VISITS)} of {len(VISITS)} requests",
        not wrong,
    )
