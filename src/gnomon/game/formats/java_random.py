"""The random numbers of Java, so that a seed gives the boards of the reference game server."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["JavaRandom"]

T = TypeVar("T")

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1


class JavaRandom:
    """The generator ``java.util.Random``: linear congruential, 48 bits of state.

    It serves to repeat recorded games, and nothing else: its low bits are poor. Environments and
    experiments draw from NumPy's generators.

    Of a seed the lowest 48 bits count.

    References
    ----------
    The class documentation of ``java.util.Random`` defines every bit. The multiplier and the
    increment are those of the POSIX ``drand48``.

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.next_int(100) for _ in range(5)]
    [30, 63, 48, 84, 70]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def next_int(self, bound: int) -> int:
        """Return a number from 0 to below `bound`, each equally likely.

        Raises ValueError: `bound` is outside that range.
        """
        if not 0 < bound < 1 << 31:
            raise ValueError(f"expected a bound from 1 to 2147483647, found {bound}")
        if bound & (bound - 1) == 0:
            # For a power of two the high bits are taken, which are the good ones.
            return (bound * self._next_bits()) >> 31
        while True:
            bits = self._next_bits()
            value = bits % bound
            # Refuse the incomplete last block of numbers, which would favour small values.
            if bits - value + bound - 1 < 1 << 31:
                return value

    def sample(self, items: list[T], n: int) -> list[T]:
        """Return `n` of the items, drawn one by one without replacement, in the order drawn."""
        left = list(items)
        return [left.pop(self.next_int(len(left))) for _ in range(n)]

    def _next_bits(self) -> int:
        """Return 31 random bits."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17
