from . import errors as errors
from . import experiments as experiments
from . import game as game
from . import induction as induction
from . import learners as learners
from . import people as people
from . import rules as rules
from ._version import __version__ as __version__
from .experiments import ExperimentConfig as ExperimentConfig
from .experiments import Run as Run
from .experiments import elements as elements
from .experiments import run as run
from .experiments import score as score
from .experiments import verify as verify
from .game import Board as Board
from .game import BoardSpec as BoardSpec
from .game import HiddenRulesEnv as HiddenRulesEnv
from .game import HiddenRulesVectorEnv as HiddenRulesVectorEnv
from .game import check as check
from .game import compile_rule as compile_rule
from .game import draw_boards as draw_boards
from .game import equivalent as equivalent
from .learners import Learner as Learner
from .learners import available_learners as available_learners
from .learners import make_learner as make_learner
from .playing import TrialLog as TrialLog
from .playing import play as play
from .rules import RuleSet as RuleSet
from .rules import available_rules as available_rules
from .rules import draw_rules as draw_rules
from .rules import explain as explain
from .rules import load_rule as load_rule
from .rules import parse as parse
from .run_page import report as report

__all__ = [
    "Board",
    "BoardSpec",
    "ExperimentConfig",
    "HiddenRulesEnv",
    "HiddenRulesVectorEnv",
    "Learner",
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
    "game",
    "induction",
    "learners",
    "load_rule",
    "make_learner",
    "parse",
    "people",
    "play",
    "report",
    "rules",
    "run",
    "score",
    "verify",
]
