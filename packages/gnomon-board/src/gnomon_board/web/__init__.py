"""The web application: pages, JSON interface, server, backups, logs.

:func:`create_app` makes the application; :func:`prepare` opens its database and makes the first
token, and :func:`serve` runs it until it is told to end. :func:`back_up` copies a board, also while
it serves, and :func:`restore` brings it back. :class:`Lines` and :class:`JsonLines` write a log for
people and for programs. A browser that is signed in has the cookie :data:`COOKIE`, and what it
changes bears :func:`csrf_token` of the cookie in the header :data:`CSRF_HEADER`.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
