"""What verifies and what plays needs no web server: the extra `web` is for those who serve."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import importlib, sys
importlib.import_module("gnomon.{module}")
heavy = {{"fastapi", "sqlalchemy", "starlette", "uvicorn", "alembic", "websockets", "psycopg"}}
print(*sorted(heavy & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "module",
    [
        "leaderboard.verification.verify_run",
        "leaderboard.verification.log_files",
        "leaderboard.seasons.commitment",
        "leaderboard.seasons.season_plan",
        "leaderboard.client.remote_run",
        "leaderboard.client.remote_env",
        "studies.terminal",
        "studies.transcript",
    ],
)
def test_no_part_of_the_extra_is_loaded(module):
    program = _PROGRAM.format(module=module)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
