"""A published number beside ours, compared to the digit that is printed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

from gnomon.distill.atari.facts import published_table

__all__ = ["Comparison", "compared", "facts", "rounded"]


@dataclass(frozen=True)
class Comparison:
    """A published value beside ours.

    Parameters
    ----------
    table : str
        Table or section of the paper.
    item : str
    published, ours : str
        As printed; `ours` is None if it cannot be computed here.
    equal : bool, optional
        None if there is nothing to compare.
    note : str
    """

    table: str
    item: str
    published: str
    ours: str | None
    equal: bool | None
    note: str = ""


def rounded(value: float, like: str, *, truncate: bool = False) -> str:
    """Return a number with as many decimals as a printed one."""
    decimals = len(like.partition(".")[2])
    mode = ROUND_DOWN if truncate else ROUND_HALF_EVEN
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=mode))


def compared(
    table: str, item: str, published: str, value: float, note: str = "", *, truncate: bool = False
) -> Comparison:
    """Return a number beside the published one, equal if it is the same when printed like it."""
    ours = rounded(value, published, truncate=truncate)
    return Comparison(table, item, published, ours, float(ours) == float(published), note)


def facts() -> dict[str, str]:
    """Return the numbers that the paper's text prints, by item."""
    return {row["item"]: row["published"] for row in published_table("text")}
