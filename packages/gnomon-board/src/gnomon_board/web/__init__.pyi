from .api.dependencies import COOKIE as COOKIE
from .api.dependencies import CSRF_HEADER as CSRF_HEADER
from .api.dependencies import csrf_token as csrf_token
from .app import create_app as create_app
from .backup import back_up as back_up
from .backup import restore as restore
from .request_log import JsonLines as JsonLines
from .request_log import Lines as Lines
from .server import prepare as prepare
from .server import serve as serve

__all__ = [
    "COOKIE",
    "CSRF_HEADER",
    "JsonLines",
    "Lines",
    "back_up",
    "create_app",
    "csrf_token",
    "prepare",
    "restore",
    "serve",
]
