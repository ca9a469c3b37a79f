from . import atari as atari
from .distilled import Distillation as Distillation
from .distilled import Distilled as Distilled
from .distilled import distill as distill
from .models import SubsetModel as SubsetModel
from .prediction import PairPredictions as PairPredictions
from .prediction import Predictions as Predictions
from .prediction import predict as predict
from .preparation import PreparedScores as PreparedScores
from .preparation import prepare as prepare
from .procedures import FactorProcedure as FactorProcedure
from .procedures import PaperProcedure as PaperProcedure
from .procedures import Procedure as Procedure
from .procedures import fit_least_squares as fit_least_squares
from .search import folds_of as folds_of
from .search import search_subsets as search_subsets
from .suite import baselines as baselines
from .suite import sizes as sizes
from .transforms import transform_of as transform_of
from .validation import HeldOut as HeldOut
from .validation import cross_validate as cross_validate
from .validation import nested_error as nested_error

__all__ = [
    "Distillation",
    "Distilled",
    "FactorProcedure",
    "HeldOut",
    "PairPredictions",
    "PaperProcedure",
    "Predictions",
    "PreparedScores",
    "Procedure",
    "SubsetModel",
    "atari",
    "baselines",
    "cross_validate",
    "distill",
    "fit_least_squares",
    "folds_of",
    "nested_error",
    "predict",
    "prepare",
    "search_subsets",
    "sizes",
    "transform_of",
]
