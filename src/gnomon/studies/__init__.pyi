from .baselines import baseline_curves as baseline_curves
from .plan.study_plan import StudyPlan as StudyPlan
from .play_records import Attempt as Attempt
from .play_records import Game as Game
from .play_records import PlayError as PlayError
from .play_records import PlayView as PlayView
from .play_session import PlaySession as PlaySession
from .transcript import PlayedGame as PlayedGame
from .transcript import play_scores as play_scores
from .transcript import transcript_text as transcript_text

__all__ = [
    "Attempt",
    "Game",
    "PlayError",
    "PlaySession",
    "PlayView",
    "PlayedGame",
    "StudyPlan",
    "baseline_curves",
    "play_scores",
    "transcript_text",
]
