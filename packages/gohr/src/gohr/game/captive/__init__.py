"""The captive game server: the game as a text protocol, over a pipe or over TCP.

The specification is the observed behaviour of the reference server, version 8.060. Where the
reference crashes, this server answers with an error and continues.

:class:`Dialogue` is the protocol as a state machine: a line in, lines out. Two servers build on it:
:class:`Session` knows the rule, deals boards and judges attempts; the learner ``process`` lets a
program play the trials of an experiment. :func:`read_arguments` and :func:`open_session` make a
session from command-line arguments; :func:`serve_pipe` and :func:`serve_tcp` carry the lines.
"""

from gohr.game.captive.arguments import open_session, read_arguments, refusal
from gohr.game.captive.dialogue import INVALID_ARGUMENTS, Command, Dialogue, OutputMode
from gohr.game.captive.servers import LINE_LIMIT, serve_pipe, serve_tcp
from gohr.game.captive.session import OneBoard, Session

__all__ = [
    "INVALID_ARGUMENTS",
    "LINE_LIMIT",
    "Command",
    "Dialogue",
    "OneBoard",
    "OutputMode",
    "Session",
    "open_session",
    "read_arguments",
    "refusal",
    "serve_pipe",
    "serve_tcp",
]
