"""Mean returns of MinAtar's PPO agents by the settings of gymnax-blines: Seaquest's upper anchor.

gymnax prints returns of its PPO agents of four games, trained by gymnax-blines (Lange 2022) with
one list of settings, which it keeps of Seaquest too and prints no return of. These are they: 64
environments, 128 steps, 10 million frames, 8 minibatches, 4 epochs, Adam at 0.0005, discount
0.999, GAE 0.95, clipping 0.2 of policy and value, entropy 0.01, value 0.5, gradients of norm 0.5;
actor and critic apart, two layers of 256. Written anew from that list (PPO: Schulman et al. 2017,
arXiv 1707.06347), on the games of pgx, as gymnax has them: no repeated actions, the end after 1,000
steps. Breakout, of which gymnax prints 28, says whether the agent is a fair stand-in.

Few of the inputs are ever on, so the first layer adds their rows instead of multiplying all: a
tenth of the time of a dense product, and the same numbers but for rounding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from benchmarks.record import Measurement

#: What gymnax 1.0.1 prints of its agent; NaN where it prints nothing.
GAMES = {"minatar-seaquest": math.nan, "minatar-breakout": 28.0}
SEED = 0
#: The agent is tried after each of these; gymnax-blines stops at the last.
FRAMES = (1_000_000, 2_500_000, 5_000_000, 10_000_000)
N_ENVS, N_STEPS, N_MINIBATCHES, N_EPOCHS = 64, 128, 8, 4
DISCOUNT, TRACE, CLIP, ENTROPY, VALUE = 0.999, 0.95, 0.2, 0.01, 0.5
RATE, LARGEST_NORM = 5e-4, 0.5
WIDTH = 256
#: Fresh episodes by the policy as it is: its actions are drawn.
EPISODES = 500
LAST_STEP = 1_000


def measure() -> Iterator[Measurement]:
    """Give the mean return of each game's agent with its standard error."""
    try:
        from pgx.minatar.breakout import MinAtarBreakout
        from pgx.minatar.seaquest import MinAtarSeaquest
    except ImportError:
        note = "pgx is not installed here (pip install pgx)"
        yield Measurement("trained play", math.nan, "return", note=note)
        return
    kinds = {"minatar-seaquest": MinAtarSeaquest, "minatar-breakout": MinAtarBreakout}
    for game, printed in GAMES.items():
        start = time.process_time()
        env = kinds[game](sticky_action_prob=0.0)
        for n_frames, returns in _agent(env):
            error = returns.std(ddof=1) / math.sqrt(EPISODES)
            minutes = (time.process_time() - start) / 60
            note = f"± {error:.2f}; {EPISODES} episodes, seed {SEED}; {minutes:.1f} processor min"
            if n_frames == FRAMES[-1] and not math.isnan(printed):
                note += f"; gymnax prints {printed:g}"
            title = f"{game}, {n_frames / 1e6:g}M frames"
            yield Measurement(title, float(returns.mean()), "return", note=note)


class Batch(NamedTuple):
    """Steps that are learned from, one a row; inputs as the places that are on."""

    places: np.ndarray
    action: np.ndarray
    log_chance: np.ndarray
    value: np.ndarray
    advantage: np.ndarray


