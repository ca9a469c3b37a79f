from .agent_scores import AtariScores as AtariScores
from .agent_scores import CaseStudy as CaseStudy
from .agent_scores import case_study as case_study
from .agent_scores import games as games
from .agent_scores import score as score
from .facts import GENRES as GENRES
from .facts import NAMED_SUBSETS as NAMED_SUBSETS
from .facts import atari_preparation as atari_preparation
from .facts import game_models as game_models
from .facts import game_of as game_of
from .facts import human_normalized as human_normalized
from .facts import models as models
from .facts import published_constants as published_constants
from .facts import published_models as published_models
from .facts import published_table as published_table
from .paper import paper_scores as paper_scores
from .paper import subsets as subsets
from .reproduction import Reproduction as Reproduction
from .reproduction import reproduce as reproduce
from .run_costs import RunCosts as RunCosts
from .run_costs import cost as cost

__all__ = [
    "GENRES",
    "NAMED_SUBSETS",
    "AtariScores",
    "CaseStudy",
    "Reproduction",
    "RunCosts",
    "atari_preparation",
    "case_study",
    "cost",
    "game_models",
    "game_of",
    "games",
    "human_normalized",
    "models",
    "paper_scores",
    "published_constants",
    "published_models",
    "published_table",
    "reproduce",
    "score",
    "subsets",
]
