"""What verifies and what plays needs no web server: the extra `web` is for those who serve."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import importlib, sys
importlib.import_module("gnomon.leaderboard.{module}")
heavy = {{"fastapi", "sqlalchemy", "starlette", "uvicorn", "alembic", "websockets", "psycopg"}}
print(*sorted(heavy & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "module",
    ["verification", "log_file", "commitment", "season_plan", "remote_run", "remote_env"],
)
def test_no_part_of_the_extra_is_loaded(module):
    program = _PROGRAM.format(module=module)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
