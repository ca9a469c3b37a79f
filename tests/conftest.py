"""Settings for the whole suite."""

from __future__ import annotations

import os

from hypothesis import settings

#: Fixtures that the tests of several folders share.
pytest_plugins = ["board_fixtures"]

# The first example of a test may have to wait for a compiler; a machine may be busy. What a test
# finds must not depend on either, and what CI finds must be found again.
settings.register_profile("gnomon", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("gnomon")
