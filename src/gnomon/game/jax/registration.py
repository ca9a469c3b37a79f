"""Environments by the names of their rules, and their registration with gymnax."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from gnomon.game.board import BoardSpec
from gnomon.game.engine.compiler import CompiledRule, compile_rule
from gnomon.game.environments.registration import HORIZON, SAMPLE_RULES
from gnomon.game.jax.environment import HiddenRules
from gnomon.game.jax.episodes import EnvParams
from gnomon.game.jax.rule_tables import CATALOGUE as CATALOGUE
from gnomon.game.jax.rule_tables import Sizes as Sizes
from gnomon.game.jax.rule_tables import to_tables
from gnomon.rules.catalogue import resolve_rule
from gnomon.rules.syntax import RuleSet

Rule: TypeAlias = str | RuleSet | CompiledRule


def make(
    rules: Rule | Sequence[Rule] = "color-match",
    *,
    board: BoardSpec | Mapping[str, Any] | None = None,
    sizes: Sizes | None = None,
    **params: Any,
) -> tuple[HiddenRules, EnvParams]:
    """Make an environment of one hidden rule or of a bank of them.

    Parameters
    ----------
    rules : str, RuleSet, CompiledRule, or a sequence of them
        Names of the catalogue, rule files, or rules. Of several, every board plays one.
    board : BoardSpec or mapping, optional
        How boards are drawn; a mapping gives fields of a :class:`~gnomon.game.BoardSpec`.
    sizes : Sizes, optional
        Room for other rules, so that environments share compiled programs: ``CATALOGUE`` has room
        for all that come with Gnomon.
    **params
        Other fields of :class:`EnvParams`.

    Returns
    -------
    HiddenRules
    EnvParams

    Raises
    ------
    UnknownNameError, RuleSyntaxError
        If a rule cannot be had.
    NotCompilableError, NotTabularError
        If it has no tables; the message says which part.

    Examples
    --------
    >>> env, params = make(["clockwise", "color-match"], rule=1, max_steps_in_episode=50)
    >>> env.n_rules, int(params.rule)
    (2, 1)
    """
    spec = board if isinstance(board, BoardSpec) else BoardSpec(**board or {})
    each = [rules] if isinstance(rules, str | RuleSet | CompiledRule) else list(rules)
    compiled = [_compiled(rule, spec) for rule in each]
    tables, room = to_tables(compiled, sizes)
    numbers = {"rule": -1, "max_steps_in_episode": HORIZON, "episodes_per_rule": 0, **params}
    given = EnvParams(tables, **{name: np.int32(n) for name, n in numbers.items()})
    given = jax.tree.map(jnp.asarray, given)
    return HiddenRules(room, spec, len(compiled), given), given


def _compiled(rule: Rule, spec: BoardSpec) -> CompiledRule:
    if isinstance(rule, CompiledRule):
        return rule
    return compile_rule(rule if isinstance(rule, RuleSet) else resolve_rule(rule), spec)


def register_with_gymnax() -> list[str]:
    """Register the environments with gymnax, under the names that Gymnasium knows.

    A second call changes nothing. gymnax is loaded by this call and no other.

    Returns
    -------
    list of str
        ``"gnomon/HiddenRules-v0"``, and one for each sample rule; ``gymnax.make`` takes the
        arguments of :func:`make`.

    Raises
    ------
    ModuleNotFoundError
        If gymnax is not there, or does not import.
    """
    import gymnax

    names = {
        f"gnomon/{name}-v0": rule
        for name, rule in {"HiddenRules": "color-match", **SAMPLE_RULES}.items()
    }
    for name, rule in names.items():
        if name not in gymnax.registered_envs:
            gymnax.register(name, functools.partial(_made, rule))
    return list(names)


def _made(rule: Rule, rules: Rule | Sequence[Rule] | None = None, **options: Any) -> HiddenRules:
    return make(rule if rules is None else rules, **options)[0]
