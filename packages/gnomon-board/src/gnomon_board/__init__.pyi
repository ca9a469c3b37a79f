from . import database as database
from . import errors as errors
from . import leaderboard as leaderboard
from . import studies as studies
from . import web as web
from ._version import __version__ as __version__
from .accounts import token_for as token_for
from .leaderboard import Client as Client
from .leaderboard import submit as submit
from .leaderboard.server_settings import Settings as Settings
from .web.app import create_app as create_app

__all__ = [
    "Client",
    "Settings",
    "__version__",
    "create_app",
    "database",
    "errors",
    "leaderboard",
    "studies",
    "submit",
    "token_for",
    "web",
]
