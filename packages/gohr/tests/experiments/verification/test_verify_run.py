"""Verification: honest runs pass, and whatever was changed is found where it first differs."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gohr.errors import ConfigError, RunFolderError
from gohr.experiments import (
    ExperimentConfig,
    RunFolder,
    Trial,
    Verdict,
    run,
    verify_log,
    verify_run,
)
from runs import edit, forge, forge_experiment
from slow_verdict import first_wrong_place

CONFIG = ExperimentConfig(
    "small", ["clockwise", "red-first"], ["uniform"], trials=2, episodes=4, horizon=30, seed=3
)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> RunFolder:
    return run(CONFIG, tmp_path_factory.mktemp("played") / "run").folder


@pytest.fixture
def folder(played, tmp_path) -> RunFolder:
    """A copy of the run, to be changed."""
    shutil.copytree(played.path, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")


@pytest.fixture(scope="module")
def shard(played) -> pl.DataFrame:
    """The rows of the first trial."""
    return played.frame(played.trials()[0])


@pytest.fixture(scope="module")
def log(played) -> pl.DataFrame:
    return played.attempts()


def only(verdicts: list[Verdict]) -> Verdict:
    """Return the one verdict that is not well."""
    (bad,) = [verdict for verdict in verdicts if not verdict.ok]
    return bad


def verdict_of(
    frame: pl.DataFrame, assignment: ExperimentConfig = CONFIG, learner: str = "uniform"
) -> Verdict:
    """Return what is said of the rows of a first trial, where only that is to be played."""
    one = assignment.model_copy(update={"rules": assignment.rules[:1], "trials": 1})
    names = {"learner": learner, "rule": one.rules[0].name, "trial": 0}
    rows = frame.with_columns(*(pl.lit(value).alias(name) for name, value in names.items()))
    (verdict,) = verify_log(rows, one, learner=learner)
    return verdict


def with_value(frame: pl.DataFrame, row: int, column: str, value: object) -> pl.DataFrame:
    """Return a log in which one field is another."""
    values = frame[column].to_list()
    values[row] = value
    return frame.with_columns(pl.Series(column, values, dtype=frame[column].dtype))


def row_of(frame: pl.DataFrame, episode: int, attempt: int) -> int:
    here = (frame["episode"] == episode) & (frame["attempt"] == attempt)
    return int(here.arg_max() or 0)


# -- what is honest --------------------------------------------------------------------------------


def test_an_honest_run_is_well(played):
    verdicts = list(verify_run(played.path, assignment=CONFIG))
    assert [(v.rule, v.trial) for v in verdicts] == [
        ("clockwise", 0),
        ("clockwise", 1),
        ("red-first", 0),
        ("red-first", 1),
    ]
    assert all(v.ok and v.reason == "" and v.episode is None for v in verdicts)
    for verdict, record in zip(verdicts, played.trials(), strict=True):
        expected = played.log(record)
        assert verdict.log is not None
        for name in ("boards", "n_attempts", "actions", "outcomes", "finish"):
            found, wanted = getattr(verdict.log, name), getattr(expected, name)
            assert found.dtype == wanted.dtype
            assert np.array_equal(found, wanted)


def test_the_log_of_a_run_is_well_in_any_order_and_type(log):
    assert all(v.ok for v in verify_log(log, CONFIG, learner="uniform"))
    text = log.with_columns(pl.col("board").bin.encode("hex"), pl.col("rule").cast(pl.String))
    wide = text.with_columns(pl.col("cell", "bucket", "outcome", "finish").cast(pl.Int64))
    assert all(v.ok for v in verify_log(wide, CONFIG))
    turned = pl.concat(log.partition_by("rule", "trial", maintain_order=True)[::-1])
    assert all(v.ok for v in verify_log(turned, CONFIG))
    mixed = log.sort(["episode", "attempt"], maintain_order=True)
    assert all(v.ok for v in verify_log(mixed, CONFIG))


@pytest.mark.filterwarnings("ignore::gohr.errors.StuckRuleWarning")
@pytest.mark.parametrize(
    "config",
    [
        # Stuck from the start, at times; an interpreter's rule; a learner that plays on.
        ExperimentConfig(
            "stuck", [{"name": "r", "text": "(*,red,*,*,0)"}, "red-first"], ["uniform"],
            trials=2, episodes=30, horizon=9,
            board=replace(CONFIG.board, pieces=(1, 4), shapes=(0, 0), colors=(0, 0)),
        ),
        ExperimentConfig(
            "interpreted", [{"name": "r", "text": "(shape:q.bucket.shape) (*,*,*,*,[0,1])"}],
            ["uniform"], trials=1, episodes=6, horizon=20,
        ),
        ExperimentConfig(
            "on", ["nearby"], [{"kind": "linear_dqn", "plays_on": True}],
            trials=1, episodes=5, horizon=60,
        ),
    ],
    ids=lambda config: config.name,
)  # fmt: skip
def test_every_kind_of_episode_is_well(config, tmp_path):
    folder = run(config, tmp_path).folder
    assert all(v.ok for v in verify_run(folder.path)), list(verify_run(folder.path))
    assert all(v.ok for v in verify_log(folder.attempts(), config))


# -- one trial, changed ----------------------------------------------------------------------------


def accepted_rows(frame: pl.DataFrame) -> list[int]:
    return [i for i, outcome in enumerate(frame["outcome"].to_list()) if outcome == 0]


def without(frame: pl.DataFrame, episode: int, attempt: int) -> pl.DataFrame:
    row = row_of(frame, episode, attempt)
    return pl.concat([frame[:row], frame[row + 1 :]])


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        (
            lambda x: with_value(x, 0, "finish", 1),
            (0, 1),
            "finish: expected 0 (going on), found 1 (cleared)",
        ),
        (lambda x: with_value(x, 0, "board", b"\xff" * 36), (0, None), "not the board that was"),
        (
            lambda x: pl.concat(
                [x, x.filter(pl.col("episode") == 3).with_columns(pl.col("episode") + 1)]
            ),
            (4, None),
            "expected 4 episodes, found more",
        ),
        (lambda x: x.filter(pl.col("episode") < 3), (3, None), "expected 4 episodes, found 3"),
        (
            lambda x: x.filter(pl.col("episode") != 1),
            (0, 18),
            "expected episode 0 or the next, found 2",
        ),
        (lambda x: x.head(len(x) - 1), (3, 21), "expected attempts until the episode ends or has"),
        (lambda x: without(x, 1, 3), (1, 3), "expected attempt 3, found 4"),
        (lambda x: pl.concat([x, x]), (None, None), "the trial is told twice"),
        (
            lambda x: with_value(x, row_of(x, 2, 2), "board", x["board"][0]),
            (2, 2),
            "expected a board on the first row of an episode alone",
        ),
    ],
)
def test_a_changed_log_is_found_at_the_place_of_its_change(shard, change, place, reason):
    verdict = verdict_of(change(shard))
    assert not verdict.ok
    assert verdict.reason.startswith(reason)
    assert (verdict.episode, verdict.attempt) == place


def test_an_edited_outcome_is_found(shard):
    row = shard["outcome"].to_list().index(4, 20)
    verdict = verdict_of(with_value(shard, row, "outcome", 0))
    assert (verdict.episode, verdict.attempt) == (shard["episode"][row], shard["attempt"][row])
    assert verdict.reason == "outcome: expected 4 (denied), found 0 (accepted)"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seed": 4}, "not the board that was assigned"),
        ({"horizon": 29}, "expected at most 29 attempts, found 30"),
        ({"rules": (replace(CONFIG.rules[0], text="(*,*,*,*,p+2)"),)}, "not the board"),
    ],
)
def test_the_log_of_another_assignment_is_refused(shard, changes, reason):
    assert verdict_of(shard, CONFIG.model_copy(update=changes)).reason.startswith(reason)


def test_attempts_after_the_end_are_found(tmp_path):
    config = ExperimentConfig("easy", ["nearby"], ["rule_player"], trials=1, episodes=3)
    folder = run(config, tmp_path).folder
    frame = folder.frame(folder.trials()[0])
    last = frame.filter(pl.col("episode") == 2)[-1:]
    for outcome, reason in [
        (-4, "attempted after the end of the episode"),
        (4, "outcome: expected -4 (after the end of the episode), found 4 (denied)"),
    ]:
        code = pl.lit(outcome, dtype=pl.Int8).alias("outcome")
        more = last.with_columns(pl.col("attempt") + 1, code)
        verdict = verdict_of(pl.concat([frame, more]), config, "rule_player")
        assert (verdict.episode, verdict.attempt, verdict.reason) == (2, 10, reason)


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("cell", 37, "column 'cell': expected 1 to 36, found 37"),
        ("cell", 0, "column 'cell': expected 1 to 36, found 0"),
        ("cell", None, "column 'cell': expected 1 to 36, found nothing"),
        ("bucket", 4, "column 'bucket': expected 0 to 3, found 4"),
        ("bucket", -1, "column 'bucket': expected 0 to 3, found -1"),
        ("attempt", 2**62, f"expected attempt 7, found {2**62}"),
        ("attempt", -(2**63), f"expected attempt 7, found {-(2**63)}"),
        ("attempt", None, "expected attempt 7, found nothing"),
        ("episode", 2**63 - 1, f"expected episode 1 or the next, found {2**63 - 1}"),
        ("episode", -1, "expected episode 1 or the next, found -1"),
        ("episode", None, "expected episode 1 or the next, found nothing"),
        ("outcome", 5, "found 5"),
        ("outcome", None, "found nothing"),
        ("outcome", 2**40, f"found {2**40}"),
        ("finish", 9, "found 9"),
        ("finish", None, "found nothing"),
    ],
)
def test_numbers_out_of_range_are_found(shard, column, value, reason):
    wide = shard.with_columns(pl.col(column).cast(pl.Int64))
    verdict = verdict_of(with_value(wide, row_of(shard, 1, 7), column, value))
    assert verdict.reason.endswith(reason)
    assert verdict.reason.count("\n") == 0
    assert (verdict.episode, verdict.attempt) == (1, 7)


@pytest.mark.parametrize("board", [None, b"", b"\x00" * 35, b"\x00" * 37])
def test_a_board_of_another_size_is_found(shard, board):
    verdict = verdict_of(with_value(shard, row_of(shard, 2, 1), "board", board))
    assert (verdict.episode, verdict.attempt) == (2, None)
    assert verdict.reason == f"expected a board of 36 bytes, found {len(board or b'')}"


@pytest.mark.parametrize(
    ("column", "series", "reason"),
    [
        ("cell", lambda n: pl.Series([float("nan")] * n), "expected whole numbers, found Float64"),
        ("cell", lambda n: pl.Series([1.0] * n), "expected whole numbers, found Float64"),
        ("attempt", lambda n: pl.Series(["1"] * n), "expected whole numbers, found String"),
        ("finish", lambda n: pl.Series([True] * n), "expected whole numbers, found Boolean"),
        ("board", lambda n: pl.Series([[1]] * n), "expected 36 bytes, found List(Int64)"),
        ("outcome", lambda n: pl.Series([{"a": 1}] * n), "found Struct({'a': Int64})"),
    ],
)
def test_columns_of_another_type_are_refused(shard, column, series, reason):
    with pytest.raises(ConfigError, match=f"^column {column!r}: .*{re.escape(reason)}$"):
        verdict_of(shard.with_columns(series(len(shard)).alias(column)))


def test_a_number_that_no_word_holds_is_refused(shard):
    huge = pl.Series([2**64 - 1] * len(shard), dtype=pl.UInt64).alias("attempt")
    assert verdict_of(shard.with_columns(huge)).reason == (
        "expected an attempt, found a row without one"
    )


def test_a_missing_column_is_refused(shard):
    with pytest.raises(ConfigError, match=r"^missing column 'finish'; expected episode, attempt"):
        verdict_of(shard.drop("finish"))


def test_columns_beside_the_known_ones_are_of_no_consequence(shard):
    assert verdict_of(shard.with_columns(pl.lit("x").alias("note"))).ok


COLUMNS = ("episode", "attempt", "cell", "bucket", "outcome", "finish")


@given(data=st.data())
def test_the_slow_twin_finds_the_same_place(shard, data):
    """Change, drop or double rows at random: both find the same first place, or none."""
    frame = shard.with_columns(pl.col(COLUMNS).cast(pl.Int64))
    rows = frame.to_dicts()
    for _ in range(data.draw(st.integers(0, 2))):
        row = data.draw(st.integers(0, len(rows) - 1))
        match data.draw(st.sampled_from(["change", "drop", "double", "cut"])):
            case "change":
                column = data.draw(st.sampled_from(COLUMNS))
                value = data.draw(st.none() | st.integers(-5, 38))
                rows[row] = rows[row] | {column: value}
            case "drop" if len(rows) > 1:
                del rows[row]
            case "double":
                rows.insert(row, rows[row])
            case "cut" if row > 0:
                del rows[row:]
    verdict = verdict_of(pl.DataFrame(rows, schema=frame.schema))
    boards = [board.tobytes() for board in CONFIG.deal(CONFIG.rules[0], 0)]
    place = first_wrong_place(rows, CONFIG.rules[0].rule_set, boards, horizon=30, spec=CONFIG.board)
    assert verdict.ok == (place is None)
    # What is out of sequence is told of the episode or of its next attempt, by either.
    if place is not None and None not in (verdict.attempt, place[1]):
        assert (verdict.episode, verdict.attempt) == place


# -- a whole log -----------------------------------------------------------------------------------


def test_a_missing_trial_is_found(log):
    rest = log.filter(~((pl.col("rule") == "red-first") & (pl.col("trial") == 1)))
    bad = only(list(verify_log(rest, CONFIG)))
    assert (bad.rule, bad.trial) == ("red-first", 1)
    assert bad.reason == "missing: the log has no attempt of it"


def test_an_empty_log_misses_everything(log):
    verdicts = list(verify_log(log.head(0), CONFIG, learner="uniform"))
    assert [v.ok for v in verdicts] == [False] * 4
    assert {v.learner for v in verdicts} == {"uniform"}


def test_a_doubled_trial_in_a_log_is_found(log):
    first = log.filter((pl.col("rule") == "clockwise") & (pl.col("trial") == 0))
    bad = only(list(verify_log(pl.concat([log, first]), CONFIG)))
    assert (bad.rule, bad.trial, bad.reason) == ("clockwise", 0, "the trial is told twice")


def test_a_trial_in_place_of_another_is_found(log):
    """The better of two trials, handed in twice."""
    one = log.filter(pl.col("trial") == 0)
    copied = one.with_columns(pl.lit(1, dtype=pl.Int32).alias("trial"))
    verdicts = list(verify_log(pl.concat([one, copied]), CONFIG))
    assert [v.ok for v in verdicts] == [True, False, True, False]
    assert all("not the board that was assigned" in v.reason for v in verdicts if not v.ok)


def test_trials_that_were_not_assigned_are_found(log):
    other = log.with_columns(pl.col("rule").cast(pl.String).replace("red-first", "x" * 300))
    verdicts = [v for v in verify_log(other, CONFIG) if not v.ok]
    assert [v.reason for v in verdicts[2:]] == ["not a trial that was assigned"] * 2
    assert len(verdicts[2].rule) == 64
    more = log.filter((pl.col("rule") == "clockwise") & (pl.col("trial") == 1))
    more = more.with_columns(pl.lit(2, dtype=pl.Int32).alias("trial"))
    bad = only(list(verify_log(pl.concat([log, more]), CONFIG)))
    assert (bad.rule, bad.trial) == ("clockwise", 2)


def test_what_is_quoted_of_a_log_can_be_seen(log):
    """Names may hold commands to a terminal, or what a database cannot keep."""
    names = pl.col("rule").cast(pl.String).replace("clockwise", "red\x1b[2J\x00\u202e")
    refused = [v for v in verify_log(log.with_columns(names), CONFIG) if not v.ok]
    assert refused
    assert all((v.rule + v.reason + v.learner).isprintable() for v in refused)
    other = log.with_columns(pl.lit("\x00\u202e").alias("learner"))
    with pytest.raises(ConfigError) as raised:
        list(verify_log(other, CONFIG, learner="me"))
    assert str(raised.value).isprintable()


def test_two_learners_in_a_log_are_refused(log):
    mixed = with_value(log.with_columns(pl.col("learner").cast(pl.String)), 9, "learner", "other")
    with pytest.raises(ConfigError, match="expected one name, found 2"):
        list(verify_log(mixed, CONFIG))
    with pytest.raises(ConfigError, match="expected 'ada', found uniform"):
        list(verify_log(log, CONFIG, learner="ada"))


def test_names_and_numbers_of_trials_of_another_type_are_refused(log):
    for column, values in [("trial", 0.5), ("rule", 3), ("learner", None)]:
        wrong = log.with_columns(pl.lit(values).alias(column))
        with pytest.raises(ConfigError, match=f"column '{column}': expected"):
            list(verify_log(wrong, CONFIG))


def test_trials_without_a_name_or_number_are_found(log):
    nameless = with_value(log.with_columns(pl.col("rule").cast(pl.String)), 3, "rule", None)
    verdicts = list(verify_log(nameless, CONFIG))
    assert not all(v.ok for v in verdicts)
    numberless = with_value(log, 3, "trial", None)
    assert not all(v.ok for v in verify_log(numberless, CONFIG))


# -- a run folder ----------------------------------------------------------------------------------


def test_a_flipped_move_in_a_folder_is_found(folder):
    record = folder.trials()[2]
    frame, log = folder.frame(record), folder.log(record)
    row = accepted_rows(frame)[5]
    log.actions[row] = (log.actions[row] + 4) % 144
    forge(folder, record, log)
    bad = only(list(verify_run(folder.path)))
    assert (bad.rule, bad.trial) == ("red-first", 0)
    assert bad.episode == frame["episode"][row]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_attempts": 9}, "n_attempts: expected "),
        ({"episodes": b""}, "the recorded errors of each episode are not those of its attempts"),
        ({"status": "failed", "error": "died"}, "missing: it failed: died"),
        ({"key": "a"}, "the recorded key is not that of this trial"),
    ],
)
def test_a_forged_row_is_found(folder, change, reason):
    forge(folder, folder.trials()[1], **change)
    bad = only(list(verify_run(folder.path)))
    assert (bad.rule, bad.trial) == ("clockwise", 1)
    assert bad.reason.startswith(reason)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE trials SET attempts = x'00'", "damaged: trial 1 of uniform on clockwise"),
        ("UPDATE trials SET n_attempts = 9", "its row in the database is damaged"),
        ("DELETE FROM trials", "missing: it was not played"),
    ],
)
def test_a_damaged_row_is_found(folder, statement, reason):
    edit(folder, f"{statement} WHERE rule = 'clockwise' AND trial = 1")
    bad = only(list(verify_run(folder.path)))
    assert (bad.rule, bad.trial) == ("clockwise", 1)
    assert reason in bad.reason


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        ({"rule": "clockwise"}, ["the database has it twice", "missing: it was not played"]),
        ({"learner": "x"}, ["missing: it was not played", "not a trial of the experiment"]),
    ],
)
def test_a_row_of_another_trial_is_found(folder, change, reasons):
    forge(folder, folder.trials()[3], **change)
    assert [v.reason for v in verify_run(folder.path) if not v.ok] == reasons


@pytest.mark.parametrize("field", ["seed", "episodes", "horizon", "trials"])
def test_a_changed_config_is_refused(folder, field):
    def change(record):
        record[field] += 1

    forge_experiment(folder, change, hide=False)
    with pytest.raises(RunFolderError, match="not the experiment that the run began with"):
        list(verify_run(folder.path))
    forge_experiment(folder, lambda record: None, hide=True)
    # With the hash to match, no trial's key is right any more, or trials are missing.
    assert [v.ok for v in verify_run(folder.path)].count(True) == (4 if field == "trials" else 0)
    assert not all(v.ok for v in verify_run(folder.path))
    (reason,) = {v.reason for v in verify_run(folder.path, assignment=CONFIG)}
    assert reason.startswith(f"not what was assigned: {field}: expected ")


def test_a_changed_rule_text_is_refused(folder):
    def change(record):
        record["rules"][0]["text"] = "(*,*,*,*,*)"

    forge_experiment(folder, change, hide=True)
    verdicts = list(verify_run(folder.path))
    assert [v.ok for v in verdicts] == [False, False, True, True]
    (reason,) = {v.reason for v in verify_run(folder.path, assignment=CONFIG)}
    assert reason == "not what was assigned: rule 'clockwise': not the text that was assigned"


def test_a_changed_rule_with_keys_to_match_still_has_other_boards(folder):
    """The boards hang on the rule's text: who swaps the rule must play again."""

    def change(record):
        record["rules"][0]["text"] = "(*,*,*,*,*)"

    played = folder.trials()
    forge_experiment(folder, change, hide=True)
    changed = RunFolder.open(folder.path)
    assignment = changed.config
    for number in range(2):
        key = Trial.of(assignment, assignment.learners[0], assignment.rules[0], number).key
        forge(folder, played[number], key=key)
    bad = [v for v in verify_run(folder.path) if not v.ok]
    assert len(bad) == 2
    assert all("not the board that was assigned" in v.reason for v in bad)


def test_who_was_shown_the_rule_is_refused_on_the_board(tmp_path):
    config = ExperimentConfig("r", ["clockwise"], ["rule_player"], trials=1, episodes=3)
    folder = run(config, tmp_path).folder
    assert all(v.ok for v in verify_run(folder.path))
    (verdict,) = verify_run(folder.path, assignment=config)
    assert verdict.reason == "the learner was shown the rule"


def test_no_learner_of_a_strangers_config_is_made(folder, tmp_path):
    """A learner of the kind `process` is any program."""
    marker = tmp_path / "ran"

    def change(record):
        record["learners"] = [{"kind": "process", "name": "uniform", "command": f"touch {marker}"}]

    forge_experiment(folder, change, hide=True)
    assert not any(v.ok for v in verify_run(folder.path, assignment=CONFIG))
    list(verify_run(folder.path))
    assert not marker.exists()


def test_what_is_not_a_run_folder_is_an_error(tmp_path):
    with pytest.raises(RunFolderError, match="not a run folder"):
        list(verify_run(tmp_path))
