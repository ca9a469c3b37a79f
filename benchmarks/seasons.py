"""Whether decoys steer the ranks of a board."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.record import Measurement
from gnomon_board.leaderboard import Board, Contender, Score, standings_of

N_DECOYS, N_BOARDS, N_RUNS = (0, 1, 5, 12, 50), 60, 10
#: Mean errors on each rule: two learners, equal on the whole, and decoys of the first's account,
#: which lose to it on the rules on which they do not lose to its rival.
FIRST, RIVAL, DECOY = (20.0, 60.0, 41.0, 41.0), (60.0, 20.0, 40.0, 40.0), (40.0, 90.0, 40.5, 40.5)


def measure() -> Iterator[Measurement]:
    """Measure the ranks of two equal learners with decoys of one account."""
    yield from _decoys()


def _decoys() -> Iterator[Measurement]:
    for n in N_DECOYS:
        separated = moved = narrower = 0
        for seed in range(N_BOARDS):
            alone, among = _ranks(0, n, seed), _ranks(n, n, seed)
            separated += among[0] != among[1]
            moved += among != alone
            # A correction for more pairs can only widen.
            narrower += any(_width(a) < _width(b) for a, b in zip(among, alone, strict=True))
        note = f"{N_BOARDS} boards of 4 rules, {N_RUNS} trials; ranks narrower in {narrower}"
        share = 100.0 * separated / N_BOARDS
        yield Measurement(f"two equal learners separated, {n} decoys", share, "%", 5.0, False, note)
        share = 100.0 * moved / N_BOARDS
        yield Measurement(f"ranks of the two changed, {n} decoys", share, "%", 5.0, False, note)


def _ranks(n: int, n_begun: int, seed: int) -> list[tuple[int | None, int | None]]:
    """Return the ranks of the two learners among n decoys."""
    rng = np.random.default_rng(seed)
    means = [FIRST, RIVAL, *[DECOY] * n]
    scores = [
        Score(entry, f"r{rule}", run, float(rng.poisson(mean)))
        for entry, of_rules in enumerate(means)
        for rule, mean in enumerate(of_rules)
        for run in range(N_RUNS)
    ]
    contenders = [
        Contender(i, f"entry {i}", "rival" if i == 1 else "first", n_begun=1 + n_begun * (i != 1))
        for i in range(len(means))
    ]
    rules = tuple(f"r{rule}" for rule in range(len(FIRST)))
    found = standings_of(Board("simulated", rules, N_RUNS, contenders, scores)).ranked
    of_entry = {line.contender.entry_id: line for line in found}
    return [(of_entry[i].rank_low, of_entry[i].rank_high) for i in (0, 1)]


def _width(ranks: tuple[int | None, int | None]) -> int:
    low, high = ranks
    assert low is not None
    assert high is not None
    return high - low
