"""Logs as they lie on the disk, and as they come back."""

from __future__ import annotations

from sqlalchemy import select

from gnomon_board.database import Submission
from small_season import fill


def test_a_log_comes_back_as_an_attachment(client, database, settings):
    """Whatever is in it, and whatever type the sender gave it, no browser shows it as a page."""
    fill(database, settings)
    with database.writing() as session:
        submission = session.scalars(select(Submission)).first()
        assert submission is not None
        sha256 = submission.log_sha256
        kept = settings.evidence / sha256[:2] / sha256
        kept.write_bytes(b"<script>alert(1)</script>")
        # What the sender wrote stays in the manifest, and nowhere else.
        submission.manifest = {"content_type": "text/html", "file": "../../x.html"}
    answer = client.get("/api/submissions/1/log", headers={"Accept": "text/html"})
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="submission-1.csv"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_nothing_in_the_data_folder_is_served(client, database, settings):
    fill(database, settings)
    (settings.evidence / "ab").mkdir(exist_ok=True)
    (settings.evidence / "ab" / ("ab" * 32)).write_bytes(b"the evidence")
    names = ["ab/" + "ab" * 32, "leaderboard.sqlite", "../leaderboard.sqlite", "evidence/ab"]
    for name in names:
        for root in ("/static/", "/evidence/", "/data/", "/static/../../../data/", "/"):
            for text in (name, name.replace("/", "%2f"), name.replace("..", "%2e%2e")):
                answer = client.get(root + text)
                assert answer.status_code in (307, 400, 404), (root, text)
                assert b"evidence" not in answer.content.replace(b"/evidence", b"")


def test_other_methods_are_refused(client, database, settings):
    fill(database, settings)
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        assert client.request(method, "/api/seasons/filled").status_code == 405
