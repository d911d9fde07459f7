"""Files from the web, and where they are kept."""

import io
from pathlib import Path

SECONDS_WITHOUT_ANSWER = 30


class DownloadFailed(Exception):
    """Why a file cannot be had, in a few words."""


def cache_folder() -> Path:
    """Return the folder for downloaded data, below the user's cache folder."""
    import pooch

    return pooch.os_cache("vebnn")


def download(url: str) -> bytes:
    """Return a file in memory, so that nothing of it is on disk before it has been checked.

    Raises:
      DownloadFailed: if it is not there, the server does not answer, or the transfer breaks off.
    """
    import pooch

    content = io.BytesIO()
    # Not streamed: a stream that is given up, as after a 404, leaves its connection open.
    fetch = pooch.HTTPDownloader(timeout=SECONDS_WITHOUT_ANSWER, stream=False, chunk_size=2**16)
    try:
        fetch(url, content, None)
    except OSError as error:  # what the requests library raises is always one
        response = getattr(error, "response", None)
        answer = None if response is None else f"{response.status_code} {response.reason}".strip()
        raise DownloadFailed(answer or type(error).__name__) from error
    return content.getvalue()
