"""Families of methods, and the order of methods and data sets in tables."""

import re
from collections.abc import Iterable

from vebnn.bench.comparison.published import published_datasets
from vebnn.bench.methods import ENGINE_NAMES, METHODS, split_kind

SINGLE, BASELINE = "", "baseline"
_FAMILIES = (SINGLE, *ENGINE_NAMES, BASELINE)


def family_of(method: str) -> str:
    """Return the engine of a method: methods with the same engine are variants of each other.

    Single networks have the family :data:`SINGLE`, and methods that are not the paper's
    :data:`BASELINE`; the members of these two are no variants of each other. A kind of target in the
    name makes no difference.
    """
    method, _ = split_kind(method)
    return (METHODS[method].engine or SINGLE) if method in METHODS else BASELINE


def are_variants(family: str) -> bool:
    """Return whether the members of a family differ only in their treatment of the noise."""
    return family in ENGINE_NAMES


def ordered_methods(names: Iterable[str]) -> list[str]:
    """Return methods as in the paper: single networks, then by family, then baselines by name."""
    known = list(METHODS)

    def place(name: str) -> tuple[int, int, str]:
        plain, _ = split_kind(name)
        return _FAMILIES.index(family_of(name)), known.index(plain) if plain in METHODS else 0, name

    return sorted(set(names), key=place)


def ordered_datasets(names: Iterable[str]) -> list[str]:
    """Return data sets in the order of the paper's columns, then the others by name and number."""
    found, papers = set(names), published_datasets()
    others = sorted(found.difference(papers), key=_with_numbers)
    return [name for name in papers if name in found] + others


def _with_numbers(name: str) -> list[tuple[str, int]]:
    # Split "material 1, 50 paths" into text and numbers, so that 50 comes before 100.
    parts = re.split(r"(\d+)", name)
    return [(text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], 0], strict=True)]
