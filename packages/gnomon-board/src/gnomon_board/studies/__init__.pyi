from .export import games_of as games_of
from .export import write_study as write_study
from .export import write_study_run as write_study_run
from .languages import available_languages as available_languages
from .languages import texts as texts
from .plan import StudyPlan as StudyPlan
from .plan import read_plan as read_plan
from .plan_check import CheckedPlan as CheckedPlan
from .plan_check import check_plan as check_plan
from .play import find_game as find_game
from .play import puzzles as puzzles
from .store import make_study as make_study
from .store import personal_links as personal_links
from .store import study_named as study_named

__all__ = [
    "CheckedPlan",
    "StudyPlan",
    "available_languages",
    "check_plan",
    "find_game",
    "games_of",
    "make_study",
    "personal_links",
    "puzzles",
    "read_plan",
    "study_named",
    "texts",
    "write_study",
    "write_study_run",
]
