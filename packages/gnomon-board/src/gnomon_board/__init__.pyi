from . import errors as errors
from . import studies as studies
from ._version import __version__ as __version__
from .accounts import token_for as token_for
from .client import Client as Client
from .client import submit as submit
from .remote_game import Move as Move
from .settings import Settings as Settings
from .web.app import create_app as create_app

__all__ = [
    "Client",
    "Move",
    "Settings",
    "__version__",
    "create_app",
    "errors",
    "studies",
    "submit",
    "token_for",
]
