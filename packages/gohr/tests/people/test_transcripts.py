"""Transcripts of people: read as trials, scored, and refused with the place of the mistake."""

from __future__ import annotations

import pytest

import gnomon as gn
from gnomon.errors import ScoreDataError, UnknownNameError
from gohr.people import read_transcripts, score_series

TRANSCRIPT = (
    "playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,moveNo,timestamp,mover,"
    "reactionTime,objectType,objectId,y,x,bucketId,by,bx,code,objectCnt"
)


def line(episode=0, move=0, code=0, bucket=3, left=8, player="p1", rule="clockwise", mover=0):
    place = {None: ",,", 3: "3,0,0", 1: "1,7,7"}[bucket]
    return (
        f"{player},a,0,{rule},{episode},e{episode},{move},20260101-000000.000,{mover},1.5,"
        f"RED_STAR,0,2,1,{place},{code},{left}"
    )


def written(folder, *lines, name="transcript.csv"):
    (folder / name).write_text("\n".join([f"#{TRANSCRIPT}", *lines]) + "\n")
    return folder / name


def test_lines_are_attempts_and_those_of_two_files_count_once(tmp_path):
    lines = [
        line(code=4),
        line(move=1, bucket=None),  # an accepted pick is no attempt
        line(move=2, bucket=None, code=7),
        line(move=3, bucket=1, left=0),
        line(episode=2, bucket=1),  # episode 1 had no attempt
    ]
    written(tmp_path, *lines)
    written(tmp_path, *lines, name="again.csv")
    [series] = read_transcripts(tmp_path)
    assert series.log.n_attempts.tolist() == [3, 0, 1]
    assert series.log.actions.tolist() == [27, 24, 25, 25]
    assert series.log.outcomes.tolist() == [4, 7, 0, 0]
    assert series.log.finish.tolist() == [1, 0, 0]
    assert not series.boards_known
    assert score_series([series], "tce").runs("p1", "clockwise").tolist() == [2]
    found = score_series([series], target_streak=2, by="people")
    assert found.runs("people", "clockwise").tolist() == [2]
    assert found.to_polars()["n_attempts"].to_list() == [4]
    assert score_series([series]).to_polars()["censored"].to_list() == [True]


def test_every_verb_reads_the_scores_of_attempts(tmp_path):
    path = written(
        tmp_path, *(line(move=k, code=4 * (k < 2), left=21 - max(k, 1)) for k in range(12))
    )
    assert gn.read_scores(path, metric="m_star").runs("p1", "clockwise").tolist() == [2]
    assert gn.read_scores(path).runs("p1", "clockwise").tolist() == [2]  # errors


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line(move=1)], r"row 2, column 'moveNo': expected 0, the next"),
        ([line(code=5)], r"column 'code': expected one of 0, 4, 7, found '5'"),
        ([line(mover=1)], r"column 'mover': expected a whole number from -1 to 0"),
        ([line().replace("3,0,0", "3,7,7")], r"column 'bucketId': expected the bucket at row 7"),
        (["p1,a"], r"row 2: expected 19 fields, found 2"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, lines, message):
    with pytest.raises(ScoreDataError, match=message):
        read_transcripts(written(tmp_path, *lines))


def test_what_cannot_be_scored_is_refused(tmp_path):
    series = read_transcripts(written(tmp_path, line(rule="no-such-rule")))
    with pytest.raises(ScoreDataError, match="skill needs the boards"):
        score_series(series, "skill")
    with pytest.raises(ScoreDataError, match="tce: a target is for m_star"):
        score_series(series, "tce", target_streak=3)
    with pytest.raises(UnknownNameError):
        score_series(series, "errors_per_episode")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ScoreDataError, match=r"other\.csv: expected a transcript of people"):
        read_transcripts(tmp_path / "other.csv")
