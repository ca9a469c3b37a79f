"""A leaderboard that replays every score, hidden seasons, and studies with people.

`create_app` makes the web application from `Settings`. A `Client` sends requests to a server:
`submit` sends a run, and a `Move` makes attempts in a hidden season. `token_for` makes a token of
an account. `studies` makes and exports studies, and `errors` has the exceptions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
