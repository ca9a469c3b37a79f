"""The game in JAX beside gymnax's Catch and pgx's 2048: steps per processor second, compile times.

It needs the extra ``jax``; gymnax and pgx are measured where they are installed, a GPU where there
is one. Nothing else of Gnomon is loaded, so that it runs on a machine with little but JAX.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from typing import Any
from unittest import mock

from benchmarks.record import Measurement
from gohr.rules import available_rules

#: Steps of a batch in one roll-out, by the number of rows.
STEPS = {1_024: 200, 8_192: 40, 65_536: 200, 524_288: 60, 2_097_152: 30}
#: Reset and step of a batch of environments: a key and states in, states and rewards out.
Game = tuple[Callable[[Any], Any], Callable[[Any, Any, Any], tuple[Any, Any]], int]


def measure() -> Iterator[Measurement]:
    """Measure everything of this file, or say that there is no JAX."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        yield Measurement("JAX", 0, "", note="not installed: nothing measured")
        return
    kind = jax.devices()[0].platform
    yield from _compile_times()
    if kind == "cpu":
        yield from _on_processor()
    if kind == "gpu":
        yield from _on_gpu(jax.devices()[0].device_kind)
    else:
        yield Measurement("GPU", 0, "", note="none here: nothing measured")


def about() -> str:
    """Return the versions of what is measured."""
    names = [name for name in ("jax", "gymnax", "pgx") if importlib.util.find_spec(name)]
    return ", ".join(f"{name} {metadata.version(name)}" for name in names) + "."


# -- roll-outs -------------------------------------------------------------------------------------


def _roll_out(game: Game, num_envs: int, n_steps: int, key: Any) -> Callable[[], Any]:
    """Return a compiled roll-out of uniform attempts, which are drawn inside of it."""
    import jax

    reset, step, n_actions = game

    def one(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], Any]:
        states, key = carry
        key, draw, deal = jax.random.split(key, 3)
        actions = jax.random.randint(draw, (num_envs,), 0, n_actions)
        states, rewards = step(deal, states, actions)
        return (states, key), rewards.sum()

    states = jax.block_until_ready(jax.jit(reset)(key))
    run = jax.jit(lambda s: jax.lax.scan(one, (s, key), None, length=n_steps)[1].sum())
    compiled = run.lower(states).compile()
    return lambda: jax.block_until_ready(compiled(states))


def _rates(work: Callable[[], Any], n: int, repeats: int = 5) -> tuple[float, float]:
    """Return the best rates per processor second and per second, in millions."""
    work()
    best = [0.0, 0.0]
    for _ in range(repeats):
        used, start = time.process_time(), time.perf_counter()
        work()
        used, spent = time.process_time() - used, time.perf_counter() - start
        best = [max(best[0], n / used / 1e6), max(best[1], n / spent / 1e6)]
    return best[0], best[1]


def _ours(rules: Any, num_envs: int, *, each: bool = False) -> Game:
    """Return the game; with ``each`` every row draws a board at every step."""
    import jax

    from gohr import jax as gjax

    env, params = gjax.make(rules)

    def step(key: Any, states: Any, actions: Any) -> tuple[Any, Any]:
        if each:
            keys = jax.random.split(key, num_envs)
            replies = jax.vmap(env.step, in_axes=(0, 0, 0, None))(keys, states, actions, params)
        else:
            replies = env.step_boards(key, states, actions, params)
        return replies[1], replies[2]

    return lambda key: env.reset_boards(key, num_envs, params)[1], step, 144


def _catch(num_envs: int) -> Game:
    """Return gymnax's Catch."""
    import gymnax
    import jax

    env, params = gymnax.make("Catch-bsuite")

    def step(key: Any, states: Any, actions: Any) -> tuple[Any, Any]:
        keys = jax.random.split(key, num_envs)
        replies = jax.vmap(env.step, in_axes=(0, 0, 0, None))(keys, states, actions, params)
        return replies[1], replies[2]

    def reset(key: Any) -> Any:
        return jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, num_envs), params)[1]

    return reset, step, 3


