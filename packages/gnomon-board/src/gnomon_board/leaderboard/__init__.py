"""The leaderboard: seasons, submissions, verification by replay, standings.

Submitting
    A :class:`Client` is a leaderboard at an address. :func:`pack_run` makes a manifest and a log of
    a run folder, :class:`Packed`; :func:`submit` sends them, and :func:`wait_for_verdict` returns
    the verdict.
Playing a hidden season
    :func:`play_remotely` lets a learner play all trials of an attempt, by a :class:`RemotePlan`. A
    :class:`Move` gets a :class:`Reply`; a :class:`RemoteGame` is such a trial on the server's side.
Seasons
    A :class:`SeasonPlan` is read from a file, :func:`create_season` puts it on the board and
    :func:`reveal_season` publishes its hidden rules, as a :class:`Reveal`; :func:`commit` computes
    the commitment that was published before it. :func:`generate_rules` draws hidden rules of a
    :class:`Difficulty`; :func:`assignment_of` is what an attempt has to play, from
    its :func:`assigned_seed`.
Serving
    :func:`work_on_one` verifies the submission that waits longest.
Standings
    :func:`board_of` collects the verified trials of a season, :func:`standings_of` ranks them, and
    a :class:`StandingsCache` keeps them; :func:`select_standings` finds what a reader asks for.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
