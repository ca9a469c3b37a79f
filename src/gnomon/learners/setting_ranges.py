"""Checks of a learner's settings: which numbers and words may stand there."""

from __future__ import annotations

import math

__all__ = ["LONGEST_S", "check_choice", "check_range"]

#: Most seconds of patience: eleven days, which locks and sockets can still count.
LONGEST_S = 1e6


def check_range(
    name: str, value: float, least: float, most: float, *, open_below: bool = False
) -> None:
    """Raise ValueError unless a number is finite and in its range.

    Examples
    --------
    >>> check_range("gamma", 2.0, 0.0, 1.0)
    Traceback (most recent call last):
    ValueError: gamma: expected a number from 0 to 1, found 2.0
    """
    if math.isfinite(value) and least <= value <= most and not (open_below and value == least):
        return
    if math.isinf(least):
        expected = "that is finite"
    elif math.isinf(most):
        expected = f"{'above' if open_below else 'of at least'} {least:g}"
    elif open_below:
        expected = f"above {least:g} and at most {most:,.15g}"
    else:
        expected = f"from {least:g} to {most:,.15g}"
    raise ValueError(f"{name}: expected a number {expected}, found {value}")


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless a word is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}: expected {' or '.join(map(repr, choices))}, found {value!r}")
