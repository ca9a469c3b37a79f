"""Coverage of intervals and error of tests, on populations of known truth (benchmarks/populations).

Each cell (a line, a population, a number of runs) repeats the experiment on many tables and counts
how often the interval holds the true value, or how often a test finds a difference where there is
none. A line gives the mean over the populations of both generators with its standard error, and
the least cell with its name: of many cells the least is partly luck.

The work goes in rounds, each with seeds of its own, so that more rounds are more tables. Every
round of a cell is a line of the file that ``INTERVAL_CELLS`` names; what stands there is not done
again, so that a run that was stopped goes on. ``INTERVAL_ROUNDS`` says how many rounds (4),
``INTERVAL_PARTS`` names parts, separated by commas: aggregates, profiles, pairs, curves, tasks,
looks, improvement.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.coverage_parts import AT_WORST, PARTS, Tally
from benchmarks.populations import Population, documented_failures, made, published
from benchmarks.record import Measurement
from gnomon.errors import DegenerateScoresWarning

SEED = 4242
ROUNDS = int(os.environ.get("INTERVAL_ROUNDS", "4"))
WANTED = tuple(filter(None, os.environ.get("INTERVAL_PARTS", "").split(","))) or tuple(PARTS)
CELLS = Path(os.environ.get("INTERVAL_CELLS", "build/interval_coverage.jsonl"))

#: One round of a part on a population: part, generator, population, runs, round.
Work = tuple[str, str, str, int, int]

#: Targets of lines by the words that they begin with: of the mean, and of the worst cell.
TARGETS = {
    "optimality_gap,": (93.0, 88.0),
    "median,": (93.0, 92.0),
    "profile, pointwise": (94.0, None),
    "profile, worst threshold": (None, 85.0),
    "profile, whole curve": (94.0, 90.0),
    "all pairs of six, alike, mean": (None, 6.5),
    "all pairs of six, unlike, mean": (None, 6.5),
    "all pairs of six, alike, iqm": (None, 8.5),
    "curves,": (93.0, None),
    "tasks drawn, median": (93.0, None),
    "sequential looks": (6.0, 6.0),
    "P(a > b), one task, false at 0.05": (5.0, None),
    "P(a > b), one task, false at 0.01": (1.0, None),
}


@dataclass(frozen=True)
class Cell:
    """What was counted on one line in one population.

    Parameters
    ----------
    line, generator, population, kind : str
        Where it belongs, and what is hard about the population.
    n : int
        Independent pieces.
    share, error : float
        Per cent, and its standard error.
    width : float
        Mean width over that of the peer; NaN without one.
    """

    line: str
    generator: str
    population: str
    kind: str
    n: int
    share: float
    error: float
    width: float


def measure() -> Iterator[Measurement]:
    """Do what is not done yet, then give each line's mean and its worst cell."""
    CELLS.parent.mkdir(parents=True, exist_ok=True)
    done = {tuple(record["work"]) for record in _records()}
    with CELLS.open("a", encoding="utf-8") as file:
        for work in _work():
            if work not in done:
                found = {"work": work, "lines": counted(work).lines}
                file.write(json.dumps(found) + "\n")
                file.flush()
                print(*work, file=sys.stderr, flush=True)
    for line, alike in groupby(cells(), key=lambda cell: cell.line):
        yield from _measurements(line, list(alike))


def about() -> str:
    """Say what the values are, from which seeds and how many tables."""
    rounds: dict[str, int] = {}
    for record in _records():
        part, *_, i = record["work"]
        rounds[part] = max(rounds.get(part, 0), i + 1)
    tables = ", ".join(f"{part} {n} x {PARTS[part].n_tables}" for part, n in rounds.items())
    return f"""Values are means over the populations of both generators, ± a standard error.
Beside them stand the worst cell, with its own, which of so many cells is partly luck, and the
suites that are known to fail, which are in no mean. A cell has so many independent pieces:
algorithms (eight a table), pairs or tables. Rounds and tables of a round: {tables}. Seeds: each
round of a cell draws from `default_rng([{SEED}, crc32(repr(work))])`, work being part, generator,
population, runs and round. Again by `python -m benchmarks interval_coverage --keep`, which goes on
where it was stopped."""


def _work() -> Iterator[Work]:
    """Give all that is to be done, round after round."""
    for i in range(ROUNDS):
        for part in WANTED:
            for generator, populations in _populations().items():
                if generator == "failures" and part != "aggregates":
                    continue
                for name in populations:
                    for n_runs in PARTS[part].runs:
                        yield part, generator, name, n_runs, i


