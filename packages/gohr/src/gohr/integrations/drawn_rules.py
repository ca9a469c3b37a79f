"""Rules to train and evaluate on, drawn from the families of the ladder; none is in both.

A rule belongs to the training or the evaluation split by a hash of its meaning, regardless of the
seed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from gnomon.errors import GnomonError, UnknownNameError
from gohr.experiments.config.config_entries import RuleEntry, content_hash
from gohr.experiments.config.suites import load_suite
from gohr.rules.templates import draw_rule

Split: TypeAlias = Literal["train", "eval"]
#: One rule in five is for evaluation.
_FOLDS = 5
#: A small family may have no rule in a split: after this number of draws the next family is tried.
_MOST_DRAWS = 200
_LIST = re.compile(r"\[([^\[\]]*)\]")
_ATOM = re.compile(r"\([^()]*\)")


def rungs_of(
    rungs: Sequence[str] = (), *, suite: str = "gohr-induction"
) -> list[tuple[str, str, str]]:
    """Return rung, family and template of the families of some rungs, the easiest rung first.

    Examples
    --------
    >>> [family for _, family, _ in rungs_of(["exception"])]
    ['color-odd-one-out', 'stars-last', 'red-and-star']
    """
    known = load_suite(suite).rungs
    for rung in rungs:
        if rung not in known:
            raise UnknownNameError("rung", rung, known)
    chosen = [rung for rung in known if not rungs or rung in rungs]
    return [(rung, family, text.strip()) for rung in chosen for family, text in known[rung].items()]


def drawn_rule(
    number: int,
    *,
    seed: int,
    split: Split = "train",
    rungs: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> tuple[str, RuleEntry]:
    """Return the rung and the rule of a number: families take turns, and each draws at random.

    Parameters
    ----------
    number, seed : int
        The same ones give the same rule.
    split : {"train", "eval"}
        No rule is in both.
    rungs : sequence of str
        Difficulty; all rungs by default.
    leave_out : sequence of str
        Families that are not drawn, so that another set of tasks can have them alone.

    Examples
    --------
    >>> rung, rule = drawn_rule(0, seed=1)
    >>> rung, rule.name
    ('feature', 'color-match#0')
    """
    families = [one for one in rungs_of(rungs) if one[1] not in leave_out]
    for k in range(len(families)):
        rung, family, template = families[(number + k) % len(families)]
        rng = np.random.default_rng([seed, number])
        for _ in range(_MOST_DRAWS):
            rule = RuleEntry(f"{family}#{number}", draw_rule(template, rng=rng).text)
            if is_of(split, rule):
                return rung, rule
    raise GnomonError(f"expected families with rules for {split!r}, found none")


def is_of(split: Split, rule: RuleEntry) -> bool:
    """Return whether a rule is in a half; the order of a list, or of atoms, is nothing.

    Examples
    --------
    >>> rule = RuleEntry("mine", "(*,*,*,*,[0,1])")
    >>> is_of("train", rule), is_of("eval", rule)
    (True, False)
    """
    text = _LIST.sub(lambda found: f"[{','.join(sorted(found[1].split(',')))}]", rule.text)
    lines = [sorted(_ATOM.findall(line.replace(" ", ""))) for line in text.splitlines()]
    return (int(content_hash(lines)[:8], 16) % _FOLDS == 0) == (split == "eval")
