"""Which list of rules a new player gets: the one with the fewest players that count.

As in the reference system, a player counts who has finished, or who still plays. One who came,
looked and left takes no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["ACTIVE_S", "PlayerCount", "next_list"]

#: A player who has done nothing for so many seconds, and has not finished, has left.
ACTIVE_S = 3600.0


@dataclass(frozen=True, slots=True)
class PlayerCount:
    """A player of a study, as far as balancing is concerned.

    Parameters
    ----------
    rule_list : str
        Name of the list.
    finished : bool
        Whether all its rules were played, or given up.
    n_attempts : int
        How many attempts there were in all.
    idle_s : float
        Seconds since the last thing the player did.
    """

    rule_list: str
    finished: bool
    n_attempts: int
    idle_s: float

    @property
    def counts(self) -> bool:
        """Whether the player takes a place in the list."""
        return self.idle_s < ACTIVE_S or (self.finished and self.n_attempts > 0)


def next_list(names: Sequence[str], players: Iterable[PlayerCount]) -> str:
    """Return the list for the next player; of several equally short ones the first.

    Parameters
    ----------
    names : sequence of str
        The lists of the plan, in its order; at least one.
    players : iterable of PlayerCount
        Everybody who was given one of them so far.

    Raises
    ------
    ValueError
        If there is no list.

    References
    ----------
    The reference game server, ``web/balancing.html``.

    Examples
    --------
    >>> done = PlayerCount("a", True, 90, 9e9)
    >>> left = PlayerCount("b", False, 3, 9e9)
    >>> next_list(["a", "b"], [done, left]), next_list(["a", "b"], [])
    ('b', 'a')
    """
    if not names:
        raise ValueError("expected at least one list")
    taken = dict.fromkeys(names, 0)
    for player in players:
        if player.rule_list in taken and player.counts:
            taken[player.rule_list] += 1
    return min(names, key=lambda name: taken[name])
