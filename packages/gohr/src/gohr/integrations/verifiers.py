"""The game in verifiers: tasks drawn from the ladder, and an environment that plays them in turns.

The taskset is found by the id ``gohr-verifiers``, the module that exports these classes. An
episode is one rule; the game plays the user, and the reward is of the engine. A task holds all that
its boards are drawn from, so that the rollouts of a group differ in the model alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from gohr.game.board import BoardSpec
from gohr.integrations.drawn_rules import Split, drawn_rule
from gohr.integrations.trial_in_words import TrialInWords, conversation
from gohr.rules.parser import parse

#: Words of the seeds: one for the rules, one for the boards.
_BOARDS = 1_000_003


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
            rung, rule = drawn_rule(
                number,
                seed=config.seed,
                split=config.split,
                rungs=config.rungs,
                leave_out=config.leave_out,
            )
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


def game_of(rule: str, boards: int, horizon: int, pieces: int, board_seed: int) -> TrialInWords:
    """Return the game of a task, before its first attempt."""
    # Palettes of four, whatever lies on a board.
    spec = BoardSpec(pieces=pieces, shapes=min(4, pieces), colors=min(4, pieces))
    return conversation(
        parse(rule), boards=boards, horizon=horizon, seed=board_seed, board_spec=spec
    )


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
