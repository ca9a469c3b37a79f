"""The game in verifiers: tasks drawn from the ladder, and an environment that plays them in turns.

The taskset is found by the id ``gohr-verifiers``, the module that exports these classes. An
episode is one rule; the game plays the user, and the reward is computed by the engine. A task
has the specification and seed of its boards, so that only the model differs between the rollouts of
a group. A rule belongs
to the training or the evaluation split by a hash of its meaning, regardless of the seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
import verifiers.v1 as vf
from pydantic import Field

from gnomon.errors import GnomonError, UnknownNameError
from gohr import env as gymnasium_env
from gohr.board import N_CELLS, BoardSpec
from gohr.experiments.entries import RuleEntry, content_hash
from gohr.experiments.suites import load_suite
from gohr.integrations.words import TrialInWords
from gohr.playing import TrialInPlay
from gohr.rules.parser import parse
from gohr.rules.templates import draw_rule

Split: TypeAlias = Literal["train", "eval"]
#: Words of the seeds: one for the rules, one for the boards.
_BOARDS = 1_000_003
#: One rule in five is for evaluation.
_FOLDS = 5
#: A small family may have no rule in a split: after this number of draws the next family is tried.
_MOST_DRAWS = 200
_LIST = re.compile(r"\[([^\[\]]*)\]")
_ATOM = re.compile(r"\([^()]*\)")


class HiddenRulesConfig(vf.TasksetConfig):
    """Tasks: their number and split, their difficulty, and the length of an episode.

    ``rungs`` and ``leave_out`` name rungs and families of the ladder; ``split`` is ``train`` or
    ``eval``, of which no rule is in both; ``pieces`` lie on a board at first.
    """

    n_tasks: int = 1000
    split: Split = "train"
    seed: int = 0
    rungs: list[str] = Field(default_factory=list)
    leave_out: list[str] = Field(default_factory=list)
    boards: int = 3
    horizon: int = 40
    pieces: int = 9


class HiddenRulesData(vf.TaskData):
    """A task: the rule, and the specification of its boards."""

    rule: str
    family: str
    rung: str
    boards: int
    horizon: int
    pieces: int
    board_seed: int


class HiddenRulesTask(vf.Task[HiddenRulesData, vf.State, vf.TaskConfig]):
    """A rule to find by attempts."""


class HiddenRulesTaskset(vf.Taskset[HiddenRulesTask, HiddenRulesConfig]):
    """Rules drawn by number and seed, families by turns."""

    def load(self) -> Iterator[HiddenRulesTask]:
        """Yield the tasks; equal configurations give equal ones."""
        config = self.config
        for number in range(config.n_tasks):
            rung, rule = _drawn_rule(number, config)
            played: dict[str, Any] = {
                "rule": rule.text,
                "boards": config.boards,
                "horizon": config.horizon,
                "pieces": config.pieces,
                "board_seed": _BOARDS * config.seed + number,
            }
            system, shown = game_of(**played).turns()
            data = HiddenRulesData(
                name=rule.name,
                prompt=shown.text,
                system_prompt=system.text,
                family=rule.name.partition("#")[0],
                rung=rung,
                **played,
            )
            yield HiddenRulesTask(data, config.task)


def _drawn_rule(number: int, config: HiddenRulesConfig) -> tuple[str, RuleEntry]:
    """Return the rung and the rule of a number; the same number and seed give the same rule."""
    known = load_suite("gohr-induction").rungs
    for rung in config.rungs:
        if rung not in known:
            raise UnknownNameError("rung", rung, known)
    families = [
        (rung, family, template.strip())
        for rung in known
        if not config.rungs or rung in config.rungs
        for family, template in known[rung].items()
        if family not in config.leave_out
    ]
    for k in range(len(families)):
        rung, family, template = families[(number + k) % len(families)]
        rng = np.random.default_rng([config.seed, number])
        for _ in range(_MOST_DRAWS):
            rule = RuleEntry(f"{family}#{number}", draw_rule(template, rng=rng).text)
            if _split_of(rule) == config.split:
                return rung, rule
    raise GnomonError(f"expected families with rules of the split {config.split!r}, found none")


def _split_of(rule: RuleEntry) -> Split:
    """Return the split of a rule by its meaning: the order of a list, or of atoms, is ignored."""
    text = _LIST.sub(lambda found: f"[{','.join(sorted(found[1].split(',')))}]", rule.text)
    lines = [sorted(_ATOM.findall(line.replace(" ", ""))) for line in text.splitlines()]
    return "train" if int(content_hash(lines)[:8], 16) % _FOLDS else "eval"


def game_of(rule: str, boards: int, horizon: int, pieces: int, board_seed: int) -> TrialInWords:
    """Return the game of a task, before its first attempt, on the boards that Gymnasium deals."""
    # Palettes of four, whatever lies on a board.
    spec = BoardSpec(pieces=pieces, shapes=min(4, pieces), colors=min(4, pieces))
    env = gymnasium_env.HiddenRulesEnv("anything-goes", spec)
    dealt = np.empty((boards, N_CELLS), np.uint8)
    for k in range(boards):
        dealt[k] = env.reset(seed=None if k else board_seed)[0]["board"]
    game = TrialInPlay(dealt, parse(rule), horizon=horizon, board_spec=spec)
    return TrialInWords(game, spec, with_memory=False)


class HiddenRulesEnvConfig(vf.EnvConfig):
    """One seat: the player."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})


class HiddenRulesEnv(vf.Env[HiddenRulesEnvConfig]):
    """The game answers each attempt until all boards are over."""

    async def run(self, task: HiddenRulesTask, agents: Any) -> None:
        """Play an episode; the reward is the share of its attempts that were accepted."""
        data = task.data
        game = game_of(data.rule, data.boards, data.horizon, data.pieces, data.board_seed)
        async with agents.player.interaction(task) as talk:
            segment = await talk.turn()
            while not segment.terminated:
                game.take(segment.last_reply or "")
                if game.over:
                    break
                segment = await talk.turn(game.turns()[-1].text)
        complete = game.over and not game.given_up
        talk.trace.record_reward("accepted", game.reward() if complete else 0.0, 1.0)
        talk.trace.record_metric("errors", game.n_errors)
        talk.trace.record_metric("attempts", game.n_attempts)
        talk.trace.record_metric("unreadable", game.n_unreadable)
        talk.trace.record_metric("complete", float(complete))
