from . import atari as atari
from .distillation import distill as distill
from .distillation import sizes as sizes
from .distilled import Distillation as Distillation
from .distilled import Distilled as Distilled
from .evaluation import ExplainedTasks as ExplainedTasks
from .evaluation import explained as explained
from .forecasts.forecast import Forecast as Forecast
from .forecasts.moments import Moments as Moments
from .forecasts.pairs import SubsetComparison as SubsetComparison
from .forecasts.pairs import compare_forecasts as compare_forecasts
from .forecasts.prediction import Predictions as Predictions
from .forecasts.prediction import SubsetComparisons as SubsetComparisons
from .forecasts.prediction import predict as predict
from .models import SubsetModel as SubsetModel
from .models import SummaryEstimate as SummaryEstimate
from .next_task import NextSteps as NextSteps
from .next_task import next_steps as next_steps
from .preparation.preparation import Preparation as Preparation
from .preparation.preparation import prepare as prepare
from .preparation.prepared import PreparedScores as PreparedScores
from .preparation.prepared import Transform as Transform
from .preparation.prepared import transform_of as transform_of
from .procedures.factor import FactorProcedure as FactorProcedure
from .procedures.least_squares import PaperProcedure as PaperProcedure
from .procedures.least_squares import fit_least_squares as fit_least_squares
from .procedures.procedure import Procedure as Procedure
from .procedures.registry import PROCEDURES as PROCEDURES
from .procedures.registry import procedure_of as procedure_of
from .search.folds import Folds as Folds
from .search.search import search_subsets as search_subsets
from .selection import Committee as Committee
from .selection import Stability as Stability
from .selection import stability as stability
from .structure import Edge as Edge
from .structure import correlation_matrix as correlation_matrix
from .structure import correlations as correlations
from .structure import single as single
from .validation.cross_validation import HeldOut as HeldOut
from .validation.cross_validation import cross_validate as cross_validate
from .validation.cross_validation import nested_error as nested_error
from .validation.order import order_agreement as order_agreement
from .validation.other_methods import Baselines as Baselines
from .validation.other_methods import baselines as baselines

__all__ = [
    "PROCEDURES",
    "Baselines",
    "Committee",
    "Distillation",
    "Distilled",
    "Edge",
    "ExplainedTasks",
    "FactorProcedure",
    "Folds",
    "Forecast",
    "HeldOut",
    "Moments",
    "NextSteps",
    "PaperProcedure",
    "Predictions",
    "Preparation",
    "PreparedScores",
    "Procedure",
    "Stability",
    "SubsetComparison",
    "SubsetComparisons",
    "SubsetModel",
    "SummaryEstimate",
    "Transform",
    "atari",
    "baselines",
    "compare_forecasts",
    "correlation_matrix",
    "correlations",
    "cross_validate",
    "distill",
    "explained",
    "fit_least_squares",
    "nested_error",
    "next_steps",
    "order_agreement",
    "predict",
    "prepare",
    "procedure_of",
    "search_subsets",
    "single",
    "sizes",
    "stability",
    "transform_of",
]
