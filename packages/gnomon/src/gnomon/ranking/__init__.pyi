from .audits import Audit as Audit
from .audits import audit as audit
from .critical_differences import CriticalDifference as CriticalDifference
from .critical_differences import MeanRank as MeanRank
from .critical_differences import critical_difference as critical_difference
from .item_audit import Statement as Statement
from .kemeny import disagreement as disagreement
from .kemeny import kemeny_order as kemeny_order
from .ranks import METHODS as METHODS
from .ranks import Ranked as Ranked
from .ranks import Ranking as Ranking
from .ranks import rank as rank
from .ranks import rank_intervals as rank_intervals
from .ranks import tiers as tiers
from .ratings import BradleyTerry as BradleyTerry
from .ratings import bradley_terry as bradley_terry
from .ratings import ease_ratios as ease_ratios
from .ratings import perron_vector as perron_vector

__all__ = [
    "METHODS",
    "Audit",
    "BradleyTerry",
    "CriticalDifference",
    "MeanRank",
    "Ranked",
    "Ranking",
    "Statement",
    "audit",
    "bradley_terry",
    "critical_difference",
    "disagreement",
    "ease_ratios",
    "kemeny_order",
    "perron_vector",
    "rank",
    "rank_intervals",
    "tiers",
]
