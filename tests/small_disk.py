"""A disk that is nearly full, for tests of several folders."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte, where that can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if (
        mount is None
        or os.geteuid() != 0
        or subprocess.run(command, capture_output=True).returncode
    ):
        pytest.skip("needs root and mount: a full disk is a mounted one of a megabyte")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
