"""Held-out variants of the rules of a ladder, drawn by seed from the families of its rules.

A published rule can be memorised. A variant of its family needs the same induction, and its text
exists nowhere before it is drawn: no rule of the library accepts the same moves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gohr.errors import ConfigError
from gohr.experiments.config.config_entries import RuleEntry
from gohr.experiments.config.suites import Suite, available_suites, load_suite
from gohr.game.board import BoardSpec, draw_boards
from gohr.rules.catalogue import available_rules, load_rule
from gohr.rules.syntax import RuleSet
from gohr.rules.templates import draw_rule

if TYPE_CHECKING:
    import numpy as np

    from gohr.playing import TrialLog

#: Draws before a family counts as used up; boards, and attempts on each, on which a variant must
#: differ from a rule.
_MOST_DRAWS, _N_BOARDS, _HORIZON = 200, 20, 25


def held_out_rules(suite: Suite, seed: int) -> tuple[RuleEntry, ...]:
    """Return a variant of each rule of a ladder, named ``RULE@SEED``.

    Parameters
    ----------
    suite : Suite
        One with rungs.
    seed : int
        Another seed, other variants, though small families have few.

    Returns
    -------
    tuple of RuleEntry
        In the order of the rules; none accepts the same as a rule of the library or as another one
        of them.

    Raises
    ------
    ConfigError
        If the suite has no rungs, or a family is used up.

    Examples
    --------
    >>> variants = held_out_rules(load_suite("gohr-induction"), 7)
    >>> len(variants), variants[0].name
    (24, 'color-match@7')
    """
    import numpy as np

    if not suite.rungs:
        raise ConfigError(f"suite {suite.name!r} has no held-out variants")
    rng = np.random.default_rng(seed)
    known = [load_rule(name) for name in available_rules()]
    found = []
    for rung in suite.rungs.values():
        for name, template in rung.items():
            entry = _variant(f"{name}@{seed}", template, known, suite.board, rng)
            known.append(entry.rule_set)
            found.append(entry)
    return tuple(found)


@lru_cache(maxsize=16)
def named_variants(name: str) -> tuple[RuleEntry, ...] | None:
    """Return the variants that ``SUITE@SEED`` names; None if the name does not have this form."""
    suite, at, seed = name.partition("@")
    if not at or suite not in available_suites():
        return None
    if not (seed.isascii() and seed.isdigit()):
        raise ConfigError(f"{name!r}: expected a seed, a whole number, behind the @")
    return held_out_rules(load_suite(suite), int(seed))


def _variant(
    name: str, template: str, known: list[RuleSet], board: BoardSpec, rng: np.random.Generator
) -> RuleEntry:
    """Draw until a rule is new."""
    for _ in range(_MOST_DRAWS):
        entry = RuleEntry(name, draw_rule(template.strip(), rng=rng).text)
        if _is_new(entry.rule_set, known, board):
            return entry
    raise ConfigError(f"rule {name!r}: its family has no variant that is new")


def _is_new(rule: RuleSet, known: list[RuleSet], board: BoardSpec) -> bool:
    """Return whether each known rule foretells some reply wrongly in a trial of random attempts.

    A rule that differs and yet foretells all counts as known: that errs on the safe side.
    """
    from gohr.experiments.stated_rules import agreement

    log = _random_trial(rule, board)
    return all(agreement(other, log, board_spec=board) < 1.0 for other in known)


def _random_trial(rule: RuleSet, board: BoardSpec) -> TrialLog:
    import numpy as np

    from gohr.learners import Uniform
    from gohr.playing import play

    rng = np.random.default_rng(0)
    player = Uniform(board, rng=rng)
    boards = draw_boards(_N_BOARDS, board, rng=rng)
    return play(boards, player, rule, horizon=_HORIZON, board_spec=board)
