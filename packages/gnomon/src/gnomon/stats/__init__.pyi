from .comparison import Comparison as Comparison
from .comparison import Comparisons as Comparisons
from .comparison import compare as compare
from .estimates import Estimate as Estimate
from .estimates import Estimates as Estimates
from .estimates import estimate as estimate
from .gates import Gate as Gate
from .gates import GateClaim as GateClaim
from .gates import gate as gate
from .learning_curves import Curves as Curves
from .learning_curves import curves as curves
from .learning_curves import summarize_runs as summarize_runs
from .loops import Loop as Loop
from .loops import LoopDecision as LoopDecision
from .loops import LoopDecisions as LoopDecisions
from .medians import median_interval as median_interval
from .metrics import METRICS as METRICS
from .metrics import Metric as Metric
from .metrics import metric_named as metric_named
from .planning import Plan as Plan
from .planning import plan as plan
from .profiles import Profiles as Profiles
from .profiles import profile as profile
from .proportions import mcnemar as mcnemar
from .proportions import tango as tango
from .proportions import wilson as wilson
from .rank_tests import holm as holm
from .rank_tests import mann_whitney as mann_whitney
from .strata import Strata as Strata

__all__ = [
    "METRICS",
    "Comparison",
    "Comparisons",
    "Curves",
    "Estimate",
    "Estimates",
    "Gate",
    "GateClaim",
    "Loop",
    "LoopDecision",
    "LoopDecisions",
    "Metric",
    "Plan",
    "Profiles",
    "Strata",
    "compare",
    "curves",
    "estimate",
    "gate",
    "holm",
    "mann_whitney",
    "mcnemar",
    "median_interval",
    "metric_named",
    "plan",
    "profile",
    "summarize_runs",
    "tango",
    "wilson",
]
