"""Scores of rules stated by players: equivalence, agreement on boards, and length."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.results import FieldRecord, Results
from gohr.errors import RuleError, RuleSyntaxError
from gohr.experiments.metrics import episode_errors
from gohr.game.board import DEFAULT_SPEC, BoardSpec, draw_boards
from gohr.game.engine.compiler import compile_rule
from gohr.game.equivalence import equivalent
from gohr.game.outcomes import ACCEPTED, IN_PROGRESS, LEAVE, RESET
from gohr.rules.lexer import tokenize
from gohr.rules.parser import parse
from gohr.rules.syntax import RuleSet

if TYPE_CHECKING:
    from gohr.experiments.run_folder import RunFolder
    from gohr.experiments.store import TrialRecord
    from gohr.playing import TrialLog

#: Boards on which a stated rule is tried in addition to the player's own.
_N_RANDOM = 100
_FENCE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Statement(FieldRecord):
    """A rule stated by a player, compared with the hidden rule.

    Parameters
    ----------
    learner, rule : str
    trial : int
    episode : int
        Number of boards played when it was stated.
    text : str
    error : str or None
        Why the text is not a rule; None if it is one.
    equivalent : bool or None
        Whether it accepts what the hidden rule accepts (:func:`gohr.game.equivalent`).
    exact : bool or None
        Whether that is certain.
    agreement_own, agreement_random : float
        Share of attempts whose acceptance it foretells: of the player's own so far, and of random
        ones on random boards; NaN if the statement is not a rule.
    length : int or None
        Description length of the text: its number of tokens, as :func:`description_length`.
    errors_before : int
        Errors that were made when it was stated.

    Examples
    --------
    >>> Statement("m", "r", 0, 1, "(*,*,*,*,0)", None, True, True, 1.0, 1.0, 11, 4).length
    11
    """

    learner: str
    rule: str
    trial: int
    episode: int
    text: str
    error: str | None
    equivalent: bool | None
    exact: bool | None
    agreement_own: float
    agreement_random: float
    length: int | None
    errors_before: int


class Statements(Results[Statement]):
    """Stated rules, trial by trial, in the order in which they were stated.

    Examples
    --------
    >>> one = Statement("m", "r", 0, 1, "(*,*,*,*,0)", None, True, True, 1.0, 1.0, 11, 4)
    >>> Statements((one,)).errors_to_state()
    {('m', 'r', 0): 4.0}
    """

    columns: ClassVar[tuple[str, ...]] = (
        "learner",
        "rule",
        "trial",
        "episode",
        "equivalent",
        "agreement_own",
        "agreement_random",
        "length",
        "errors_before",
    )

    def errors_to_state(self) -> Mapping[tuple[str, str, int], float]:
        """Return the number of errors before the rule was stated, by learner, rule and trial.

        Before the first statement from which on all of the trial are equivalent to the hidden rule;
        infinite if the last one is not.
        """
        found: dict[tuple[str, str, int], float] = {}
        for one in self:
            key = one.learner, one.rule, one.trial
            if not one.equivalent:
                found[key] = math.inf
            elif not math.isfinite(found.get(key, math.inf)):
                found[key] = float(one.errors_before)
        return found


def description_length(rule: RuleSet | str) -> int:
    """Return the description length of a rule: the number of tokens of its text.

    Names, numbers and signs count one each; comments and blanks do not.

    Examples
    --------
    >>> description_length("(*, *, red, *, 0)  # red pieces")
    11
    """
    text = str(replace(rule, description=())) if isinstance(rule, RuleSet) else rule
    return sum(len(tokenize(line)) - 1 for line in text.splitlines())


def stated_text(said: str) -> str:
    """Return the rule text in a player's statement: the last block of code, or all of it.

    Examples
    --------
    >>> stated_text("I think: <think>...</think> (*,*,*,*,0)")
    'I think:  (*,*,*,*,0)'
    """
    said = _THOUGHT.sub("", said)
    blocks = _FENCE.findall(said)
    return (blocks[-1] if blocks else said).strip()


def statements(
    run: str | os.PathLike[str] | RunFolder,
    stated: Iterable[tuple[str, str, int, int, str]],
    *,
    seed: int = 0,
) -> Statements:
    """Score rules that were stated during the trials of a run.

    Parameters
    ----------
    run : path, RunFolder or RunSummary
        The run in which they were stated.
    stated : iterable of (str, str, int, int, str)
        Learner, rule, number of the trial, number of boards played before, and the text: a rule in
        the rule language, alone or as the last block of code.
    seed : int
        Seed of the random boards.

    Returns
    -------
    Statements
        Scores of the completed trials, in the order given.

    Raises
    ------
    RunFolderError
        It is not a run folder, or the attempts of a trial cannot be read.
    ValueError
        The trial does not exist, or is not done.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig("tiny", ["clockwise"], ["uniform"], trials=1, episodes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     said = [("uniform", "clockwise", 0, 2, "(*,*,*,*,0)")]
    ...     [found] = statements(gohr.run(config, folder), said)
    >>> found.equivalent, found.length
    (False, 11)
    """
    from gohr.experiments.run_folder import RunFolder

    folder = run if isinstance(run, RunFolder) else RunFolder.open(run)
    done = {(x.learner, x.rule, x.trial): x for x in folder.trials() if x.status == "done"}
    found: list[Statement] = []
    for learner, rule, trial, episode, text in stated:
        record = done.get((learner, rule, trial))
        if record is None:
            raise ValueError(f"{learner} on {rule}, trial {trial}: expected a trial that is done")
        found.append(_scored(folder, record, episode, text, seed))
    return Statements(tuple(found), settings={"folder": os.fspath(run), "seed": seed})


def _scored(
    folder: RunFolder, record: TrialRecord, episode: int, text: str, seed: int
) -> Statement:
    """Return the scores of a rule that was stated after some boards of a trial."""
    from gohr.learners import Uniform
    from gohr.playing import play

    config = folder.config
    [rule] = [x.rule_set for x in config.rules if x.name == record.rule]
    log, rng = folder.log(record), np.random.default_rng(seed)
    boards = draw_boards(_N_RANDOM, config.board, rng=rng)
    player = Uniform(config.board, rng=rng)
    at_random = play(boards, player, rule, horizon=config.horizon, board_spec=config.board)
    stated, error = read_statement(text)
    same = None if stated is None else equivalent(rule, stated, config.board)
    own, random = (
        math.nan if stated is None else agreement(stated, x, board_spec=config.board)
        for x in (_first(log, episode), at_random)
    )
    return Statement(
        record.learner,
        record.rule,
        record.trial,
        episode,
        text,
        error,
        equivalent=None if same is None else same.equivalent,
        exact=None if same is None else same.exact,
        agreement_own=own,
        agreement_random=random,
        length=None if stated is None else description_length(stated),
        errors_before=int(episode_errors(log)[:episode].sum()),
    )


def read_statement(said: str) -> tuple[RuleSet | None, str | None]:
    r"""Return the rule that a player stated, or why the statement is not a rule.

    Examples
    --------
    >>> print(read_statement("```\n(*,*,*,*,0)\n```")[0])
    (*, *, *, *, 0)
    """
    try:
        rule = parse(stated_text(said))
        compile_rule(rule)
    except (RuleSyntaxError, RuleError) as error:
        return None, str(error).splitlines()[0]
    return rule, None


def _first(log: TrialLog, n: int) -> TrialLog:
    """Return the first episodes of a trial."""
    rows = int(log.n_attempts[:n].sum())
    return replace(
        log,
        boards=log.boards[:n],
        n_attempts=log.n_attempts[:n],
        actions=log.actions[:rows],
        outcomes=log.outcomes[:rows],
        finish=log.finish[:n],
    )


def agreement(stated: RuleSet, log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> float:
    """Return the share of the attempts of a trial whose acceptance a stated rule predicts.

    The stated rule is played along. Once it would have rejected an accepted attempt, the boards
    differ, and the rest of that board counts as not predicted.

    Parameters
    ----------
    stated : RuleSet
    log : TrialLog
        Any player's trial on the hidden rule.
    board_spec : BoardSpec
        Gives the palettes.

    Returns
    -------
    float
        From 0 to 1; NaN if there are no attempts.

    Examples
    --------
    >>> import gohr
    >>> rng = np.random.default_rng(0)
    >>> learner = gohr.make_learner("uniform", gohr.BoardSpec(), rng=rng)
    >>> rule = gohr.load_rule("clockwise")
    >>> log = gohr.play(gohr.draw_boards(3, rng=rng), learner, rule)
    >>> agreement(rule, log), agreement(gohr.load_rule("anything-goes"), log) < 0.9
    (1.0, True)
    """
    from gohr.game.engine.boards import Boards

    n = len(log.boards)
    player = Boards.empty(stated, n, board_spec)
    player.advance(RESET, log.boards)
    begins = np.cumsum(log.n_attempts) - log.n_attempts
    follows, n_foretold, n_attempts = np.ones(n, dtype=np.bool_), 0, 0
    for k in range(int(log.n_attempts.max(initial=0))):
        has = np.flatnonzero(log.n_attempts > k)
        rows = begins[has] + k
        actions, outcomes = log.actions[rows].astype(np.int64), log.outcomes[rows]
        real = outcomes >= 0  # not after the end of the board
        has, actions, good = has[real], actions[real], outcomes[real] == ACCEPTED
        says = (player.permitted()[has, actions] != 0) & (player.finish[has] == IN_PROGRESS)
        n_foretold += int(((says == good) & follows[has]).sum())
        n_attempts += len(has)
        follows[has] &= says | ~good
        moves = np.full(n, LEAVE)
        moves[has] = np.where(good & says & follows[has], actions, LEAVE)
        player.advance(moves, log.boards)
    return n_foretold / n_attempts if n_attempts else math.nan