def _2048(num_envs: int) -> Game:
    """Return pgx's 2048, which begins anew when a game is over."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("2048")
    one = auto_reset(env.step, env.init)

    def step(key: Any, states: Any, actions: Any) -> tuple[Any, Any]:
        states = jax.vmap(one)(states, actions, jax.random.split(key, num_envs))
        return states, states.rewards

    return lambda key: jax.vmap(env.init)(jax.random.split(key, num_envs)), step, 4


def _peers() -> dict[str, Callable[[int], Game]]:
    """Return what there is to compare with.

    Both load libraries to draw pictures with, which are not needed here and may be absent.
    """
    for name in ("matplotlib", "matplotlib.pyplot", "seaborn", "svgwrite"):
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = mock.MagicMock()
    found: dict[str, Callable[[int], Game]] = {}
    for name, module, game in (("gymnax Catch", "gymnax", _catch), ("pgx 2048", "pgx", _2048)):
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"jax_engine: {name}: {error}", file=sys.stderr)
        else:
            found[name] = game
    return found


# -- what is measured ------------------------------------------------------------------------------


def _on_processor() -> Iterator[Measurement]:
    import jax

    rules = sorted(available_rules())
    key = jax.random.key(0)
    peers = _peers()
    for name in {"gymnax Catch", "pgx 2048"} - peers.keys():
        yield Measurement(f"peer: {name}", 0, "", note="not installed here")
    for n in (1_024, 8_192):
        games = {
            "one rule": _ours("color-match", n),
            f"{len(rules)} rules in one batch": _ours(rules, n),
            "one rule, a board drawn for every row": _ours("color-match", n, each=True),
            **{f"peer: {name}": make(n) for name, make in peers.items()},
        }
        rate = {}
        for name, game in games.items():
            work = _roll_out(game, n, STEPS[n], key)
            rate[name], wall = _rates(work, n * STEPS[n])
            note = f"{wall:.1f} M/s by the clock"
            yield Measurement(f"{name}, {n:,} rows", rate[name], "M steps/processor s", note=note)
        for peer, mine, target in (
            ("gymnax Catch", "one rule", 1.75),
            ("pgx 2048", f"{len(rules)} rules in one batch", 2.65),
        ):
            if peer in peers:
                ratio = rate[mine] / rate[f"peer: {peer}"]
                name = f"{mine} over {peer}, {n:,} rows"
                yield Measurement(name, ratio, "x", target if n == 1_024 else None)


def _on_gpu(device: str) -> Iterator[Measurement]:
    import jax

    rules = sorted(available_rules())
    for n in (1_024, 8_192, 65_536, 524_288, 2_097_152):
        # Threefry is JAX's own choice; rbg draws with what the device has.
        for impl in ("threefry2x32", "rbg") if n >= 65_536 else ("threefry2x32",):
            key = jax.random.key(0, impl=impl)
            games: dict[str, Callable[[int], Game]] = {
                "one rule": partial(_ours, "color-match"),
                f"{len(rules)} rules in one batch": partial(_ours, rules),
            }
            if n in (65_536, 524_288) and impl == "threefry2x32":
                games |= {f"peer: {name}": make for name, make in _peers().items()}
            for name, make in games.items():
                _, wall = _rates(_roll_out(make(n), n, STEPS[n], key), n * STEPS[n], 3)
                target = 200.0 if name == "one rule" and n == 65_536 else None
                note = f"{device}, {impl}"
                yield Measurement(f"{name}, {n:,} rows", wall, "M steps/s", target, note=note)


def _compile_times() -> Iterator[Measurement]:
    """Time the compiler on one step of 1,024 boards, and then what it kept of that."""
    import jax

    from gohr import jax as gjax

    with tempfile.TemporaryDirectory() as folder:
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        for name, rules in (("one rule", "color-match"), ("90 rules", sorted(available_rules()))):
            env, params = gjax.make(rules)
            key = jax.random.key(0)
            _, states = env.reset_boards(key, 1_024, params)
            actions = jax.numpy.zeros(1_024, int)
            spent = []
            for _ in range(2):
                jax.clear_caches()
                lowered = jax.jit(env.step_boards).lower(key, states, actions, params)
                start = time.process_time()
                lowered.compile()
                spent.append(time.process_time() - start)
            for what, seconds, target in zip(("", ", cached"), spent, (5.0, 0.3), strict=True):
                yield Measurement(
                    f"compile of a step, {name}{what}",
                    seconds,
                    "processor s",
                    target,
                    higher_is_better=False,
                )
        # The folder alone would not do: the cache that was opened would go on with it.
        jax.config.update("jax_compilation_cache_dir", None)
        importlib.import_module(
            "jax.experimental.compilation_cache.compilation_cache"
        ).reset_cache()
