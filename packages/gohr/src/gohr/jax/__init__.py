"""The game in pure JAX: each row of a batch may have another hidden rule.

For learners that are trained in one compiled program, environment included. :func:`make` returns a
:class:`HiddenRules`, with the methods ``reset``, ``step``, ``reset_boards`` and ``step_boards``,
and its :class:`EnvParams`: the tables of one rule or of a bank of rules, of which every board plays
one, given by a number, so that one compiled step works for any batch of boards and rules.
:class:`Observation` is what a player sees.

Trials and records are played by the engine (:mod:`gohr.engine`); tests compare this game with it
attempt by attempt. It needs the extra ``jax``.
"""

from importlib.util import find_spec

import lazy_loader

if find_spec("jax") is None:
    raise ModuleNotFoundError(
        "gohr.jax: expected JAX, which is not installed; pip install 'gohr[jax]'",
        name="jax",
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
