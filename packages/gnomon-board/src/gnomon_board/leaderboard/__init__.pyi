from .assignment import assigned_seed as assigned_seed
from .assignment import assignment_of as assignment_of
from .client import Client as Client
from .client import Packed as Packed
from .client import pack_run as pack_run
from .client import submit as submit
from .client import wait_for_verdict as wait_for_verdict
from .commitment import Reveal as Reveal
from .commitment import canonical_text as canonical_text
from .commitment import commit as commit
from .drawn_rules import ELEMENTS as ELEMENTS
from .drawn_rules import Difficulty as Difficulty
from .drawn_rules import generate_rules as generate_rules
from .drawn_rules import reason_against as reason_against
from .entries import unfinished_attempts as unfinished_attempts
from .played import close_unfinished as close_unfinished
from .played import queue_played as queue_played
from .remote_game import Move as Move
from .remote_game import RemoteGame as RemoteGame
from .remote_game import Reply as Reply
from .remote_play import RemotePlan as RemotePlan
from .remote_play import RemoteSummary as RemoteSummary
from .remote_play import learner_rng as learner_rng
from .remote_play import play_remotely as play_remotely
from .seasons import SeasonPlan as SeasonPlan
from .seasons import create_season as create_season
from .seasons import reveal_season as reveal_season
from .seasons import secret_rng as secret_rng
from .standing_cache import StandingsCache as StandingsCache
from .standing_cache import board_of as board_of
from .standings import METRIC as METRIC
from .standings import Board as Board
from .standings import Contender as Contender
from .standings import Number as Number
from .standings import RuleStanding as RuleStanding
from .standings import Score as Score
from .standings import Standing as Standing
from .standings import StandingQuery as StandingQuery
from .standings import Standings as Standings
from .standings import score_table as score_table
from .standings import select_standings as select_standings
from .standings import standings_of as standings_of
from .worker import work as work
from .worker import work_on_one as work_on_one

__all__ = [
    "ELEMENTS",
    "METRIC",
    "Board",
    "Client",
    "Contender",
    "Difficulty",
    "Move",
    "Number",
    "Packed",
    "RemoteGame",
    "RemotePlan",
    "RemoteSummary",
    "Reply",
    "Reveal",
    "RuleStanding",
    "Score",
    "SeasonPlan",
    "Standing",
    "StandingQuery",
    "Standings",
    "StandingsCache",
    "assigned_seed",
    "assignment_of",
    "board_of",
    "canonical_text",
    "close_unfinished",
    "commit",
    "create_season",
    "generate_rules",
    "learner_rng",
    "pack_run",
    "play_remotely",
    "queue_played",
    "reason_against",
    "reveal_season",
    "score_table",
    "secret_rng",
    "select_standings",
    "standings_of",
    "submit",
    "unfinished_attempts",
    "wait_for_verdict",
    "work",
    "work_on_one",
]
