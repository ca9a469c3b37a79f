"""Take the picture of the demo's report: ``python docs/make_report_picture.py``; needs Chromium."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from gohr import report
from gohr.experiments import load_experiment, run

#: The page down to the end of its first figures.
SIZE = (1200, 1768)
PICTURE = Path(__file__).parent / "images" / "report.png"


def photograph(page: Path, picture: Path, profile: str) -> None:
    """Take a picture of the top of a page, as a browser shows it on a light screen."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("expected chromium or google-chrome; found neither")
    quiet = "no-first-run disable-background-networking disable-component-update disable-sync"
    options = [
        f"--{word}" for word in f"headless no-sandbox disable-gpu hide-scrollbars {quiet}".split()
    ]
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    target = [f"--user-data-dir={profile}", size, f"--screenshot={picture}", page.as_uri()]
    subprocess.run([browser, *options, *target], check=True, stderr=subprocess.DEVNULL)


def make_picture() -> None:
    """Play the demo's experiment and take the picture of its report."""
    with tempfile.TemporaryDirectory() as folder:
        run(load_experiment("demo"), Path(folder) / "run")
        page = report(Path(folder) / "run")
        photograph(page.resolve(), PICTURE, f"{folder}/profile")


if __name__ == "__main__":
    make_picture()
    print(PICTURE.name, PICTURE.stat().st_size)
