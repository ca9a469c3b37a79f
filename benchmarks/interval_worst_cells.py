"""Worst cells of the errors of tests, measured again with fresh seeds and many more tables.

The worst of twenty-one cells is partly luck. So the cells that were the worst on a line of
``interval_coverage``, and those of which the docs name an error, are drawn again by seeds that had
no part in picking them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.coverage_parts import PARTS
from benchmarks.interval_coverage import Work, counted, targets_of
from benchmarks.record import Measurement

#: Pieces of a cell: pairs' tables, or studies with looks.
N_PIECES = 3000
#: Rounds of fresh seeds begin here.
FIRST = 1000
#: Part, generator, population and runs.
CELLS = (
    ("pairs", "made", "success of 50 episodes, 40", 2),
    ("pairs", "published", "Atari 100k SPR, 16, one two-humped", 2),
    ("pairs", "made", "success of 50 episodes, 40", 3),
    ("pairs", "published", "Atari 100k SPR, 16, one two-humped", 3),
    ("pairs", "made", "two humps, 10", 3),
    ("pairs", "made", "collapses, 50, rare", 5),
    ("pairs", "made", "beta, 6", 5),
    ("pairs", "published", "DMC SAC-rr1, 10", 5),
    ("pairs", "published", "Dopamine DQN, 55", 10),
    ("pairs", "made", "two humps, 10", 10),
    ("looks", "made", "beta, 20", 2),
    ("looks", "made", "lognormal, 30", 2),
    ("looks", "made", "collapses, 20", 3),
    ("looks", "published", "Atari 100k DrQ(eps), 26", 3),
    ("looks", "published", "Dopamine DQN, 55", 5),
    ("looks", "published", "DMC DrQ, 19", 5),
)


def about() -> str:
    """Say which cells these are, and from which seeds."""
    return f"""The worst of twenty-one cells is partly luck, so the worst of each line of
interval_coverage that has a target is drawn again, by seeds that had no part in picking it: rounds
{FIRST} and on of its formula. {N_PIECES:,} tables or studies a cell."""


def measure() -> Iterator[Measurement]:
    """Give each cell's errors, beside the target of the worst cell of their lines."""
    for part, generator, population, n_runs in CELLS:
        rounds = range(FIRST, FIRST + math.ceil(N_PIECES / PARTS[part].n_tables))
        lines: dict[str, np.ndarray] = {}
        for i in rounds:
            work: Work = part, generator, population, n_runs, i
            for line, found in counted(work).lines.items():
                lines[line] = lines.get(line, 0.0) + np.array(found)
        for line, (n, hits, *_) in lines.items():
            if "false" in line:
                share = hits / n
                error = 100 * math.sqrt(share * (1 - share) / n)
                note = f"± {error:.1f}; {n:.0f}"
                title = f"{line}: {population}"
                target = targets_of(line)[1]
                yield Measurement(title, 100 * share, "%", target, False, note)
