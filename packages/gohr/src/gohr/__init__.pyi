from . import errors as errors
from . import experiments as experiments
from . import induction as induction
from . import learners as learners
from . import people as people
from . import rules as rules
from ._version import __version__ as __version__
from .board import N_BUCKETS as N_BUCKETS
from .board import N_CELLS as N_CELLS
from .board import Board as Board
from .board import BoardSpec as BoardSpec
from .board import Piece as Piece
from .board import draw_boards as draw_boards
from .board import read_board_file as read_board_file
from .engine.compiler import compile_rule as compile_rule
from .env import HiddenRulesEnv as HiddenRulesEnv
from .equivalence import equivalent as equivalent
from .experiments import ExperimentConfig as ExperimentConfig
from .experiments import Run as Run
from .experiments import elements as elements
from .experiments import run as run
from .experiments import score as score
from .experiments import verify as verify
from .learners import Learner as Learner
from .learners import available_learners as available_learners
from .learners import make_learner as make_learner
from .playing import TrialLog as TrialLog
from .playing import play as play
from .reference import ReferenceGame as ReferenceGame
from .rule_check import check as check
from .rules import RuleSet as RuleSet
from .rules import available_rules as available_rules
from .rules import draw_rules as draw_rules
from .rules import explain as explain
from .rules import load_rule as load_rule
from .rules import parse as parse
from .run_page import report as report
from .stalemate import find_stalemate as find_stalemate
from .stalemate import random_way as random_way
from .vector_env import HiddenRulesVectorEnv as HiddenRulesVectorEnv
from .wrappers import HistoryStack as HistoryStack
from .wrappers import LastSuccess as LastSuccess

__all__ = [
    "N_BUCKETS",
    "N_CELLS",
    "Board",
    "BoardSpec",
    "ExperimentConfig",
    "HiddenRulesEnv",
    "HiddenRulesVectorEnv",
    "HistoryStack",
    "LastSuccess",
    "Learner",
    "Piece",
    "ReferenceGame",
    "RuleSet",
    "Run",
    "TrialLog",
    "__version__",
    "available_learners",
    "available_rules",
    "check",
    "compile_rule",
    "draw_boards",
    "draw_rules",
    "elements",
    "equivalent",
    "errors",
    "experiments",
    "explain",
    "find_stalemate",
    "induction",
    "learners",
    "load_rule",
    "make_learner",
    "parse",
    "people",
    "play",
    "random_way",
    "read_board_file",
    "report",
    "rules",
    "run",
    "score",
    "verify",
]
