from .board import BUCKET_PLACES as BUCKET_PLACES
from .board import COLORS as COLORS
from .board import DEFAULT_SPEC as DEFAULT_SPEC
from .board import N_BUCKETS as N_BUCKETS
from .board import N_CELLS as N_CELLS
from .board import SHAPES as SHAPES
from .board import Board as Board
from .board import BoardSpec as BoardSpec
from .board import Piece as Piece
from .board import draw_boards as draw_boards
from .board_files import read_board_file as read_board_file
from .drawing import board_pixels as board_pixels
from .drawing import board_text as board_text
from .engine.boards import Boards as Boards
from .engine.compiler import CompiledRule as CompiledRule
from .engine.compiler import compile_rule as compile_rule
from .environments.env import HiddenRulesEnv as HiddenRulesEnv
from .environments.env import action_space as action_space
from .environments.env import observation_space as observation_space
from .environments.vector_env import HiddenRulesVectorEnv as HiddenRulesVectorEnv
from .environments.wrappers import FullHistory as FullHistory
from .environments.wrappers import HistoryStack as HistoryStack
from .environments.wrappers import LastSuccess as LastSuccess
from .environments.wrappers import TextObservation as TextObservation
from .equivalence import Equivalence as Equivalence
from .equivalence import equivalent as equivalent
from .instructions import INSTRUCTIONS as INSTRUCTIONS
from .instructions import REPLIES as REPLIES
from .outcomes import ACCEPTED as ACCEPTED
from .outcomes import CLEARED as CLEARED
from .outcomes import DENIED as DENIED
from .outcomes import EMPTY_CELL as EMPTY_CELL
from .outcomes import EPISODE_OVER as EPISODE_OVER
from .outcomes import IMMOVABLE as IMMOVABLE
from .outcomes import IN_PROGRESS as IN_PROGRESS
from .outcomes import LEAVE as LEAVE
from .outcomes import NEW_BOARD as NEW_BOARD
from .outcomes import RESET as RESET
from .outcomes import STALEMATE as STALEMATE
from .outcomes import Autoreset as Autoreset
from .reference import AcceptedMove as AcceptedMove
from .reference import ReferenceGame as ReferenceGame
from .rule_check import CheckedRule as CheckedRule
from .rule_check import check_rule as check_rule
from .seeded_boards import SeededBoards as SeededBoards
from .stalemate import StalemateSearch as StalemateSearch
from .stalemate import find_stalemate as find_stalemate
from .stalemate import random_way as random_way

__all__ = [
    "ACCEPTED",
    "BUCKET_PLACES",
    "CLEARED",
    "COLORS",
    "DEFAULT_SPEC",
    "DENIED",
    "EMPTY_CELL",
    "EPISODE_OVER",
    "IMMOVABLE",
    "INSTRUCTIONS",
    "IN_PROGRESS",
    "LEAVE",
    "NEW_BOARD",
    "N_BUCKETS",
    "N_CELLS",
    "REPLIES",
    "RESET",
    "SHAPES",
    "STALEMATE",
    "AcceptedMove",
    "Autoreset",
    "Board",
    "BoardSpec",
    "Boards",
    "CheckedRule",
    "CompiledRule",
    "Equivalence",
    "FullHistory",
    "HiddenRulesEnv",
    "HiddenRulesVectorEnv",
    "HistoryStack",
    "LastSuccess",
    "Piece",
    "ReferenceGame",
    "SeededBoards",
    "StalemateSearch",
    "TextObservation",
    "action_space",
    "board_pixels",
    "board_text",
    "check_rule",
    "compile_rule",
    "draw_boards",
    "equivalent",
    "find_stalemate",
    "observation_space",
    "random_way",
    "read_board_file",
]
