from . import atari as atari
from .distilled import distill as distill
from .models import SubsetModel as SubsetModel
from .prediction import predict as predict
from .preparation import prepare as prepare
from .procedures import FactorProcedure as FactorProcedure
from .procedures import PaperProcedure as PaperProcedure
from .search import search_subsets as search_subsets
from .suite import baselines as baselines
from .validation import cross_validate as cross_validate
from .validation import nested_error as nested_error

__all__ = [
    "FactorProcedure",
    "PaperProcedure",
    "SubsetModel",
    "atari",
    "baselines",
    "cross_validate",
    "distill",
    "nested_error",
    "predict",
    "prepare",
    "search_subsets",
]