class Games:
    """Games of pgx side by side, begun again as soon as one ends."""

    def __init__(self, env: Any, n: int, seed: int) -> None:
        import jax
        from jax import numpy as jnp

        def begin(key: Any) -> Any:
            return jax.vmap(env.init)(jax.random.split(key, n)), jnp.zeros(n, int)

        def step(held: Any, action: Any, key: Any) -> Any:
            state, steps = held
            state = jax.vmap(env.step)(state, action, jax.random.split(key, n))
            reward, steps = state.rewards[:, 0], steps + 1
            done = state.terminated | (steps >= LAST_STEP)

            def chosen(new: Any, old: Any) -> Any:
                return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), new, old)

            held = jax.tree.map(chosen, begin(key), (state, steps))
            return held, held[0].observation.reshape(n, -1), reward, done

        self._key = jax.random.key(seed)
        self._split = jax.random.split
        self._held = jax.jit(begin)(self._key)
        self._step = jax.jit(step)
        self.seen = np.asarray(self._held[0].observation).reshape(n, -1)

    def play(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take a step in each; return the rewards and which games ended."""
        self._key, key = self._split(self._key)
        self._held, seen, reward, done = self._step(self._held, action, key)
        self.seen = np.asarray(seen)
        return np.asarray(reward), np.asarray(done)


def _agent(env: Any) -> Iterator[tuple[int, np.ndarray]]:
    """Train an agent; give what it scores in fresh episodes after so many frames."""
    draws = np.random.default_rng(SEED)
    games = Games(env, N_ENVS, SEED)
    weights = _weights(games.seen.shape[1], env.num_actions, draws)
    moments = [np.zeros_like(w) for w in weights * 2]
    done = n_updates = 0
    for n_frames in FRAMES:
        while done < n_frames:
            batch = _collected(games, weights, draws)
            for _ in range(N_EPOCHS):
                order = draws.permutation(N_ENVS * N_STEPS)
                for rows in order.reshape(N_MINIBATCHES, -1):
                    n_updates += 1
                    slopes = _slopes(weights, Batch(*(x[rows] for x in batch)))
                    _adam(weights, slopes, moments, n_updates)
            done += N_ENVS * N_STEPS
        yield n_frames, _returns(env, weights, draws)


def _weights(n_inputs: int, n_actions: int, draws: np.random.Generator) -> list[np.ndarray]:
    """Return both networks as flax begins them: LeCun's truncated normal, biases up to 0.05.

    The first layer is that of both, actor before critic.
    """
    shapes = [(n_inputs, 2 * WIDTH), (WIDTH, WIDTH), (WIDTH, n_actions), (WIDTH, WIDTH), (WIDTH, 1)]
    found: list[np.ndarray] = []
    for shape in shapes:
        z = draws.normal(size=shape)
        while (far := np.abs(z) > 2).any():
            z[far] = draws.normal(size=far.sum())
        found += [z / (0.8796 * math.sqrt(shape[0])), draws.uniform(0, 0.05, shape[1])]
    return [x.astype(np.float32) for x in found]


def _answer(weights: list[np.ndarray], places: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the layers that inputs bring about, then log chances and values."""
    first, bias, second, bias2, out, bias3, second_v, bias2_v, out_v, bias3_v = weights
    h = np.maximum(_rows_added(places, first, bias), 0)
    a = np.maximum(h[:, :WIDTH] @ second + bias2, 0)
    c = np.maximum(h[:, WIDTH:] @ second_v + bias2_v, 0)
    logits = a @ out + bias3
    logits -= logits.max(1, keepdims=True)
    return (
        h,
        a,
        c,
        logits - np.log(np.exp(logits).sum(1, keepdims=True)),
        (c @ out_v + bias3_v)[:, 0],
    )


def _drawn(log_chances: np.ndarray, draws: np.random.Generator) -> np.ndarray:
    """Draw an action of each row."""
    return np.argmax(log_chances + draws.gumbel(size=log_chances.shape), axis=1)


def _collected(games: Games, weights: list[np.ndarray], draws: np.random.Generator) -> Batch:
    """Play 128 steps of each game; return them with generalised advantages."""
    seen, kept = [], []
    for _ in range(N_STEPS):
        seen.append(_places(games.seen))
        *_, log_chances, value = _answer(weights, seen[-1])
        action = _drawn(log_chances, draws)
        kept.append((action, log_chances[np.arange(N_ENVS), action], value, *games.play(action)))
    action, log_chance, value, reward, done = map(np.array, zip(*kept, strict=True))
    following = _answer(weights, _places(games.seen))[-1]
    advantage = np.zeros_like(value)
    trace = np.zeros(N_ENVS, np.float32)
    for t in range(N_STEPS - 1, -1, -1):
        gain = reward[t] + DISCOUNT * following * ~done[t] - value[t]
        trace = advantage[t] = gain + DISCOUNT * TRACE * ~done[t] * trace
        following = value[t]
    width = max(x.shape[1] for x in seen)
    places = np.concatenate(
        [np.pad(x, ((0, 0), (0, width - x.shape[1])), constant_values=-1) for x in seen]
    )
    return Batch(places, *(x.reshape(-1) for x in (action, log_chance, value, advantage)))


def _slopes(weights: list[np.ndarray], batch: Batch) -> list[np.ndarray]:
    """Return the slopes of PPO's loss: clipped policy, clipped value, entropy."""
    first, _, second, _, out, _, second_v, _, out_v, _ = weights
    h, a, c, log_chances, value = _answer(weights, batch.places)
    n, chances = len(value), np.exp(log_chances)
    rows = np.arange(n)
    advantage = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)
    ratio = np.exp(log_chances[rows, batch.action] - batch.log_chance)
    held = np.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy = -advantage * ratio * (ratio * advantage <= held * advantage)
    logits = -policy[:, None] * chances
    logits[rows, batch.action] += policy
    entropy = -(chances * log_chances).sum(1, keepdims=True)
    logits += ENTROPY * chances * (log_chances + entropy)
    off = value - (batch.advantage + batch.value)
    moved = value - batch.value
    clipped = off - moved + np.clip(moved, -CLIP, CLIP)
    far = (np.abs(moved) > CLIP) & (np.abs(clipped) > np.abs(off))
    logits = (logits / n).astype(np.float32)
    critic = (VALUE * off * ~far / n).astype(np.float32)[:, None]
    to_a = (logits @ out.T) * (a > 0)
    to_c = (critic @ out_v.T) * (c > 0)
    to_h = np.hstack([to_a @ second.T, to_c @ second_v.T]) * (h > 0)
    return [
        *(_added_to_rows(batch.places, to_h, len(first)), to_h.sum(0)),
        *(h[:, :WIDTH].T @ to_a, to_a.sum(0), a.T @ logits, logits.sum(0)),
        *(h[:, WIDTH:].T @ to_c, to_c.sum(0), c.T @ critic, critic.sum(0)),
    ]


