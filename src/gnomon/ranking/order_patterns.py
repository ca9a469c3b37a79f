"""What holds of any three and of any six in an order.

A pattern says of each two of them whether it counts that the first stands before the second (1) or
behind it (-1). A pair that does counts 1/2, one that does not -1/2, and no order gets more than the
bound. Solutions with fractions do: so these bounds cut them off.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from gnomon.scores.table import FloatArray

__all__ = ["CIRCLE", "PATTERNS", "Pattern", "largest_sum"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Signs of all pairs, and the most that an order gets.

    Parameters
    ----------
    signs : ndarray of float, shape (3, 3) or (6, 6)
        Antisymmetric.
    bound : float
    """

    signs: FloatArray
    bound: float = 2.5


def _antisymmetric(above: list[list[int]]) -> FloatArray:
    """Return a matrix from its rows above the diagonal."""
    n = len(above) + 1
    signs = np.zeros((n, n))
    signs[np.triu_indices(n, 1)] = [sign for row in above for sign in row]
    return signs - signs.T


def largest_sum(signs: FloatArray) -> float:
    """Return the most that any order gets, by trying all of them.

    Examples
    --------
    >>> largest_sum(PATTERNS[0].signs) == PATTERNS[0].bound
    True
    """
    orders = permutations(range(len(signs)))
    return max(float(np.triu(signs[np.ix_(o, o)]).sum()) / 2.0 for o in orders)


#: Of three, at most two stand before the next one around.
CIRCLE = Pattern(_antisymmetric([[1, -1], [1]]), bound=0.5)
#: The 3-fence, and Moebius ladders on six; the tests prove each of them a facet (Groetschel,
#: Juenger and Reinelt 1985, Facets of the linear ordering polytope, Mathematical Programming 33).
PATTERNS = (
    Pattern(_antisymmetric([[0, 0, 1, -1, -1], [0, -1, 1, -1], [-1, -1, 1], [0, 0], [0]])),
    Pattern(_antisymmetric([[-1, 1, 1, -1, 0], [0, 0, 1, -1], [0, 1, -1], [1, 1], [1]])),
    Pattern(_antisymmetric([[0, 1, 0, -1, 1], [-1, 0, -1, 1], [-1, 1, 0], [-1, -1], [-1]])),
    Pattern(_antisymmetric([[1, -1, 1, 0, 0], [1, 0, -1, 1], [-1, 1, 1], [1, -1], [0]])),
)
