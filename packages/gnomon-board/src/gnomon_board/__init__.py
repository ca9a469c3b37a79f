"""A leaderboard that replays every score, hidden seasons, and studies with people.

`create_app` makes the web application from `Settings`. `Client` speaks to a server: `submit` sends
a run to it, and a `Move` makes attempts in a hidden season. `token_for` makes a token of an
account. `studies` makes and exports studies, `errors` has what a board rejects.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
