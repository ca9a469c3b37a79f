from . import outcomes as outcomes
from .board import DEFAULT_SPEC as DEFAULT_SPEC
from .board import N_BUCKETS as N_BUCKETS
from .board import N_CELLS as N_CELLS
from .board import Board as Board
from .board import BoardSpec as BoardSpec
from .board import Piece as Piece
from .board import draw_boards as draw_boards
from .board_files import read_board_file as read_board_file
from .engine.boards import Boards as Boards
from .engine.compiler import CompiledRule as CompiledRule
from .engine.compiler import compile_rule as compile_rule
from .env import HiddenRulesEnv as HiddenRulesEnv
from .equivalence import equivalent as equivalent
from .instructions import INSTRUCTIONS as INSTRUCTIONS
from .reference import ReferenceGame as ReferenceGame
from .rule_check import check as check
from .seeded_boards import SeededBoards as SeededBoards
from .stalemate import find_stalemate as find_stalemate
from .stalemate import random_way as random_way
from .vector_env import HiddenRulesVectorEnv as HiddenRulesVectorEnv
from .wrappers import HistoryStack as HistoryStack
from .wrappers import LastSuccess as LastSuccess

__all__ = [
    "DEFAULT_SPEC",
    "INSTRUCTIONS",
    "N_BUCKETS",
    "N_CELLS",
    "Board",
    "BoardSpec",
    "Boards",
    "CompiledRule",
    "HiddenRulesEnv",
    "HiddenRulesVectorEnv",
    "HistoryStack",
    "LastSuccess",
    "Piece",
    "ReferenceGame",
    "SeededBoards",
    "check",
    "compile_rule",
    "draw_boards",
    "equivalent",
    "find_stalemate",
    "outcomes",
    "random_way",
    "read_board_file",
]
