"""What verifies and what plays needs no web server: the extra `web` is for those who serve."""

from __future__ import annotations

import subprocess
import sys

MODULES = (
    "leaderboard.verification.verify_run",
    "leaderboard.verification.log_files",
    "leaderboard.seasons.commitment",
    "leaderboard.seasons.season_plan",
    "leaderboard.client.remote_run",
    "leaderboard.client.remote_env",
    "studies.play.terminal",
    "studies.export.transcript",
)
_PROGRAM = """
import importlib, sys
heavy = {"fastapi", "sqlalchemy", "starlette", "uvicorn", "alembic", "websockets", "psycopg"}
for module in sys.argv[1:]:
    importlib.import_module(f"gnomon.{module}")
    assert not heavy & set(sys.modules), (module, heavy & set(sys.modules))
"""


def test_no_part_of_the_extra_is_loaded():
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *MODULES], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
