from .answer import Answer as Answer
from .answer import JsonOption as JsonOption
from .answer import answering as answering
from .answer import bar_of as bar_of
from .command import COMMAND as COMMAND
from .command import Command as Command
from .command import app as app
from .command import main as main
from .command import message as message
from .layouts import show_scores as show_scores
from .options import Level as Level
from .options import Seed as Seed
from .options import ShowOptions as ShowOptions
from .options import with_groups as with_groups

__all__ = [
    "COMMAND",
    "Answer",
    "Command",
    "JsonOption",
    "Level",
    "Seed",
    "ShowOptions",
    "answering",
    "app",
    "bar_of",
    "main",
    "message",
    "show_scores",
    "with_groups",
]
