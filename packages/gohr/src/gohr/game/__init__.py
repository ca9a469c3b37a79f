"""The game: rules at work on boards.

A :class:`BoardSpec` defines how boards are drawn, :func:`draw_boards` draws them, and a
:class:`Board` holds one :class:`Piece` after another. :func:`compile_rule` turns a rule into the
tables of the engine, a :class:`CompiledRule`, and :class:`Boards` are many boards in play under it;
:class:`ReferenceGame` plays any rule straight from its tree, one attempt at a
time, and shares no code with the engine.

:class:`HiddenRulesEnv` is the game as a Gymnasium environment and :class:`HiddenRulesVectorEnv`
plays many boards in one call; :class:`LastSuccess` and :class:`HistoryStack` determine how
much of the history a learner sees. :func:`find_stalemate` searches for a board on
which a rule gets stuck, :func:`check` reports all problems of a rule text, and
:func:`equivalent` decides whether two rules accept the same attempts.

Inside: :mod:`gohr.game.engine`, the tables and the batched transition. :class:`SeededBoards` draws
the boards of the reference game server.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
