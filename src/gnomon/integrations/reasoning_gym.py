"""A procedural dataset of reasoning-gym: from a log of attempts to a move, or to the rule.

``import gnomon.integrations.reasoning_gym`` registers ``gnomon_hidden_rules``, in each process that
needs it. It is single-turn: the player reads what another one attempted, and answers once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from reasoning_gym.coaching.attributes import ScalarAttributeDefinition
from reasoning_gym.coaching.base_curriculum import BaseCurriculum
from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset

from gnomon.experiments.scoring.rule_agreement import agreement
from gnomon.experiments.scoring.statements import read_statement
from gnomon.game.board import DEFAULT_SPEC, N_BUCKETS, draw_boards
from gnomon.game.engine.boards_in_play import Boards
from gnomon.game.equivalence import equivalent
from gnomon.game.outcomes import ACCEPTED
from gnomon.integrations.drawn_rules import Split, drawn_rule, rungs_of
from gnomon.integrations.trial_in_words import TrialInWords
from gnomon.learners.base import TrialLog
from gnomon.learners.fixed_players import Frugal, Uniform
from gnomon.learners.language_model.dialogue import Dialogue
from gnomon.learners.language_model.prompt import read_move
from gnomon.learners.trial import TrialInPlay, compiled, play_trial
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet

NAME = "gnomon_hidden_rules"
#: What a readable move is worth that the rule does not accept, and most that a wrong rule is worth.
_A_MOVE, _MOST_WRONG = 0.05, 0.9
_N_BOARDS = 10
_RUNGS = tuple(dict.fromkeys(rung for rung, _, _ in rungs_of()))


@dataclass
class HiddenRulesConfig:
    """What the items are drawn from.

    Parameters
    ----------
    task : {"move", "rule"}
        What is asked for: an attempt that is accepted now, or the rule in Gnomon's language.
    boards : int
        How many boards the log has; more tell more.
    n_rungs : int
        From how many rungs of the ladder rules are drawn, the easiest first, 1 to 7.
    split : {"train", "eval"}
        No rule is in both.
    seed : int, optional
    size : int
    """

    task: Literal["move", "rule"] = "move"
    boards: int = 6
    n_rungs: int = len(_RUNGS)
    split: Split = "train"
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Raise AssertionError for a field out of its range."""
        assert self.task in ("move", "rule"), f"task: expected move or rule, found {self.task!r}"
        assert self.split in ("train", "eval"), f"split: expected train or eval, found {self.split}"
        assert self.boards >= 1, f"boards: expected at least 1, found {self.boards}"
        assert 1 <= self.n_rungs <= len(_RUNGS), f"n_rungs: expected 1 to 7, found {self.n_rungs}"


class HiddenRulesDataset(ProceduralDataset):
    """Logs of a player that learns nothing, and what can be learned from them."""

    def __init__(self, config: HiddenRulesConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)

    @property
    def category(self) -> str:
        """What kind of task it is."""
        return "induction"

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return item ``idx``, which depends on the seed and ``idx`` alone."""
        if not 0 <= idx < self.size:
            raise IndexError(idx)
        config = self.config
        rungs = _RUNGS[: config.n_rungs]
        rung, entry = drawn_rule(idx, seed=self.seed, split=config.split, rungs=rungs)
        rng = np.random.default_rng([self.seed, idx, 1])
        game, in_play = _watched(entry.rule_set, config.boards, rng)
        permitted = np.flatnonzero(in_play.permitted()[0]).tolist()
        turns = game.turns()
        if config.task == "rule":
            turns = [*turns[:-1], game.dialogue.statement_turns("language")[-1]]
        answer = entry.text if config.task == "rule" else _said(permitted[0])
        return {
            "question": "\n\n".join(turn.text for turn in turns),
            "answer": answer,
            "metadata": {
                "source_dataset": NAME,
                "source_index": idx,
                "task": config.task,
                "rule": entry.text,
                "board": game.observation.board.tolist(),
                "permitted": permitted,
                "difficulty": {"rung": rung, "boards": config.boards, "n_rungs": config.n_rungs},
            },
        }

    def score_answer(self, answer: str | None, entry: Mapping[str, Any]) -> float:
        """Return 1 for an accepted move, or for a rule that is equivalent; else a part of it.

        A readable move of a piece on the board has 0.05. A wrong rule has up to 0.9: by how much
        more of random attempts it foretells than one that accepts nothing.
        """
        about = entry["metadata"]
        if answer is None:
            return 0.0
        if about["task"] == "rule":
            return _rule_score(answer, about["rule"])
        action = read_move(answer, "line")
        if action is None or not about["board"][action // N_BUCKETS]:
            return 0.0
        return 1.0 if action in about["permitted"] else _A_MOVE


def _watched(rule: RuleSet, n_boards: int, rng: np.random.Generator) -> tuple[TrialInWords, Boards]:
    """Return a trial of a player that learns nothing, at the begin of the board after the last."""
    boards = draw_boards(n_boards + 1, rng=rng)
    program = compiled(rule, DEFAULT_SPEC)
    assert program is not None
    in_play = Boards.empty(program, 1)
    player = Frugal(DEFAULT_SPEC, rng=rng)
    game = TrialInWords(TrialInPlay(in_play, boards, 100), Dialogue())
    while game.dialogue.n_boards <= n_boards:
        player.observe(game.attempt(player.act(game.observation)))
    return game, in_play


def _said(action: int) -> str:
    cell, bucket = divmod(action, N_BUCKETS)
    return f"MOVE {cell % 6 + 1} {cell // 6 + 1} {bucket}"


def _rule_score(answer: str, hidden: str) -> float:
    stated, _ = read_statement(answer)
    rule = parse(hidden)
    if stated is None:
        return 0.0
    log = _random_trial(rule)
    share = agreement(stated, log)
    if share == 1.0 and equivalent(rule, stated):
        return 1.0
    base = _foretold_by_none(log)
    return _MOST_WRONG * max(0.0, (share - base) / (1 - base))


def _foretold_by_none(log: TrialLog) -> float:
    """Return the agreement of a rule that accepts nothing: up to the first move of each board."""
    boards = np.split(log.outcomes, np.cumsum(log.n_attempts)[:-1])
    accepted = [np.flatnonzero(outcomes == ACCEPTED) for outcomes in boards]
    first = [where[0] if len(where) else len(o) for where, o in zip(accepted, boards, strict=True)]
    return float(sum(first)) / len(log.outcomes)


def _random_trial(rule: RuleSet) -> TrialLog:
    rng = np.random.default_rng(0)
    return play_trial(Uniform(rng=rng), rule, draw_boards(_N_BOARDS, rng=rng))


class HiddenRulesCurriculum(BaseCurriculum):
    """From rules of the first rung with long logs to all rungs with short ones."""

    def __init__(self) -> None:
        super().__init__(HiddenRulesCurriculum.__name__, HiddenRulesConfig)
        self._define_attributes(
            ScalarAttributeDefinition(
                name="n_rungs",
                levels=list(range(1, len(_RUNGS) + 1)),
                field_name="n_rungs",
                description="From how many rungs of the ladder rules are drawn",
            ),
            ScalarAttributeDefinition(
                name="boards",
                levels=[12, 10, 8, 6],
                field_name="boards",
                description="How many boards the log has",
            ),
        )


if NAME not in DATASETS:
    register_dataset(NAME, HiddenRulesDataset, HiddenRulesConfig, HiddenRulesCurriculum)
