from .datasets import available_datasets as available_datasets
from .datasets import load_scores as load_scores
from .normalization import normalize as normalize
from .readers.registry import Reader as Reader
from .readers.registry import ReadRequest as ReadRequest
from .readers.registry import Source as Source
from .readers.registry import available_readers as available_readers
from .reading import read_scores as read_scores
from .steps import at_common_step as at_common_step
from .steps import on_grid as on_grid
from .table import ScoreTable as ScoreTable
from .writing import write_scores as write_scores

__all__ = [
    "ReadRequest",
    "Reader",
    "ScoreTable",
    "Source",
    "at_common_step",
    "available_datasets",
    "available_readers",
    "load_scores",
    "normalize",
    "on_grid",
    "read_scores",
    "write_scores",
]
