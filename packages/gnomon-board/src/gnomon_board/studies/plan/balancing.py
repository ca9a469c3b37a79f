"""Assignment of players to lists: the list with the fewest players that count.

A player counts who has finished, or who still plays. One who came, looked and left takes no place;
who was excluded takes none, either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

#: A player who has done nothing for so many seconds, and has not finished, has left.
ACTIVE_S = 3600.0


@dataclass(frozen=True, slots=True)
class PlayerCount:
    """A player of a study, as far as balancing is concerned.

    ``finished``: all rules of the list were played, or given up. ``idle_s`` are seconds since the
    last thing the player did.
    """

    rule_list: str
    finished: bool
    n_attempts: int
    idle_s: float
    excluded: bool = False

    @property
    def counts(self) -> bool:
        """Whether the player takes a place in the list."""
        if self.excluded:
            return False
        return self.idle_s < ACTIVE_S or (self.finished and self.n_attempts > 0)


def next_list(
    names: Sequence[str],
    players: Iterable[PlayerCount],
    already: Mapping[str, int] | None = None,
    *,
    rng: np.random.Generator,
) -> str:
    """Return the list for the next player: the one that lacks most; of several, one at random.

    With C players who finished, R who are active, and D players to be dealt beyond the others
    (negative: fewer), it is the list with the least E = C + R - D.

    Parameters
    ----------
    names : sequence of str
        The lists, at least one.
    players : iterable of PlayerCount
        All players so far; who is on no list of these is passed over.
    already : mapping from str to int, optional
        D of each list, 0 if left out.
    rng : numpy.random.Generator
        Decides between equal lists.

    Raises
    ------
    ValueError
        There is no list.

    References
    ----------
    The reference game server, whose R are those who registered within the last hour; here, those
    who did something within it: fewer places are held by people who have gone.

    Examples
    --------
    >>> players = [PlayerCount("a", True, 9, 9999.0)] * 9 + [PlayerCount("a", False, 9, 1.0)]
    >>> players += [PlayerCount("b", True, 9, 9999.0)] * 7
    >>> players += [PlayerCount("c", True, 9, 9999.0)] * 4 + [PlayerCount("c", False, 1, 1.0)] * 3
    >>> next_list("abc", players, {"a": 2, "c": -1}, rng=np.random.default_rng(0))
    'b'
    """
    if not names:
        raise ValueError("expected at least one list")
    expected = {name: -(already or {}).get(name, 0) for name in names}
    for player in players:
        if player.rule_list in expected and player.counts:
            expected[player.rule_list] += 1
    least = min(expected.values())
    return str(rng.choice([name for name in names if expected[name] == least]))
