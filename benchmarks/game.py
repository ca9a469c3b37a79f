"""How fast the game is stepped: the engine, the vector environment, the single environment."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.record import Measurement, best_seconds, processor_seconds
from gohr import HiddenRulesEnv, available_rules, compile_rule, draw_boards, load_rule, outcomes
from gohr.engine import boards as engine
from gohr.engine.compiler import CompiledRule

N_ENVS = 1024
#: A block of boards lasts as long: each round draws one.
N_STEPS = 400
#: The environment and its engine take turns as often; the quickest of each counts.
N_ROUNDS = 25

Play: TypeAlias = Callable[[], None]


def measure() -> Iterator[Measurement]:
    """Measure everything of this file; the rule is color-match, four atoms."""
    rule = compile_rule(load_rule("color-match"))
    yield from _many_boards(rule)
    yield from _all_rules()
    yield from _single_env()
    yield from _starts()
    yield from _pgx()


def _legal_tape(rule: CompiledRule, num_envs: int, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Record permitted attempts for boards that are dealt anew in the step that ends them."""
    rng = np.random.default_rng(0)
    deck = draw_boards(num_envs * (3 + n_steps // 6), rng=rng)
    boards = engine.Boards.empty(rule, num_envs)
    n_dealt = boards.advance(np.full(num_envs, outcomes.RESET), deck)
    tape = np.empty((n_steps, num_envs), dtype=np.int64)
    for actions in tape:
        mask = boards.permitted().cumsum(axis=1)
        pick = (rng.random(num_envs) * mask[:, -1]).astype(np.int64)
        actions[:] = (mask > pick[:, None]).argmax(axis=1)
        n_dealt = boards.advance(
            actions, deck, n_dealt=n_dealt, autoreset=outcomes.Autoreset.SAME_STEP
        )
    return tape, deck


def _replay(rule: CompiledRule, tape: np.ndarray, deck: np.ndarray, horizon: int) -> Play:
    """Return a round of the engine over a tape of actions."""
    boards = engine.Boards.empty(rule, tape.shape[1])

    def play() -> None:
        n_dealt = boards.advance(np.full(tape.shape[1], outcomes.RESET), deck)
        for actions in tape:
            n_dealt = boards.advance(
                actions,
                deck,
                n_dealt=n_dealt,
                horizon=horizon,
                autoreset=outcomes.Autoreset.SAME_STEP,
            )

    return play


def _wrapped(tape: np.ndarray, mode: AutoresetMode, copy: bool) -> Play:
    """Return a round of the vector environment over a tape of actions."""
    envs = gymnasium.make_vec("gohr/ColorMatch-v0", num_envs=N_ENVS, copy=copy, autoreset_mode=mode)

    def play() -> None:
        envs.reset(seed=0)
        for actions in tape:
            envs.step(actions)

    return play


def _permitted_tape(mode: AutoresetMode) -> np.ndarray:
    """Record permitted attempts for the boards that the vector environment deals."""
    rng = np.random.default_rng(0)
    envs = gymnasium.make_vec(
        "gohr/ColorMatch-v0", num_envs=N_ENVS, reveal=True, autoreset_mode=mode
    )
    _, infos = envs.reset(seed=0)
    tape = np.empty((N_STEPS, N_ENVS), dtype=np.int64)
    for actions in tape:
        mask = infos["permitted"].cumsum(axis=1)
        pick = (rng.random(N_ENVS) * mask[:, -1]).astype(np.int64)
        actions[:] = (mask > pick[:, None]).argmax(axis=1)
        infos = envs.step(actions)[-1]
    return tape


def _c_loop(rule: CompiledRule, tape: np.ndarray, deck: np.ndarray, horizon: int) -> Play | None:
    """Return a round of color_match.c, one call a step; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source = Path(__file__).with_name("color_match.c")
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder) / "color_match.so")
        options = ["-O3", "-march=native", "-shared", "-fPIC", "-o", library]
        subprocess.run([compiler, *options, str(source)], check=True)
        peer = ctypes.CDLL(library)
    boards = engine.Boards.empty(rule, rule.n_shapes)
    shapes = np.zeros((rule.n_shapes, 36), dtype=np.uint8)
    shapes[:, 0] = 1 + rule.n_colors * np.arange(rule.n_shapes)
    boards.advance(np.full(rule.n_shapes, outcomes.RESET), shapes)
    buckets = boards.permitted()[:, :4].argmax(axis=1).astype(np.int32)
    n = tape.shape[1]
    # Outcome, reward, terminated, truncated.
    replies = [np.empty(n, dtype) for dtype in (np.int64, np.float64, np.uint8, np.uint8)]

    peer.deal_all.argtypes = [ctypes.c_int, *[ctypes.c_void_p] * 2]
    peer.step_all.argtypes = [
        *(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int),
        *[ctypes.c_void_p] * 4,
    ]

    def play() -> None:
        first, cards = tape.ctypes.data, deck.ctypes.data
        room = [array.ctypes.data for array in replies]
        peer.deal_all(n, cards, buckets.ctypes.data)
        n_dealt = n
        for at in range(first, first + tape.nbytes, tape.strides[0]):
            n_dealt = peer.step_all(n, at, cards, n_dealt, horizon, *room)

    return play


def _cartpole(tape: np.ndarray) -> Play:
    """Return a round of Gymnasium's vectorised CartPole."""
    envs = gymnasium.make_vec("CartPole-v1", num_envs=N_ENVS)
    moves = tape % 2

    def play() -> None:
        envs.reset(seed=0)
        for actions in moves:
            envs.step(actions)

    return play


def _many_boards(rule: CompiledRule) -> Iterator[Measurement]:
    """Take the engine, the vector environment and their peers in turns, in processor time."""
    uniform = np.random.default_rng(1).integers(0, 144, (N_STEPS, N_ENVS))
    tape, deck = _legal_tape(rule, N_ENVS, N_STEPS)
    plays: dict[str, Play | None] = {"CartPole": _cartpole(uniform)}
    targets = {"engine": (1.5, 3.0)}
    for kind, actions, horizon in (("uniform", uniform, 100), ("permitted", tape, 0)):
        plays[f"C, {kind}"] = _c_loop(rule, actions, deck, horizon)
        plays[f"engine, {kind}"] = _replay(rule, actions, deck, horizon)
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        for kind, actions in (("uniform", uniform), ("permitted", _permitted_tape(mode))):
            for copy in (True, False):
                name = f"{mode.value}, {'copies' if copy else 'no copies'}"
                plays[f"{name}, {kind}"] = _wrapped(actions, mode, copy)
                targets[name] = (4.0, 8.0)
    there = {name: play for name, play in plays.items() if play is not None}
    rounds = [[processor_seconds(play) for play in there.values()] for _ in range(N_ROUNDS)]
    seconds = dict(zip(there, np.min(rounds, axis=0).tolist(), strict=True))
    for name, spent in seconds.items():
        yield Measurement(name, uniform.size / spent / 1e6, "M steps/s")
    beside = {"NextStep, copies": 3.3, "NextStep, no copies": 5.4}
    beside |= {"SameStep, copies": 3.0, "SameStep, no copies": 4.0}
    for name, target in beside.items():
        ratio = seconds["CartPole"] / seconds[f"{name}, uniform"]
        yield Measurement(f"{name}, over CartPole", ratio, "x", target)
    for name, limits in targets.items():
        for kind, limit in zip(("uniform", "permitted"), limits, strict=True):
            if f"C, {kind}" in seconds:
                ratio = seconds[f"{name}, {kind}"] / seconds[f"C, {kind}"]
                bound = None if name.endswith(", copies") else limit
                label = f"time of {name}, {kind}, over C"
                yield Measurement(label, ratio, "x", bound, higher_is_better=False)


def _all_rules() -> Iterator[Measurement]:
    """Time permitted attempts under each rule of the catalogue, in processor time."""
    rates = {}
    for name in available_rules():
        rule = compile_rule(load_rule(name))
        tape, deck = _legal_tape(rule, N_ENVS, 40)
        play = _replay(rule, tape, deck, 0)
        rates[name] = tape.size / min(processor_seconds(play) for _ in range(5)) / 1e6
    slowest = min(rates, key=lambda name: rates[name])
    note = "twice the 14 and 1.1 M steps/s of the engine with a state of 64-bit numbers"
    median = float(np.median([*rates.values()]))
    yield Measurement(f"engine, permitted, median of {len(rates)} rules", median, "M steps/s", 28.0)
    yield Measurement(f"- the slowest: {slowest}", rates[slowest], "M steps/s", 2.2, note=note)


def _single_env() -> Iterator[Measurement]:
    """Time a single environment beside Gymnasium's CartPole: with wrappers, and without."""
    env = HiddenRulesEnv("color-match", reveal=True)
    made, peer = gymnasium.make("gohr/ColorMatch-v0"), gymnasium.make("CartPole-v1")
    rng = np.random.default_rng(2)
    episodes = []
    for seed in range(500):
        _, info = env.reset(seed=seed)
        permitted = []
        for _ in range(9):
            permitted.append(int(rng.choice(np.flatnonzero(info["permitted"]))))
            info = env.step(permitted[-1])[-1]
        episodes.append(permitted)
    uniform = rng.integers(0, 144, (500, 9)).tolist()
    moves = [[0, 1, 0, 1, 0, 1, 0, 1, 0]] * 500  # which keep the pole upright
    for wrapped in (True, False):
        ours, theirs = (made, peer) if wrapped else (made.unwrapped, peer.unwrapped)
        plays = ((ours, uniform), (ours, episodes), (theirs, moves))
        rounds = [[_step_seconds(*play) for play in plays] for _ in range(5)]
        by_uniform, by_permitted, by_peer = np.min(rounds, axis=0).tolist()
        how = "by gymnasium.make" if wrapped else "without wrappers"
        for kind, seconds in (("uniform", by_uniform), ("permitted", by_permitted)):
            name = f"single env, {kind} attempts, {how}"
            note = "step() alone, resets not counted"
            # The second edition was 4.7 times as fast as CartPole, both made by gymnasium.make.
            target = 4.7 if wrapped and kind == "uniform" else None
            yield Measurement(name, 1e-6 / seconds, "M steps/s", note=note)
            yield Measurement(f"{name}, over CartPole", by_peer / seconds, "x", target)


def _step_seconds(env: gymnasium.Env, episodes: list[list[int]]) -> float:
    """Return the time of a step, that of the lower quartile of short episodes."""
    spent = []
    for seed, actions in enumerate(episodes):
        env.reset(seed=seed)
        step = env.step
        start = time.perf_counter()
        for action in actions:
            step(action)
        spent.append((time.perf_counter() - start) / len(actions))
    return float(np.quantile(spent, 0.25))


_START = """
import time; start = time.process_time()
import gymnasium, gohr
env = gymnasium.make("gohr/ColorMatch-v0"); env.reset(seed=0); env.step(0)
print(time.process_time() - start)
"""


def _starts() -> Iterator[Measurement]:
    """Time import, make, reset and one step in processes of their own."""

    def start(cache: str, absent: Sequence[str] = ()) -> float:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        without = f"import sys; sys.modules.update(dict.fromkeys({absent!r}))"
        command = [sys.executable, "-c", without + _START]
        return float(
            subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        )

    extras = _extra_modules()
    with tempfile.TemporaryDirectory() as cache:
        cold = start(cache)
        # In turns, so that whatever else the machine does meets both.
        starts = [(start(cache), start(cache, extras)) for _ in range(5)]
    warm, plain = map(min, zip(*starts, strict=True))
    note = "processor time: import, make, reset, one step; a process of its own"
    yield Measurement("env, cold start", cold, "s", 8.0, higher_is_better=False, note=note)
    note += "; best of 5"
    few = "as if no extra were installed; best of 5"
    yield Measurement("env, warm start", warm, "s", 0.6, higher_is_better=False, note=note)
    yield Measurement("env, warm start, plain", plain, "s", 0.6, higher_is_better=False, note=few)


def _extra_modules() -> list[str]:
    """Return the modules that are here for extras alone: Numba imports what it finds of them."""
    needed: set[str] = set()
    waiting = ["gohr"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in needed:
            needed.add(name)
            found = map(Requirement, metadata.requires(name) or ())
            waiting += [r.name for r in found if not r.marker or r.marker.evaluate({"extra": ""})]
    places = metadata.packages_distributions().items()
    return sorted(
        module for module, names in places if needed.isdisjoint(map(canonicalize_name, names))
    )


def _pgx() -> Iterator[Measurement]:
    """Time pgx's tic-tac-toe, vectorised under jit, with random moves drawn in the roll-out."""
    try:
        import jax
        import pgx
    except ImportError:
        return
    env = pgx.make("tic_tac_toe")
    init, step = jax.vmap(env.init), jax.vmap(env.step)

    @jax.jit
    def roll_out(key: jax.Array) -> jax.Array:
        def one(state_key, _):  # type: ignore[no-untyped-def]  # jax's own signature
            state, key = state_key
            key, draw, deal = jax.random.split(key, 3)
            logits = jax.numpy.log(state.legal_action_mask.astype(float))
            state = step(state, jax.random.categorical(draw, logits, axis=1))
            fresh = init(jax.random.split(deal, N_ENVS))
            over = state.terminated

            def choose(old, new):  # type: ignore[no-untyped-def]  # as above
                shape = (N_ENVS,) + (1,) * (old.ndim - 1)
                return jax.numpy.where(over.reshape(shape), new, old)

            return (jax.tree_util.tree_map(choose, state, fresh), key), 0

        state = init(jax.random.split(key, N_ENVS))
        (state, _), _ = jax.lax.scan(one, (state, key), None, length=N_STEPS)
        return state.rewards

    key = jax.random.PRNGKey(0)
    roll_out(key).block_until_ready()
    seconds = best_seconds(lambda: roll_out(key).block_until_ready(), 3)
    rate = N_ENVS * N_STEPS / seconds / 1e6
    yield Measurement("peer: pgx tic_tac_toe", rate, "M steps/s", note="draws included, CPU")
