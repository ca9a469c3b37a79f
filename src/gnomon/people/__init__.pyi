from .mastery import TARGET_STREAK as TARGET_STREAK
from .mastery import attempts_to_master as attempts_to_master
from .mastery import likelihood_ratios as likelihood_ratios
from .mastery import mastery_ecdf as mastery_ecdf
from .transcripts import PlayedSeries as PlayedSeries
from .transcripts import read_transcripts as read_transcripts
from .transcripts import score_series as score_series

__all__ = [
    "TARGET_STREAK",
    "PlayedSeries",
    "attempts_to_master",
    "likelihood_ratios",
    "mastery_ecdf",
    "read_transcripts",
    "score_series",
]
