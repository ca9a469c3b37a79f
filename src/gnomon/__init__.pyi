from . import errors as errors
from . import experiments as experiments
from . import game as game
from . import learners as learners
from . import plot as plot
from . import ranking as ranking
from . import rules as rules
from . import scores as scores
from . import stats as stats
from ._version import __version__ as __version__
from .distill import SubsetModel as SubsetModel
from .distill import distill as distill
from .distill import predict as predict
from .experiments import ExperimentConfig as ExperimentConfig
from .experiments import RunFolder as RunFolder
from .experiments import run as run
from .experiments import score as score
from .game import Board as Board
from .game import BoardSpec as BoardSpec
from .game import HiddenRulesEnv as HiddenRulesEnv
from .game import HiddenRulesVectorEnv as HiddenRulesVectorEnv
from .game import compile_rule as compile_rule
from .game import draw_boards as draw_boards
from .leaderboard.verification.verify_run import verify as verify
from .learners import Learner as Learner
from .learners import available_learners as available_learners
from .learners import make_learner as make_learner
from .learners import play_trial as play_trial
from .ranking import audit as audit
from .ranking import rank as rank
from .report import report as report
from .rules import available_rules as available_rules
from .rules import load_rule as load_rule
from .rules import parse as parse
from .scores import ScoreTable as ScoreTable
from .scores import load_scores as load_scores
from .scores import normalize as normalize
from .scores import read_scores as read_scores
from .stats import compare as compare
from .stats import compare_all as compare_all
from .stats import curves as curves
from .stats import estimate as estimate
from .stats import plan as plan
from .stats import profile as profile

__all__ = [
    "Board",
    "BoardSpec",
    "ExperimentConfig",
    "HiddenRulesEnv",
    "HiddenRulesVectorEnv",
    "Learner",
    "RunFolder",
    "ScoreTable",
    "SubsetModel",
    "__version__",
    "audit",
    "available_learners",
    "available_rules",
    "compare",
    "compare_all",
    "compile_rule",
    "curves",
    "distill",
    "draw_boards",
    "errors",
    "estimate",
    "experiments",
    "game",
    "learners",
    "load_rule",
    "load_scores",
    "make_learner",
    "normalize",
    "parse",
    "plan",
    "play_trial",
    "plot",
    "predict",
    "profile",
    "rank",
    "ranking",
    "read_scores",
    "report",
    "rules",
    "run",
    "score",
    "scores",
    "stats",
    "verify",
]
