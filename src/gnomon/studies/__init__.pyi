from .export.transcript import PlayedGame as PlayedGame
from .export.transcript import transcript_text as transcript_text
from .plan.series_plan import SeriesPlan as SeriesPlan
from .plan.series_plan import SeriesTerms as SeriesTerms
from .plan.study_plan import StudyPlan as StudyPlan
from .plan.study_plan import read_plan as read_plan
from .plan_check import CheckedPlan as CheckedPlan
from .plan_check import check_plan as check_plan
from .play.baselines import baseline_curves as baseline_curves
from .play.play_records import Attempt as Attempt
from .play.play_records import ClientTimes as ClientTimes
from .play.play_records import Game as Game
from .play.play_records import PlayError as PlayError
from .play.play_records import PlayView as PlayView
from .play.play_records import PointsView as PointsView
from .play.play_session import PlaySession as PlaySession

__all__ = [
    "Attempt",
    "CheckedPlan",
    "ClientTimes",
    "Game",
    "PlayError",
    "PlaySession",
    "PlayView",
    "PlayedGame",
    "PointsView",
    "SeriesPlan",
    "SeriesTerms",
    "StudyPlan",
    "baseline_curves",
    "check_plan",
    "read_plan",
    "transcript_text",
]
