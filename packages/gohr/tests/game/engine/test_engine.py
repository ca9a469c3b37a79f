"""The engine plays as the reference interpreter does, attempt for attempt."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gohr import Board, BoardSpec, ReferenceGame, check, compile_rule, draw_boards
from gohr.engine.boards import Boards
from gohr.engine.compiler import CompiledRule
from gohr.errors import RuleError
from gohr.outcomes import ACCEPTED, EPISODE_OVER, LEAVE, NEW_BOARD, RESET, STALEMATE, Autoreset
from gohr.rules import RuleSet, parse
from recorded_episodes import DATA, VECTORS, board_of, legal_of, records
from strategies_rules import boards, order_rule_sets, paper_rule_sets, rule_sets

COLOR_MATCH = "(*,star,*,*,0) (*,triangle,*,*,1) (*,square,*,*,2) (*,circle,*,*,3)"
CLOCKWISE = "(1,*,*,*,[0,1,2,3])\n(*,*,*,*,p+1)"


class EngineGame:
    """One board of the engine, with the face of the reference interpreter."""

    def __init__(self, rule: CompiledRule, codes: np.ndarray) -> None:
        self.rule = rule
        self.boards = Boards.empty(rule, 1)
        self.deck = codes.reshape(1, 36)
        self.act(RESET)

    def act(self, action: int) -> int:
        self.boards.advance(np.array([action]), self.deck)
        return int(self.boards.outcome[0])

    def attempt_at(self, pos: int, bucket: int) -> int:
        return self.act(4 * (pos - 1) + bucket)

    def legal(self) -> list[tuple[int, int]]:
        """Legal attempts as (pos, bucket)."""
        mask = self.boards.permitted()[0]
        return [(1 + a // 4, a % 4) for a in np.flatnonzero(mask).tolist()]

    @property
    def finish(self) -> int:
        return int(self.boards.finish[0])

    @property
    def line(self) -> int:
        return int(self.boards.line[0])


def assert_same_game(rule_set: RuleSet, board: Board, attempts: list[tuple[int, int]]) -> None:
    """Play the attempts on both, preferring legal ones every other time, and compare throughout."""
    slow = ReferenceGame(rule_set, board)
    fast = EngineGame(compile_rule(rule_set), board.codes())
    for turn, (number, bucket) in enumerate(attempts):
        legal = fast.legal()
        pos_of = {piece.id: piece.pos for piece in slow.pieces}
        assert legal == sorted((pos_of[i], b) for i, b in slow.legal_moves())
        assert (fast.finish, fast.line) == (slow.finish, slow.line)
        if turn % 2 and legal:
            pos, bucket = legal[(4 * number + bucket) % len(legal)]
        else:
            left = sorted(pos_of.values())
            pos = left[number % len(left)] if left and number % 5 else 1 + number
        assert fast.attempt_at(pos, bucket) == slow.attempt_at(pos, bucket)


some_attempts = st.lists(st.tuples(st.integers(0, 35), st.integers(0, 3)), max_size=24)


@settings(max_examples=300)
@given(paper_rule_sets(), boards(), some_attempts)
def test_engine_and_reference_agree_attempt_for_attempt(
    rule_set: RuleSet, board: Board, attempts: list[tuple[int, int]]
) -> None:
    assert_same_game(rule_set, board, attempts)


@pytest.mark.full
@settings(max_examples=150)
@given(order_rule_sets(), boards(), some_attempts)
def test_they_agree_on_orders(
    rule_set: RuleSet, board: Board, attempts: list[tuple[int, int]]
) -> None:
    assert_same_game(rule_set, board, attempts)


@pytest.mark.full
@settings(max_examples=150)
@given(rule_sets(), boards(), some_attempts)
def test_they_agree_on_the_whole_language(
    rule_set: RuleSet, board: Board, attempts: list[tuple[int, int]]
) -> None:
    try:
        compile_rule(rule_set)
    except RuleError as error:
        assume("too many things" not in str(error) and "arithmetic" not in str(error))
        raise
    assert_same_game(rule_set, board, attempts)


def with_orders(n_orders: int) -> str:
    """A rule whose only position field names so many orders, each of a single cell."""
    names = [f"A{i}" for i in range(n_orders)]
    orders = [f"Order {name}=[{i % 36 + 1}]" for i, name in enumerate(names)]
    return "\n".join([*orders, f"(*,*,*,[{','.join(names)}],p+1) (*,*,*,*,[1,2])"])


def with_parts(n_parts: int) -> str:
    """A rule with a condition of so many parts."""
    return f"(bucket:[0,1], code:[{','.join(['!p.bucket'] * n_parts)}]) (bucket:[2,3])"


@pytest.mark.parametrize("text", [with_orders(256), with_parts(128)])
def test_a_rule_that_fills_the_kernel_is_played_as_the_reference_plays_it(text: str) -> None:
    board = Board.from_codes(draw_boards(1, rng=np.random.default_rng(1))[0])
    assert_same_game(parse(text), board, [(7 * i % 36, i % 4) for i in range(40)])


@pytest.mark.parametrize(
    ("text", "why"),
    [(with_orders(257), "expected at most 256 orders"), (with_parts(129), "at most 256 parts")],
)
def test_a_rule_too_large_for_the_kernel_is_refused(text: str, why: str) -> None:
    # The kernel's buffers are of fixed size, and writing behind them would corrupt memory.
    with pytest.raises(RuleError, match=why):
        compile_rule(parse(text))
    *_, found = check(text, max_states=100).findings
    assert (found.severity, found.column) == ("error", 1)
    assert re.search(why, found.message)


def test_a_program_longer_than_its_addresses_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gohr.engine.program.LONGEST", 200)
    compile_rule(parse("(*,*,*,*,0)"))
    with pytest.raises(RuleError, match=r"the rule is too long: .* for its 2 atoms"):
        compile_rule(parse("(*,*,*,*,0)\n(*,*,*,*,1)"))


def test_an_order_may_have_more_empty_ranks_than_a_byte_counts() -> None:
    ranks = ",".join(["x"] * 300 + ["8", "x", "1"])
    rule_set = parse(f"Order A=[{ranks}]\n(*,*,*,A,0)")
    board = Board.from_codes([1] * 12 + [0] * 24)
    assert_same_game(rule_set, board, [(i, 0) for i in range(24)])


def replay(record: dict, skipped: list[str]) -> None:
    """Replay a recorded episode through the engine, if the engine can play it."""
    if "start_finish" not in record or record["class"] in ("crowded", "picks"):
        return
    try:
        board = board_of(record)
        spec = BoardSpec(
            pieces=len(board.pieces),
            shapes=0,
            colors=0,
            shape_palette=sorted({p.shape for p in board.pieces if p.shape} or {"STAR"}),
            color_palette=sorted({p.color for p in board.pieces if p.color} or {"RED"}),
        )
        game = EngineGame(compile_rule(parse(record["rule_text"]), spec), board.codes(spec))
    except (RuleError, ValueError) as error:
        skipped.append(str(error))
        return
    pos_of = {p.id: p.pos for p in board.pieces}
    assert game.finish == record["start_finish"]
    for step in record["steps"]:
        assert game.legal() == sorted((pos_of[i], b) for i, b in legal_of(record, step))
        assert game.line == step["line"]
        assert game.attempt_at(step["pos"], step["bucket"]) == step["code"]
        left = int((game.boards.codes[0] > 0).sum())
        assert (game.finish, left) == (step["finish"], step["left"])


def test_replays_the_selection_of_recorded_episodes() -> None:
    episodes = list(records(DATA / "episodes.jsonl.gz"))
    skipped: list[str] = []
    for record in episodes:
        replay(record, skipped)
    assert len(episodes) - len(skipped) >= 20


@pytest.mark.parametrize(
    "name",
    [
        "rules_paper",
        "rules_extended",
        "synthetic_paper_fuzz",
        "synthetic_orders_fuzz",
        "synthetic_gs5_fuzz",
    ],
)
def test_replays_all_recorded_episodes(name: str) -> None:
    path = VECTORS / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"the recorded episodes {path.name} are not in the repository")
    skipped: list[str] = []
    episodes = list(records(path))
    for record in episodes:
        replay(record, skipped)
    # What is left to the reference: pieces that are images, and rules that fail in play.
    image = re.compile(r"board: piece \d+ \(None None\) is not in the palettes|.*arithmetic needs")
    assert all(image.match(reason) for reason in skipped)


def random_play(
    text: str, num_envs: int, autoreset: int, n_steps: int = 300, horizon: int = 0
) -> list[tuple[np.ndarray, ...]]:
    """Play uniformly random attempts, and return what was seen after each step."""
    rng = np.random.default_rng(7)
    rule = compile_rule(parse(text))
    play = Boards.empty(rule, num_envs)
    deck = draw_boards(num_envs * (n_steps + 2), rng=rng)
    n_dealt = play.advance(np.full(num_envs, RESET), deck)
    trace = []
    for _ in range(n_steps):
        legal = play.permitted()
        actions = rng.integers(0, 144, num_envs)
        greedy = rng.random(num_envs) < 0.6
        actions[greedy] = legal[greedy].argmax(axis=1)
        n_dealt = play.advance(actions, deck, n_dealt=n_dealt, horizon=horizon, autoreset=autoreset)
        trace.append((actions, play.codes.copy(), play.replies.copy(), play.final.copy()))
    assert n_dealt <= len(deck)
    return trace


def test_boards_do_not_touch_one_another() -> None:
    rng = np.random.default_rng(3)
    rule = compile_rule(parse(CLOCKWISE))
    deck = draw_boards(50, rng=rng)
    together = Boards.empty(rule, 50)
    together.advance(np.full(50, RESET), deck)
    alone = [EngineGame(rule, deck[i]) for i in range(50)]
    for _ in range(60):
        actions = rng.integers(0, 144, 50)
        together.advance(actions, deck)
        for i, one in enumerate(alone):
            one.act(int(actions[i]))
            assert (together.replies[1:, i] == one.boards.replies[1:, 0]).all()
            assert (together.seen[i] == one.boards.seen[0]).all()


def test_next_step_deals_in_the_step_after_the_end_and_counts_it_as_nothing() -> None:
    trace = random_play(CLOCKWISE, 8, Autoreset.NEXT_STEP)
    ends = 0
    for (_, _, before, _), (_, codes, after, _) in itertools.pairwise(trace):
        ended = (before[6] != 0) | (before[7] != 0)
        ends += int(ended.sum())
        assert (after[4][ended] == NEW_BOARD).all()
        assert (after[4][~ended] != NEW_BOARD).all()
        assert (after[5][ended] == 0).all()
        assert ((codes[ended] > 0).sum(axis=1) == 9).all()
    assert ends > 20


def test_same_step_deals_at_once_and_keeps_what_the_episode_ended_with() -> None:
    trace = random_play(CLOCKWISE, 8, Autoreset.SAME_STEP)
    ends = 0
    for _, codes, replies, final in trace:
        ended = replies[6] != 0
        ends += int(ended.sum())
        assert ((codes[ended] > 0).sum(axis=1) == 9).all()
        assert (replies[1:4, ended] == 0).all()
        assert (replies[4, ended] == ACCEPTED).all()
        assert (final[ended, :36] == 0).all()
        assert (final[ended, 36:] > 0).all()
    assert ends > 20


def test_disabled_leaves_a_finished_board_and_says_so() -> None:
    last = random_play(CLOCKWISE, 8, Autoreset.DISABLED)[-1]
    _, codes, replies, _ = last
    assert (codes == 0).all()
    assert (replies[4] == EPISODE_OVER).all()
    assert (replies[5] == 0).all()
    assert (replies[6] == 1).all()


def test_the_horizon_counts_attempts_and_truncates() -> None:
    trace = random_play(COLOR_MATCH, 4, Autoreset.NEXT_STEP, horizon=5)
    since = np.zeros(4, dtype=int)
    for _, _, replies, _ in trace:
        since = np.where(replies[4] == NEW_BOARD, 0, since + 1)
        assert (replies[7] == (since == 5)).all()


def test_a_board_dealt_stuck_says_so_at_the_first_attempt() -> None:
    rule = compile_rule(parse("(*,star,*,*,0)"))
    codes = np.zeros(36, dtype=np.uint8)
    codes[0] = 1  # a square
    game = EngineGame(rule, codes)
    assert game.finish == STALEMATE
    assert not game.boards.replies[6, 0]
    assert game.attempt_at(1, 0) == EPISODE_OVER
    assert game.boards.replies[5:7, 0].tolist() == [0, 1]


def test_a_deck_that_is_too_short_is_told() -> None:
    rule = compile_rule(parse(COLOR_MATCH))
    deck = draw_boards(3, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="deck: expected a board for each of 2, found 1"):
        Boards.empty(rule, 2).advance(np.array([-1, -1]), deck, n_dealt=2)


def test_a_bound_step_makes_the_attempt_of_the_replies() -> None:
    play = Boards.empty(parse(COLOR_MATCH), 1)
    deck = draw_boards(1, rng=np.random.default_rng(0))
    call = play.bound_step(deck)
    play.replies[0, 0] = RESET
    call()
    assert (play.codes == deck).all()


def test_leave_touches_no_board() -> None:
    rule = compile_rule(parse(COLOR_MATCH))
    play = Boards.empty(rule, 2)
    deck = draw_boards(2, rng=np.random.default_rng(0))
    play.advance(np.array([RESET, RESET]), deck)
    before = play.seen.copy()
    play.advance(np.array([LEAVE, RESET]), deck)
    assert (play.seen[0] == before[0]).all()
    assert play.outcome.tolist() == [LEAVE, NEW_BOARD]
    assert (play.codes[1] == deck[0]).all()
