"""The pictures of the gallery can be drawn again, and the page shows all of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.full
def test_the_gallery_is_drawn_by_its_script(tmp_path):
    spec = importlib.util.spec_from_file_location("make_gallery", DOCS / "make_gallery.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    drawn = {path.name for path in script.make_gallery(tmp_path, trials=3, episodes=5)}
    assert drawn == {path.name for path in (DOCS / "images" / "gallery").iterdir()}
    text = (DOCS / "gnomon" / "gallery.md").read_text("utf-8")
    assert all(f"(../images/gallery/{name})" in text for name in drawn)