def _adam(
    weights: list[np.ndarray], slopes: list[np.ndarray], moments: list[np.ndarray], n: int
) -> None:
    """Take a step of Adam, slopes clipped by their norm, in place."""
    norm = math.sqrt(sum(float(np.vdot(g, g)) for g in slopes))
    scale = min(1.0, LARGEST_NORM / norm)
    for w, g, m, v in zip(weights, slopes, moments[:10], moments[10:], strict=True):
        _step_of_adam(w.ravel(), g.ravel(), m.ravel(), v.ravel(), scale, 1 - 0.9**n, 1 - 0.999**n)


def _returns(env: Any, weights: list[np.ndarray], draws: np.random.Generator) -> np.ndarray:
    """Return the sum of rewards of the first episode of each of many games."""
    games = Games(env, EPISODES, SEED + 1)
    total, running = np.zeros(EPISODES), np.ones(EPISODES, bool)
    while running.any():
        reward, done = games.play(_drawn(_answer(weights, _places(games.seen))[3], draws))
        total += reward * running
        running &= ~done
    return total


@njit(cache=True)
def _places(seen):
    """Return the places of inputs that are on, a row each, -1 behind the last."""
    counts = np.array([seen[i].sum() for i in range(len(seen))])
    found = np.full((len(seen), counts.max()), -1, np.int32)
    for i in range(len(seen)):
        at = 0
        for j in range(seen.shape[1]):
            if seen[i, j]:
                found[i, at] = j
                at += 1
    return found


@njit(cache=True, fastmath=True)
def _rows_added(places, rows, bias):
    """Return the sum of the rows at some places: a product with a matrix of zeros and ones."""
    found = np.empty((len(places), rows.shape[1]), np.float32)
    for i in range(len(places)):
        found[i] = bias
        for at in places[i]:
            if at < 0:
                break
            for j in range(rows.shape[1]):
                found[i, j] += rows[at, j]
    return found


@njit(cache=True, fastmath=True)
def _added_to_rows(places, slopes, n_rows):
    """Return the slopes of the rows that :func:`_rows_added` adds."""
    found = np.zeros((n_rows, slopes.shape[1]), np.float32)
    for i in range(len(places)):
        for at in places[i]:
            if at < 0:
                break
            for j in range(slopes.shape[1]):
                found[at, j] += slopes[i, j]
    return found


@njit(cache=True, fastmath=True)
def _step_of_adam(w, g, m, v, scale, bias_m, bias_v):
    """Move weights by Adam (Kingma and Ba 2015) with slopes that are scaled first."""
    for i in range(len(w)):
        slope = np.float32(scale) * g[i]
        m[i] = np.float32(0.9) * m[i] + np.float32(0.1) * slope
        v[i] = np.float32(0.999) * v[i] + np.float32(0.001) * slope * slope
        w[i] -= RATE * (m[i] / bias_m) / (math.sqrt(v[i] / bias_v) + 1e-5)
