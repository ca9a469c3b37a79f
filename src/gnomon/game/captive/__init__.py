"""The captive game server: the game as a text protocol, over a pipe or a socket.

:mod:`.session` is the protocol as a state machine, a line in and lines out; :mod:`.pipe` and
:mod:`.socket_server` carry the lines. What :mod:`.arguments` reads, :mod:`.opening` makes a session
of. A referee (:mod:`.referee`) knows the rule.
"""
