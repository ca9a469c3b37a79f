from .answer import Answer as Answer
from .answer import JsonOption as JsonOption
from .answer import answering as answering
from .command import Command as Command
from .command import message as message
from .gnomon_command import COMMAND as COMMAND
from .gnomon_command import app as app
from .gnomon_command import main as main
from .options import Level as Level
from .options import Normalize as Normalize
from .options import ReadOptions as ReadOptions
from .options import Seed as Seed
from .options import ShowOptions as ShowOptions
from .options import normalized as normalized
from .options import scores_of as scores_of
from .options import with_groups as with_groups
from .progress import bar_of as bar_of
from .reading import show_scores as show_scores
from .sources import Sources as Sources

__all__ = [
    "COMMAND",
    "Answer",
    "Command",
    "JsonOption",
    "Level",
    "Normalize",
    "ReadOptions",
    "Seed",
    "ShowOptions",
    "Sources",
    "answering",
    "app",
    "bar_of",
    "main",
    "message",
    "normalized",
    "scores_of",
    "show_scores",
    "with_groups",
]
