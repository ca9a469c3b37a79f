from .audits.audit_table import Audit as Audit
from .audits.audit_table import audit as audit
from .audits.audit_table import scaled_by_task as scaled_by_task
from .audits.intransitivity import Intransitivity as Intransitivity
from .audits.intransitivity import Triangle as Triangle
from .audits.intransitivity import measure_intransitivity as measure_intransitivity
from .audits.intransitivity import n_cycles as n_cycles
from .audits.intransitivity import worst_triangles as worst_triangles
from .audits.item_audit import ItemAudit as ItemAudit
from .audits.statements import Statement as Statement
from .contest import Contest as Contest
from .critical_differences import CriticalDifference as CriticalDifference
from .critical_differences import MeanRank as MeanRank
from .critical_differences import critical_difference as critical_difference
from .critical_differences import wilcoxon_p_value as wilcoxon_p_value
from .kemeny.kemeny_order import KemenyOrder as KemenyOrder
from .kemeny.kemeny_order import disagreement as disagreement
from .kemeny.kemeny_order import kemeny_order as kemeny_order
from .pair_tests import PairComparison as PairComparison
from .pair_tests import PairComparisons as PairComparisons
from .pair_tests import compare_pairs as compare_pairs
from .rank_shares import RankDistribution as RankDistribution
from .rank_shares import RankShares as RankShares
from .rank_shares import rank_distribution as rank_distribution
from .ranks.rank_intervals import rank as rank
from .ranks.ranking import Ranked as Ranked
from .ranks.ranking import Ranking as Ranking
from .ranks.ranking import Separation as Separation
from .ranks.ranking import separation as separation
from .ranks.tie_groups import tie_groups as tie_groups
from .ratings.game_theory import AlphaRank as AlphaRank
from .ratings.game_theory import alpha_rank as alpha_rank
from .ratings.game_theory import max_entropy_equilibrium as max_entropy_equilibrium
from .ratings.game_theory import nash_averaging as nash_averaging
from .ratings.game_theory import stationary_distribution as stationary_distribution
from .ratings.hodge import HodgeDecomposition as HodgeDecomposition
from .ratings.hodge import expected_intransitivity as expected_intransitivity
from .ratings.hodge import hodge_decomposition as hodge_decomposition
from .ratings.hodge import hodge_ratings as hodge_ratings
from .ratings.hodge import intransitivity as intransitivity
from .ratings.hodge import trait_correlation as trait_correlation
from .ratings.method_orders import MethodOrder as MethodOrder
from .ratings.method_orders import MethodOrders as MethodOrders
from .ratings.method_orders import MethodRating as MethodRating
from .ratings.method_orders import PoolEffect as PoolEffect
from .ratings.method_orders import orders_by_method as orders_by_method
from .ratings.method_orders import pool_effects as pool_effects
from .ratings.methods import METHODS as METHODS
from .ratings.methods import Method as Method
from .ratings.methods import method_named as method_named
from .ratings.pooled import BradleyTerry as BradleyTerry
from .ratings.pooled import borda as borda
from .ratings.pooled import bradley_terry as bradley_terry
from .ratings.pooled import copeland as copeland
from .ratings.pooled import difficulty as difficulty
from .ratings.pooled import elo as elo
from .ratings.pooled import elo_games as elo_games
from .ratings.pooled import mean_rank as mean_rank
from .ratings.pooled import perron_vector as perron_vector
from .ratings.pooled import task_ranks as task_ranks
from .ratings.pooled import transfer as transfer
from .reference_tables import write_ranking_tables as write_ranking_tables
from .task_difficulty import DifficultyClass as DifficultyClass
from .task_difficulty import DifficultyClasses as DifficultyClasses
from .task_difficulty import Generality as Generality
from .task_difficulty import GeneralityTable as GeneralityTable
from .task_difficulty import difficulty_classes as difficulty_classes
from .task_difficulty import generality as generality
from .task_mastery import TaskMasteries as TaskMasteries
from .task_mastery import TaskMastery as TaskMastery
from .task_mastery import TaskPair as TaskPair
from .task_mastery import TaskSample as TaskSample
from .task_mastery import mastery as mastery
from .tournament import Tournament as Tournament

__all__ = [
    "METHODS",
    "AlphaRank",
    "Audit",
    "BradleyTerry",
    "Contest",
    "CriticalDifference",
    "DifficultyClass",
    "DifficultyClasses",
    "Generality",
    "GeneralityTable",
    "HodgeDecomposition",
    "Intransitivity",
    "ItemAudit",
    "KemenyOrder",
    "MeanRank",
    "Method",
    "MethodOrder",
    "MethodOrders",
    "MethodRating",
    "PairComparison",
    "PairComparisons",
    "PoolEffect",
    "RankDistribution",
    "RankShares",
    "Ranked",
    "Ranking",
    "Separation",
    "Statement",
    "TaskMasteries",
    "TaskMastery",
    "TaskPair",
    "TaskSample",
    "Tournament",
    "Triangle",
    "alpha_rank",
    "audit",
    "borda",
    "bradley_terry",
    "compare_pairs",
    "copeland",
    "critical_difference",
    "difficulty",
    "difficulty_classes",
    "disagreement",
    "elo",
    "elo_games",
    "expected_intransitivity",
    "generality",
    "hodge_decomposition",
    "hodge_ratings",
    "intransitivity",
    "kemeny_order",
    "mastery",
    "max_entropy_equilibrium",
    "mean_rank",
    "measure_intransitivity",
    "method_named",
    "n_cycles",
    "nash_averaging",
    "orders_by_method",
    "perron_vector",
    "pool_effects",
    "rank",
    "rank_distribution",
    "scaled_by_task",
    "separation",
    "stationary_distribution",
    "task_ranks",
    "tie_groups",
    "trait_correlation",
    "transfer",
    "wilcoxon_p_value",
    "worst_triangles",
    "write_ranking_tables",
]
