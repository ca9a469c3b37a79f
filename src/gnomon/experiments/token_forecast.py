"""Forecast of the tokens and the price of language models, without asking one.

The same boards are played by two stand-ins: one that learns as fast as an ideal learner, and one
that only avoids what has just failed. What a model would have been told in either trial is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, cast

from gnomon.experiments.config.config_entries import LearnerEntry
from gnomon.experiments.trial import Trial
from gnomon.learners.trial import trial_in_play

if TYPE_CHECKING:
    from gnomon.learners.language_model.endpoint import Turn
    from gnomon.learners.language_model.player import LanguageModel

#: Letters of a token, about; and the tokens of an answer that says a move and nothing else.
_LETTERS, _ANSWER_TOKENS = 4.0, 12
#: On how many rules a stand-in plays.
_MOST_RULES = 4
STAND_INS = ("ideal", "frugal")


@dataclass(frozen=True, slots=True)
class TokenForecast:
    """What asking a language model is expected to take, for one trial on average.

    Each is a pair: if it learned as the ideal learner does, and if it learned nothing from one
    board to the next. Thoughts are counted only in the second, as ``max_tokens`` for each answer if
    that is set; pictures are not, and neither is what a provider has cached.

    Parameters
    ----------
    requests, tokens_in, tokens_out : tuple of float
    money : tuple of float or None
        None without a price of this model.

    Examples
    --------
    >>> TokenForecast((90.0, 400.0), (5e4, 9e5), (1e3, 5e3), None).requests
    (90.0, 400.0)
    """

    requests: tuple[float, float]
    tokens_in: tuple[float, float]
    tokens_out: tuple[float, float]
    money: tuple[float, float] | None


def token_forecast(
    trials: Sequence[Trial], prices: Iterable[Mapping[str, Any]] = ()
) -> TokenForecast:
    """Return what a trial of a language model is expected to take, the mean over some rules.

    Parameters
    ----------
    trials : sequence of Trial
        Of one language model.
    prices : iterable of mapping
        As those of an experiment.

    Examples
    --------
    >>> import gnomon as gn
    >>> from gnomon.experiments.trial import trials_of
    >>> model = {"kind": "language_model", "model": "some-model"}
    >>> config = gn.ExperimentConfig("x", ["color-match"], [model], trials=1, episodes=2)
    >>> low, high = token_forecast(list(trials_of(config))).requests
    >>> 18 <= low < high
    True
    """
    first = list({trial.rule.name: trial for trial in reversed(trials)}.values())
    chosen = first[:: math.ceil(len(first) / _MOST_RULES)]
    model = cast("LanguageModel", _player(chosen[0]))
    requests, letters = [], []
    for kind in STAND_INS:
        told = [_told(trial, kind) for trial in chosen]
        requests.append(fmean(n for n, _ in told))
        letters.append(fmean(n for _, n in told))
    tokens_in = letters[0] / _LETTERS, letters[1] / _LETTERS
    most = max(_ANSWER_TOKENS, model.max_tokens or 0)
    tokens_out = requests[0] * _ANSWER_TOKENS, requests[1] * most
    money = None
    for price in prices:
        if price["model"] == model.model:
            both = zip(tokens_in, tokens_out, strict=True)
            low, high = ((i * price["input"] + o * price["output"]) / 1e6 for i, o in both)
            money = low, high
    return TokenForecast((requests[0], requests[1]), tokens_in, tokens_out, money)


def _player(trial: Trial) -> object:
    return trial.learner.make(trial.board, rng=trial.learner_rng())


def _told(trial: Trial, kind: str) -> tuple[int, int]:
    """Return how often a model that plays as a stand-in is asked, and in how many letters.

    A conversation is shortened as it would be.
    """
    dialogue = cast("LanguageModel", _player(trial)).dialogue
    log = replace(trial, learner=LearnerEntry(kind, kind)).play()
    game = trial_in_play(
        trial.rule.rule_set, trial.boards(), horizon=trial.horizon, board_spec=trial.board
    )
    n_letters = 0
    for action in log.actions.tolist():
        codes = game.observation.board
        letters = _n_letters(dialogue.turns(codes))
        dialogue.say(action, codes)
        made = game.attempt(action)
        dialogue.observe(made)
        dialogue.shorten(int(letters / _LETTERS), _ANSWER_TOKENS)
        if made.terminated or made.truncated:
            dialogue.next_board()
        n_letters += letters
    return len(log.actions), n_letters


def _n_letters(turns: Iterable[Turn]) -> int:
    return sum(len(turn.text) for turn in turns)
