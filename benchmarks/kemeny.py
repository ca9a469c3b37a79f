"""How long the proof of Kemeny's order takes, beside HiGHS's mixed-integer solver on the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.record import Measurement
from gnomon.ranking import Contest, KemenyOrder, Tournament, kemeny_order
from gnomon.scores import FloatArray

#: Seconds after which ours says how far it may be off, and after which the peer does.
LIMIT_S, PEER_LIMIT_S = 1800.0, 120.0


def measure() -> Iterator[Measurement]:
    """Time orders of forty: of clear ones, of identical ones, and of mere noise."""
    kemeny_order(_noise(30))  # compiles
    clear = np.random.default_rng(0).normal(0.1, 0.1, (40, 40))
    cases = {
        "40 that differ": np.triu(clear, 1) - np.triu(clear, 1).T,
        "40 identical, 60 tasks x 1 run": _identical_margins(60, 1, 1.0),
        "40 identical, 15 tasks x 5 runs": _identical_margins(15, 5, 1.0),
        "40 identical, 60 tasks, a tenth of the cells": _identical_margins(60, 1, 0.1),
        # What no runs on common tasks give: margins that know nothing of one another.
        **{f"{n} by noise alone": _noise(n) for n in (30, 36, 40)},
        **{f"{n} by wins and losses alone": np.sign(_noise(n)) for n in (30, 36, 40)},
    }
    for name, margins in cases.items():
        begin = time.process_time()
        found = kemeny_order(margins, time_limit_s=LIMIT_S)
        seconds = time.process_time() - begin
        note = "proven" if found.proven else f"not proven, at least {found.at_least:.4g}"
        yield Measurement(name, seconds, "s", note=note)
        yield _peer(margins, found)


def _peer(margins: FloatArray, ours: KemenyOrder) -> Measurement:
    """Time the peer, which has a variable for each pair and forbids every three to run in a circle.

    Where both are proven they must agree.
    """
    n = len(margins)
    i, j = np.triu_indices(n, 1)
    number = np.zeros((n, n), dtype=np.int64)
    number[i, j] = np.arange(i.size)
    a, b, c = np.array(list(combinations(range(n), 3))).T
    columns = np.stack([number[a, b], number[b, c], number[a, c]], axis=1)
    signs = np.tile([1.0, 1.0, -1.0], len(columns))
    circles = sparse.csr_matrix((signs, columns.ravel(), np.arange(len(columns) + 1) * 3))
    begin = time.process_time()
    found = milp(
        -margins[i, j],
        integrality=np.ones(i.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(circles, 0, 1),
        options={"time_limit": PEER_LIMIT_S, "mip_rel_gap": 0.0},
    )
    seconds = time.process_time() - begin
    # What disagrees at least: pairs that are won by the one of them that stands behind.
    won = np.maximum(margins[i, j], 0.0).sum()
    least, most = won + found.mip_dual_bound, np.inf if found.x is None else won + found.fun
    if ours.proven and found.status == 0 and abs(most - ours.disagreement) > 1e-6 * won:
        raise AssertionError(f"HiGHS finds {most}, ours {ours.disagreement}")
    note = "proven, the same" if found.status == 0 else f"not proven: {least:.4g} to {most:.4g}"
    return Measurement("- the same by HiGHS's mixed-integer solver", seconds, "s", note=note)


def _noise(n: int) -> FloatArray:
    upper = np.triu(np.random.default_rng(0).normal(size=(n, n)), 1)
    return np.asarray(upper - upper.T)


def _identical_margins(n_tasks: int, n_runs: int, share: float) -> FloatArray:
    """Return the margins of forty learners that are alike, on a share of the tasks each."""
    rng = np.random.default_rng(0)
    samples = tuple(
        tuple(rng.normal(size=n_runs if rng.random() < share else 0) for _ in range(40))
        for _ in range(n_tasks)
    )
    one = Contest(tuple(map(str, range(40))), tuple(map(str, range(n_tasks))), samples)
    graph = Tournament.of(one)
    return graph.weights * (np.nan_to_num(graph.probability, nan=0.5) - 0.5)