@cache
def _populations() -> dict[str, dict[str, Population]]:
    known = {"published": published(), "made": made(), "failures": documented_failures()}
    return {generator: {p.name: p for p in own} for generator, own in known.items()}


def counted(work: Work) -> Tally:
    """Count one round of a part on a population, with a seed of its own."""
    name, generator, population, n_runs, _ = work
    part, tally = PARTS[name], Tally()
    rng = np.random.default_rng([SEED, zlib.crc32(repr(work).encode())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        drawn_from = _populations()[generator][population]
        part.count(drawn_from, n_runs, part.n_tables, rng, tally)
    return tally


def _records() -> list[dict[str, object]]:
    if not CELLS.exists():
        return []
    return [json.loads(line) for line in CELLS.read_text(encoding="utf-8").splitlines()]


def cells() -> list[Cell]:
    """Return every cell of the file, all its rounds together, in the order of the lines."""
    sums: dict[tuple[str, str, str], np.ndarray] = {}
    for record in _records():
        _, generator, population, *_ = record["work"]
        for line, found in record["lines"].items():
            key = line, generator, population
            sums[key] = sums.get(key, 0.0) + np.array(found)
    worst: dict[tuple[str, str, str], Cell] = {}
    for (line, generator, population), (n, share, squares, width, peer) in sums.items():
        key = line.partition(AT_WORST)[0], generator, population
        share /= n
        spread = math.sqrt(max(squares / n - share**2, 0.0) / max(n - 1, 1))
        kind = _populations()[generator][population].kind
        ratio = width / peer if peer else math.nan
        cell = Cell(key[0], *key[1:], kind, int(n), 100 * share, 100 * spread, ratio)
        if key not in worst or cell.share < worst[key].share:
            worst[key] = cell
    order = list(dict.fromkeys(line for line, *_ in worst))
    return sorted(worst.values(), key=lambda cell: _place(cell.line, order))


def _place(line: str, order: Sequence[str]) -> tuple[int, int]:
    """Return the place of a line: where its words come first, then its number of runs."""
    words, number = _words(line)
    return min(i for i, other in enumerate(order) if _words(other)[0] == words), number


def _words(line: str) -> tuple[str, int]:
    words, _, runs = line.rpartition(", ")
    return words, int("".join(filter(str.isdigit, runs)) or 0)


def _measurements(line: str, found: Sequence[Cell]) -> Iterator[Measurement]:
    """Give a line's mean over populations, and its worst cell where that has a target."""
    is_error = "false" in line
    counted = [cell for cell in found if cell.generator != "failures"]
    targets = targets_of(line)
    worst = (max if is_error else min)(counted, key=lambda cell: cell.share)
    word = "most" if is_error else "least"
    parts = [f"{word} {worst.share:.1f} ± {worst.error:.1f} ({worst.population})"]
    parts += [f"{worst.n} a cell", *_by_generator(counted), *_widths(counted)]
    parts += [f"{c.population}: {c.share:.0f}" for c in found if c.generator == "failures"]
    mean = float(np.mean([cell.share for cell in counted]))
    error = math.sqrt(sum(cell.error**2 for cell in counted)) / len(counted)
    note = f"± {error:.1f}; " + "; ".join(parts)
    yield Measurement(line, mean, "%", targets[0], not is_error, note)
    if targets[1] is not None:
        yield Measurement(f"{line}, {word}", worst.share, "%", targets[1], not is_error)


def targets_of(line: str) -> tuple[float | None, float | None]:
    """Return what is wanted of a line: of the mean over populations, and of the worst cell."""
    return next((t for words, t in TARGETS.items() if line.startswith(words)), (None, None))


def _by_generator(found: Sequence[Cell]) -> Iterator[str]:
    """Say what each generator gives."""
    for generator in ("published", "made"):
        own = [cell.share for cell in found if cell.generator == generator]
        if own:
            yield f"{generator} {np.mean(own):.1f}"


def _widths(found: Sequence[Cell]) -> Iterator[str]:
    """Say how wide the interval is, over its peer."""
    widths = [cell.width for cell in found if not math.isnan(cell.width)]
    if widths:
        yield f"width ratio {np.median(widths):.2f} (at most {np.max(widths):.2f})"
