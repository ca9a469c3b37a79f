"""The captive game server: the game as a text protocol, over a pipe or a socket.

:mod:`.dialogue` is the protocol as a state machine, a line in and lines out; :mod:`.session` deals
its boards and puts its attempts to a referee (:mod:`.referee`), which knows the rule. :mod:`.pipe`
and :mod:`.socket_server` carry the lines. What :mod:`.arguments` reads, :mod:`.opening` makes a
session of.
"""
