"""Take the pictures of reports: ``python docs/make_report_picture.py``; needs Chromium.

``answer.png`` shows the cards and the ranks of the scores in README.md, ``report.png`` the first
screens of the demo's report.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import gnomon as gn
import gohr
from gohr.experiments import load_experiment, run

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "images"
#: What ``answer.png`` leaves out.
_HIDDEN = """.masthead, .notices, .contents, .part:not(#ranks), #ranks > :not(.figures),
figure:not(#figure-rank-intervals), footer { display: none } .part { padding: 0 } .answers { margin: 0 }
main { padding: 12px !important; width: 1080px }"""


def answer(page: Page, folder: Path) -> None:
    """Take the picture of the cards and the ranks."""
    readme = (ROOT / "README.md").read_text("utf-8")
    scores = re.search(r"<!-- file: scores.csv -->\s+```text\n(.*?)```", readme, re.DOTALL)
    assert scores is not None
    (folder / "scores.csv").write_text(scores[1], "utf-8")
    page.goto(gn.report(folder / "scores.csv", folder / "answer.html").as_uri())
    page.add_style_tag(content=_HIDDEN)
    page.locator("main").screenshot(path=PICTURES / "answer.png")


def demo(page: Page, folder: Path) -> None:
    """Play the demo's experiment and take the picture of its report."""
    run(load_experiment("demo"), folder / "run")
    page.goto(gohr.report(folder / "run").resolve().as_uri())
    size = {"x": 0, "y": 0, "width": 1200, "height": 1768}  # to the end of the first figures
    page.screenshot(path=PICTURES / "report.png", clip=size, full_page=True)


if __name__ == "__main__":
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for take in (answer, demo):
            shown = started.new_page(viewport={"width": 1200, "height": 900})
            take(shown, Path(place))
        started.close()
