"""Which methods belong together, and in which order methods and data sets stand."""

import re
from collections.abc import Iterable

from vebnn.bench.comparison.published import published_datasets
from vebnn.bench.methods import ENGINE_NAMES, METHODS

SINGLE, PEERS = "", "peers"
_FAMILIES = (SINGLE, *ENGINE_NAMES, PEERS)


def family_of(method: str) -> str:
    """Return the engine of a method: methods of one engine are variants of each other.

    Single networks have the family :data:`SINGLE`, and methods of other origin :data:`PEERS`; these
    two are no families in the sense of the paper, whose members could be compared as variants.
    """
    if method not in METHODS:
        return PEERS
    return METHODS[method].engine or SINGLE


def are_variants(family: str) -> bool:
    """Return whether the members of a family differ in nothing but how they treat the noise."""
    return family in ENGINE_NAMES


def ordered_methods(names: Iterable[str]) -> list[str]:
    """Return methods as the paper lists them: single networks, then family by family, then others.

    Others stand by name, as do data sets: rows come in the order in which fits were finished.
    """
    known = list(METHODS)

    def place(name: str) -> tuple[int, int, str]:
        return _FAMILIES.index(family_of(name)), known.index(name) if name in METHODS else 0, name

    return sorted(set(names), key=place)


def ordered_datasets(names: Iterable[str]) -> list[str]:
    """Return data sets in the order of the paper's columns, then the others: 50 comes before 100."""
    found, papers = set(names), published_datasets()
    others = sorted(found.difference(papers), key=_with_numbers)
    return [name for name in papers if name in found] + others


def _with_numbers(name: str) -> list[tuple[str, int]]:
    # Text and numbers take turns, so that like is compared with like.
    parts = re.split(r"(\d+)", name)
    return [(text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], 0], strict=True)]
