from .anchors import atari_baselines as atari_baselines
from .checks import own_scales as own_scales
from .checks import suspicions as suspicions
from .checks import wild_scores as wild_scores
from .columns import FloatArray as FloatArray
from .datasets import available_datasets as available_datasets
from .datasets import load_scores as load_scores
from .datasets import measured_provenance as measured_provenance
from .items import ItemScores as ItemScores
from .normalization import NORMALIZATIONS as NORMALIZATIONS
from .normalization import Normalization as Normalization
from .normalization import normalize as normalize
from .normalization import with_left_out as with_left_out
from .readers.registry import Reader as Reader
from .readers.registry import ReadRequest as ReadRequest
from .readers.registry import Source as Source
from .readers.registry import available_readers as available_readers
from .readers.summaries import SummaryTable as SummaryTable
from .readers.summaries import read_summaries as read_summaries
from .readers.tables import write_scores as write_scores
from .reading import read_scores as read_scores
from .reading import table_of as table_of
from .steps import at_common_step as at_common_step
from .steps import on_grid as on_grid
from .table import ScoreTable as ScoreTable

__all__ = [
    "NORMALIZATIONS",
    "FloatArray",
    "ItemScores",
    "Normalization",
    "ReadRequest",
    "Reader",
    "ScoreTable",
    "Source",
    "SummaryTable",
    "at_common_step",
    "atari_baselines",
    "available_datasets",
    "available_readers",
    "load_scores",
    "measured_provenance",
    "normalize",
    "on_grid",
    "own_scales",
    "read_scores",
    "read_summaries",
    "suspicions",
    "table_of",
    "wild_scores",
    "with_left_out",
    "write_scores",
]
