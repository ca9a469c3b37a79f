from .facts import GENRES as GENRES
from .facts import NAMED_SUBSETS as NAMED_SUBSETS
from .facts import atari_preparation as atari_preparation
from .facts import game_models as game_models
from .facts import game_of as game_of
from .facts import measured_errors as measured_errors
from .facts import paper_scores as paper_scores
from .facts import published_constants as published_constants
from .facts import published_models as published_models
from .facts import published_table as published_table

__all__ = [
    "GENRES",
    "NAMED_SUBSETS",
    "atari_preparation",
    "game_models",
    "game_of",
    "measured_errors",
    "paper_scores",
    "published_constants",
    "published_models",
    "published_table",
]
