"""The command ``gnomon``, and what the commands ``gohr`` and ``gnomon-board`` share with it.

A :class:`Command` runs verbs. A verb prints through :func:`answering`, which gives an
:class:`Answer`: a table for people, or one JSON object with :data:`JsonOption`; :func:`bar_of`
shows its progress and :func:`message` prints a line on standard error. Several verbs share the
options :class:`ShowOptions`, :data:`Level` and :data:`Seed`: :func:`with_groups` spreads a group
over a verb, and :func:`show_scores` prints or writes a table of scores.
"""

from __future__ import annotations

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
