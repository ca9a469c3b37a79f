"""Published numbers beside ours: the record, the printed table and the exit status."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Comparison:
    """A published value beside ours.

    Parameters
    ----------
    where, item : str
        Table or section of the paper, and what the value is.
    published, ours : str
        As printed; `ours` is None if it cannot be computed from the published data.
    equal : bool, optional
        None if there is nothing to compare.
    note : str
        How it was computed.
    explained : str
        Why the two are known to differ; without it, a difference is a failure.
    """

    where: str
    item: str
    published: str
    ours: str | None
    equal: bool | None
    note: str = ""
    explained: str = ""

    @property
    def fails(self) -> bool:
        """Whether the two differ for no known reason."""
        return self.equal is False and not self.explained


def compared(
    where: str,
    item: str,
    published: str,
    value: float,
    note: str = "",
    *,
    truncate: bool = False,
    explained: str = "",
) -> Comparison:
    """Return a number beside the published one: equal if it is the same with as many digits."""
    ours = rounded(value, published, truncate=truncate)
    equal = float(ours) == float(published)
    return Comparison(where, item, published, ours, equal, note, explained)


def rounded(value: float, like: str, *, truncate: bool = False) -> str:
    """Return a number with as many decimals as a printed one."""
    decimals = len(like.partition(".")[2])
    mode = ROUND_DOWN if truncate else ROUND_HALF_EVEN
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=mode))


def published_table(name: str) -> list[dict[str, str]]:
    """Return the rows of a printed table, of ``published/``."""
    lines = (HERE / "published" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def use_data() -> Path:
    """Return the folder of published scores: GNOMON_DATA, or shared/data beside the repository."""
    folder = Path(os.environ.get("GNOMON_DATA") or HERE.parent / ".." / "shared" / "data").resolve()
    os.environ["GNOMON_DATA"] = str(folder)
    return folder


def data_file(path: str, source: str) -> Path:
    """Return a file of published scores; exit with its name and source if it is not there."""
    file = use_data() / path
    if not file.is_file():
        sys.exit(
            f"{path}: expected this file of published scores in the folder that GNOMON_DATA "
            f"names, found none in {file.parent}; it is published at {source}"
        )
    return file


def show(title: str, found: Iterable[Comparison]) -> int:
    """Print each published value beside ours; return the exit status, 1 if one fails."""
    rows = list(found)
    print(title)
    for one in rows:
        word = {True: "equal", False: "DIFFERS", None: "not computable"}[one.equal]
        if one.equal is False and one.explained:
            word = "differs as explained"
        known = one.explained if one.equal is False else ""
        note = "; ".join(part for part in (one.note, known) if part)
        tail = f" ({note})" if note else ""
        print(
            f"  {one.where}: {one.item}: published {one.published}, ours {one.ours}: {word}{tail}"
        )
    print(_counts(rows))
    return int(any(one.fails for one in rows))


def _counts(rows: Sequence[Comparison]) -> str:
    n_equal, n_unknown = (sum(one.equal is value for one in rows) for value in (True, None))
    n_fails = sum(one.fails for one in rows)
    n_explained = len(rows) - n_equal - n_unknown - n_fails
    return (
        f"{n_equal} equal, {n_fails} not equal, {n_explained} not equal as explained, "
        f"{n_unknown} not computable"
    )
