from . import errors as errors
from . import plot as plot
from . import ranking as ranking
from . import scores as scores
from . import stats as stats
from ._version import __version__ as __version__
from .distillation import SubsetModel as SubsetModel
from .distillation import distill as distill
from .distillation import predict as predict
from .ranking import audit as audit
from .ranking import rank as rank
from .reports import report as report
from .scores import ScoreTable as ScoreTable
from .scores import load_scores as load_scores
from .scores import normalize as normalize
from .scores import read_scores as read_scores
from .stats import compare as compare
from .stats import curves as curves
from .stats import estimate as estimate
from .stats import gate as gate
from .stats import plan as plan
from .stats import profile as profile

__all__ = [
    "ScoreTable",
    "SubsetModel",
    "__version__",
    "audit",
    "compare",
    "curves",
    "distill",
    "errors",
    "estimate",
    "gate",
    "load_scores",
    "normalize",
    "plan",
    "plot",
    "predict",
    "profile",
    "rank",
    "ranking",
    "read_scores",
    "report",
    "scores",
    "stats",
]
