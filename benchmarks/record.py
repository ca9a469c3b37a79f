"""What a benchmark gives back, and how it is timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measurement", "best_seconds", "processor_seconds"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the table.

    Parameters
    ----------
    name : str
        What was measured.
    value : float
        The figure.
    unit : str
        Its unit.
    target : float, optional
        What it should reach; None for a peer or a figure for orientation.
    higher_is_better : bool
        Which side of the target is good.
    note : str
        What a reader must know to use the figure.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    higher_is_better: bool = True
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached, if there is one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.higher_is_better else self.value <= self.target


def best_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest of several timings: what the work takes when nothing disturbs it."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of the work, which others on the machine hardly lengthen."""
    start = time.process_time()
    work()
    return time.process_time() - start
