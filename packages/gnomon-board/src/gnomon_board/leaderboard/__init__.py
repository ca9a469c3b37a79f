"""The leaderboard: seasons, submissions, verification by replay, standings.

Submitting
    :func:`pack_run` makes a manifest and a log of a run folder, :func:`submit` sends them, and
    :func:`wait_for_verdict` returns what became of them.
Verifying
    :func:`verify_run` and :func:`verify_log` replay every attempt, on the boards of an
    :class:`Assignment` if one is given. A :class:`Reveal` holds the hidden rules of a season, and
    :func:`commit` computes the commitment that was published before it.
Playing a hidden season
    :class:`RemoteBoard` is a leaderboard at an address; :class:`RemoteEnv` is one of its trials as
    a Gymnasium environment; :func:`play_remotely` lets a learner play all of them, by a
    :class:`RemotePlan`.

Serving one is the business of :mod:`gnomon_board.web`.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
