from .mastery import attempts_to_master as attempts_to_master
from .mastery import mastery_ecdf as mastery_ecdf
from .series import BoardPlan as BoardPlan
from .series import Game as Game
from .series import SeriesPlan as SeriesPlan
from .series import SeriesTerms as SeriesTerms
from .session import Attempt as Attempt
from .session import ClientTimes as ClientTimes
from .session import PlayError as PlayError
from .session import PlaySession as PlaySession
from .session import PlayView as PlayView
from .transcripts import PlayedGame as PlayedGame
from .transcripts import read_transcripts as read_transcripts
from .transcripts import score_series as score_series
from .transcripts import transcript_text as transcript_text

__all__ = [
    "Attempt",
    "BoardPlan",
    "ClientTimes",
    "Game",
    "PlayError",
    "PlaySession",
    "PlayView",
    "PlayedGame",
    "SeriesPlan",
    "SeriesTerms",
    "attempts_to_master",
    "mastery_ecdf",
    "read_transcripts",
    "score_series",
    "transcript_text",
]
