"""Notices that count values: those of many blocks of rows add up to those of the table."""

from collections.abc import Iterable
from typing import Any

from vebnn.tabular.errors import counted, quoted_list

MOST_LABELS = 1_000  # remembered by a notice


class CountedNotice(str):
    """Text such as ``"x: 3 values outside the training range"``, with its number."""

    parts: tuple[str, int, str, tuple[str, ...], str]

    def __new__(
        cls, before: str, number: int, noun: str, after: str, labels: Iterable[str] = ()
    ) -> "CountedNotice":
        """Return the text: what stands before the number, the noun, some labels, and the rest."""
        some = tuple(dict.fromkeys(labels))[:MOST_LABELS]
        naming = f" with {quoted_list(some)}" if some else ""
        notice = super().__new__(cls, f"{before}{counted(number, noun)}{naming}{after}")
        notice.parts = (before, number, noun, some, after)
        return notice

    def __getnewargs__(self) -> tuple[Any, ...]:  # for pickle
        before, number, noun, labels, after = self.parts
        return before, number, noun, after, labels


def merged(notices: Iterable[str]) -> list[str]:
    """Return the notices of several blocks as those of all their rows."""
    found: dict[Any, str] = {}
    for notice in notices:
        if not isinstance(notice, CountedNotice):
            found.setdefault(notice, notice)
            continue
        before, number, noun, labels, after = notice.parts
        earlier = found.get(key := (before, noun, after))
        if isinstance(earlier, CountedNotice):
            number, labels = number + earlier.parts[1], earlier.parts[3] + labels
        found[key] = CountedNotice(before, number, noun, after, labels)
    return list(found.values())


def as_json(notices: Iterable[str]) -> list[Any]:
    """Return notices as JSON can hold them."""
    return [list(one.parts) if isinstance(one, CountedNotice) else one for one in notices]


def from_json(saved: Iterable[Any]) -> list[str]:
    """Return what :func:`as_json` was given."""
    return [one if isinstance(one, str) else _counted(*one) for one in saved]


def _counted(before: str, number: int, noun: str, labels: list[str], after: str) -> CountedNotice:
    return CountedNotice(before, number, noun, after, labels)
