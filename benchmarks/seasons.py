"""Whether decoys steer the ranks of a board, and what rules of one's own cost in precision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.record import Measurement
from gnomon import ScoreTable, rank
from gnomon_board.drawn_rules import Difficulty, generate_rules
from gnomon_board.standings import Board, Contender, Score, standings_of
from gohr import BoardSpec, draw_boards, make_learner, parse, play
from gohr.outcomes import ACCEPTED

N_DECOYS, N_BOARDS, N_RUNS = (0, 1, 5, 12, 50), 60, 10
#: Mean errors on each rule: two learners, equal on the whole, and decoys of the first's account,
#: which lose to it on the rules on which they do not lose to its rival.
FIRST, RIVAL, DECOY = (20.0, 60.0, 41.0, 41.0), (60.0, 20.0, 40.0, 40.0), (40.0, 90.0, 40.5, 40.5)

#: Rules of a pool, rules of an attempt, trials of a learner on each rule, and simulated seasons.
N_RULES, N_DEALT, N_TRIALS, N_SEASONS = 60, 30, 6, 300
N_EPISODES = 40
#: Families of rules, and learners that are compared on them.
FAMILIES = {"1 to 3 elements": Difficulty(), "2 elements": Difficulty(n_elements=(2, 2))}
LEARNERS = {"Q-table": ("tabular_q", {}), "slow": ("tabular_q", {"learning_rate": 0.05})}
LEARNERS |= {"frugal": ("frugal", {}), "DQN": ("linear_dqn", {"actions": "occupied"})}


def measure() -> Iterator[Measurement]:
    """Measure ranks with decoys of one account, and the power of two ways to deal rules."""
    yield from _decoys()
    for family, difficulty in FAMILIES.items():
        errors = _errors(difficulty)
        for other in list(LEARNERS)[1:]:
            power = [_power(errors["Q-table"], errors[other], same=same) for same in (True, False)]
            note = (
                f"rules of {family}; {N_DEALT} of {N_RULES} rules, one trial of {N_EPISODES} "
                f"episodes each; {N_SEASONS} seasons; with the same rules for both {power[0]:.0f} %"
            )
            yield Measurement(f"Q-table and {other} separated, own rules", power[1], "%", note=note)


def _errors(difficulty: Difficulty) -> dict[str, np.ndarray]:
    """Let every learner play some trials of every rule of a pool: errors (rules, trials)."""
    pool = generate_rules(N_RULES, difficulty, rng=np.random.default_rng(0))
    found = {name: np.empty((N_RULES, N_TRIALS)) for name in LEARNERS}
    for at in np.ndindex(N_RULES, N_TRIALS):
        rule_set = parse(pool[at[0]].text)
        for name, (kind, settings) in LEARNERS.items():
            rng = np.random.default_rng([*at, len(name)])
            boards = draw_boards(N_EPISODES, BoardSpec(), rng=rng).reshape(N_EPISODES, -1)
            learner = make_learner(kind, BoardSpec(), rng=rng, **settings)
            log = play(boards, learner, rule_set, horizon=100, board_spec=BoardSpec())
            found[name][at] = np.count_nonzero(log.outcomes != ACCEPTED)
    return found


def _power(a: np.ndarray, b: np.ndarray, *, same: bool) -> float:
    """Return in how many of a hundred seasons two learners are separated.

    They have the same rules, compared rule by rule, or rules of their own, as runs of one task.
    """
    rng, separated = np.random.default_rng(0), 0
    for _ in range(N_SEASONS):
        rules = rng.permutation(N_RULES)[:N_DEALT]
        others = rules if same else rng.permutation(N_RULES)[:N_DEALT]
        x = a[rules, rng.integers(N_TRIALS, size=N_DEALT)]
        y = b[others, rng.integers(N_TRIALS, size=N_DEALT)]
        shape = (1, -1) if same else (-1, 1)
        table = ScoreTable.from_arrays(
            {"a": x.reshape(shape), "b": y.reshape(shape)}, higher_is_better=False
        )
        separated += bool(rank(table).separated[0, 1])
    return 100.0 * separated / N_SEASONS


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
