"""The web application: pages, JSON interface, server, backups, logs.

:func:`create_app` makes the application; :func:`prepare` opens its database and makes the first
token, and :func:`serve` runs it until it is stopped. :func:`back_up` copies a board, even while it
runs, and :func:`restore` restores it. :class:`Lines` and :class:`JsonLines` write a log for people
and for programs. A signed-in browser has the cookie :data:`COOKIE`, and sends :func:`csrf_token` of
the cookie in the header :data:`CSRF_HEADER` with every change.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
