from .baselines import Yardstick as Yardstick
from .baselines import baseline_curves as baseline_curves
from .board_dealing import deal_boards as deal_boards
from .mastery import TARGET_STREAK as TARGET_STREAK
from .mastery import attempts_to_master as attempts_to_master
from .mastery import likelihood_ratios as likelihood_ratios
from .mastery import mastery_ecdf as mastery_ecdf
from .play_records import END_WORDS as END_WORDS
from .play_records import OUTCOME_WORDS as OUTCOME_WORDS
from .play_records import Attempt as Attempt
from .play_records import ClientTimes as ClientTimes
from .play_records import Game as Game
from .play_records import PlayError as PlayError
from .play_records import PlayView as PlayView
from .play_records import PointsView as PointsView
from .play_session import PlaySession as PlaySession
from .series_plan import DEFAULT_TERMS as DEFAULT_TERMS
from .series_plan import BoardPlan as BoardPlan
from .series_plan import MemoryAids as MemoryAids
from .series_plan import Part as Part
from .series_plan import PointsPlan as PointsPlan
from .series_plan import SeriesPlan as SeriesPlan
from .series_plan import SeriesTerms as SeriesTerms
from .terminal import play_in_terminal as play_in_terminal
from .transcript_writer import PlayedGame as PlayedGame
from .transcript_writer import boards_text as boards_text
from .transcript_writer import episode_name as episode_name
from .transcript_writer import first_attempts as first_attempts
from .transcript_writer import transcript_text as transcript_text
from .transcripts import PlayedSeries as PlayedSeries
from .transcripts import read_transcripts as read_transcripts
from .transcripts import score_series as score_series

__all__ = [
    "DEFAULT_TERMS",
    "END_WORDS",
    "OUTCOME_WORDS",
    "TARGET_STREAK",
    "Attempt",
    "BoardPlan",
    "ClientTimes",
    "Game",
    "MemoryAids",
    "Part",
    "PlayError",
    "PlaySession",
    "PlayView",
    "PlayedGame",
    "PlayedSeries",
    "PointsPlan",
    "PointsView",
    "SeriesPlan",
    "SeriesTerms",
    "Yardstick",
    "attempts_to_master",
    "baseline_curves",
    "boards_text",
    "deal_boards",
    "episode_name",
    "first_attempts",
    "likelihood_ratios",
    "mastery_ecdf",
    "play_in_terminal",
    "read_transcripts",
    "score_series",
    "transcript_text",
]
