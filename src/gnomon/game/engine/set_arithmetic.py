"""Arithmetic of the rule language, as the compiler does it: 32 bits, and sets compared.

The reference interpreter has its own, in ``rules/expressions.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["ARITHMETIC", "RELATIONS", "compare", "wrap"]

_T = TypeVar("_T")


def wrap(value: int) -> int:
    """Wrap to 32 bits with sign, as the integers of the game do."""
    return (value + 2**31) % 2**32 - 2**31


def _quotient(x: int, y: int) -> int | None:
    """Divide toward zero; nothing comes of a division by zero."""
    if y == 0:
        return None
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _remainder(x: int, y: int) -> int | None:
    """Return the remainder with the sign of the dividend."""
    q = _quotient(x, y)
    return None if q is None else x - q * y


ARITHMETIC: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _quotient,
    "%": _remainder,
}

RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def compare(
    holds: Callable[[Any, Any], bool], left: frozenset[_T], right: frozenset[_T]
) -> frozenset[Any]:
    """Compare two sets; against nothing, a comparison gives its left side."""
    if not left or not right:
        return left
    return frozenset([1]) if any(holds(x, y) for x in left for y in right) else frozenset()
