from .audits import audit as audit
from .critical_differences import critical_difference as critical_difference
from .kemeny import kemeny_order as kemeny_order
from .ranks import Ranking as Ranking
from .ranks import rank as rank
from .ranks import tiers as tiers

__all__ = [
    "Ranking",
    "audit",
    "critical_difference",
    "kemeny_order",
    "rank",
    "tiers",
]
