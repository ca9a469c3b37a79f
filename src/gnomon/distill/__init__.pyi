from . import atari as atari
from .comparison import Reliability as Reliability
from .comparison import SubsetComparisons as SubsetComparisons
from .comparison import compare as compare
from .comparison import reliability as reliability
from .distillation import distill as distill
from .distillation import sizes as sizes
from .distilled import Distillation as Distillation
from .distilled import Distilled as Distilled
from .evaluation import ExplainedTasks as ExplainedTasks
from .evaluation import explained as explained
from .evaluation import fairness as fairness
from .forecasts.forecast import Forecast as Forecast
from .forecasts.pairs import SubsetComparison as SubsetComparison
from .forecasts.prediction import predict as predict
from .items.choice import ItemChoice as ItemChoice
from .items.choice import choose_items as choose_items
from .items.choice import next_items as next_items
from .items.held_out import Scales as Scales
from .items.item_sizes import ItemSizes as ItemSizes
from .items.item_sizes import item_sizes as item_sizes
from .items.item_suite import ItemForecast as ItemForecast
from .items.item_suite import ItemSuite as ItemSuite
from .items.item_suite import NextItems as NextItems
from .items.response_model import ItemModel as ItemModel
from .items.response_model import fit_items as fit_items
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
from .search.pareto import pareto as pareto
from .search.proof import optimal as optimal
from .search.search import search_subsets as search_subsets
from .selection import Committee as Committee
from .selection import Stability as Stability
from .selection import stability as stability
from .structure import Components as Components
from .structure import components as components
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
    "Components",
    "Distillation",
    "Distilled",
    "ExplainedTasks",
    "FactorProcedure",
    "Folds",
    "Forecast",
    "HeldOut",
    "ItemChoice",
    "ItemForecast",
    "ItemModel",
    "ItemSizes",
    "ItemSuite",
    "NextItems",
    "NextSteps",
    "PaperProcedure",
    "Preparation",
    "PreparedScores",
    "Procedure",
    "Reliability",
    "Scales",
    "Stability",
    "SubsetComparison",
    "SubsetComparisons",
    "SubsetModel",
    "SummaryEstimate",
    "Transform",
    "atari",
    "baselines",
    "choose_items",
    "compare",
    "components",
    "correlation_matrix",
    "correlations",
    "cross_validate",
    "distill",
    "explained",
    "fairness",
    "fit_items",
    "fit_least_squares",
    "item_sizes",
    "nested_error",
    "next_items",
    "next_steps",
    "optimal",
    "order_agreement",
    "pareto",
    "predict",
    "prepare",
    "procedure_of",
    "reliability",
    "search_subsets",
    "single",
    "sizes",
    "stability",
    "transform_of",
]
