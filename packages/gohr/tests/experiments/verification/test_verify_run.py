"""Verification: honest runs pass, and whatever was changed is found where it first differs."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gohr import Board, ReferenceGame, TrialLog
from gohr.errors import RunFolderError
from gohr.experiments import ExperimentConfig, Run, Trial, Verdict, run, verify, verify_log
from runs import edit, forge, forge_experiment

CONFIG = ExperimentConfig(
    "small", ["clockwise", "red-first"], ["uniform"], trials=2, episodes=4, horizon=30, seed=3
)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Run:
    return run(CONFIG, tmp_path_factory.mktemp("played") / "run")


@pytest.fixture
def folder(played, tmp_path) -> Run:
    """A copy of the run, to be changed."""
    shutil.copytree(played.path, tmp_path / "run")
    return Run.open(tmp_path / "run")


@pytest.fixture(scope="module")
def trials(played) -> dict[tuple[str, int], TrialLog]:
    return {(x.rule, x.trial): log for x, log in played.each(played.trials())}


@pytest.fixture(scope="module")
def first(trials) -> TrialLog:
    return trials["clockwise", 0]


def only(verdicts: list[Verdict]) -> Verdict:
    """Return the one verdict that is not well."""
    (bad,) = [verdict for verdict in verdicts if not verdict.ok]
    return bad


def verdict_of(
    log: TrialLog, assignment: ExperimentConfig = CONFIG, learner: str = "uniform"
) -> Verdict:
    """Return the verdict on a first trial, where only that is to be played."""
    one = assignment.model_copy(update={"rules": assignment.rules[:1], "trials": 1})
    (verdict,) = verify_log({(one.rules[0].name, 0): log}, one, learner=learner)
    return verdict


def row_of(log: TrialLog, episode: int, attempt: int) -> int:
    return int(log.n_attempts[:episode].sum()) + attempt - 1


def place_of(log: TrialLog, row: int) -> tuple[int, int]:
    episode = int(np.searchsorted(np.cumsum(log.n_attempts), row, side="right"))
    return episode, row - int(log.n_attempts[:episode].sum()) + 1


def with_value(log: TrialLog, column: str, place: object, value: float) -> TrialLog:
    """Return a log in which one value is another."""
    values = getattr(log, column).copy()
    values[place] = value
    return replace(log, **{column: values})


def without(log: TrialLog, row: int) -> TrialLog:
    n_attempts = log.n_attempts.copy()
    n_attempts[place_of(log, row)[0]] -= 1
    rows = {x: np.delete(getattr(log, x), row) for x in ("actions", "outcomes")}
    return replace(log, n_attempts=n_attempts, **rows)


def doubled(log: TrialLog, row: int) -> TrialLog:
    n_attempts = log.n_attempts.copy()
    n_attempts[place_of(log, row)[0]] += 1
    columns = {x: getattr(log, x) for x in ("actions", "outcomes")}
    rows = {x: np.insert(values, row, values[row]) for x, values in columns.items()}
    return replace(log, n_attempts=n_attempts, **rows)


def only_episodes(log: TrialLog, episodes: list[int]) -> TrialLog:
    """Return a log of some episodes, in the order given."""
    at = [np.arange(row_of(log, e, 1), row_of(log, e + 1, 1)) for e in episodes]
    rows = np.concatenate([np.zeros(0, np.int64), *at])
    kept = {x: getattr(log, x)[episodes] for x in ("boards", "n_attempts", "finish")}
    return replace(log, actions=log.actions[rows], outcomes=log.outcomes[rows], **kept)


# -- what is honest --------------------------------------------------------------------------------


def test_an_honest_run_is_well(played, trials):
    verdicts = list(verify(played.path, assignment=CONFIG))
    assert [(v.rule, v.trial) for v in verdicts] == [
        ("clockwise", 0),
        ("clockwise", 1),
        ("red-first", 0),
        ("red-first", 1),
    ]
    assert all(v.ok and v.reason == "" and v.episode is None for v in verdicts)
    assert all(v.ok for v in verify_log(dict(reversed(trials.items())), CONFIG))


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
    folder = run(config, tmp_path)
    assert all(v.ok for v in verify(folder.path)), list(verify(folder.path))
    logs = {(x.rule, x.trial): log for x, log in folder.each(folder.trials())}
    assert all(v.ok for v in verify_log(logs, config))


# -- one trial, changed ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        (
            lambda x: with_value(x, "finish", 0, 0 if x.finish[0] else 1),
            None,
            "finish: expected ",
        ),
        (lambda x: with_value(x, "boards", (2, 9), 250), (2, None), "not the board that was"),
        (lambda x: only_episodes(x, [0, 1, 2, 3, 3]), (4, None), "expected 4 episodes, found 5"),
        (lambda x: only_episodes(x, [0, 1, 2]), (3, None), "expected 4 episodes, found 3"),
        (lambda x: only_episodes(x, []), (0, None), "expected 4 episodes, found 0"),
        (lambda x: only_episodes(x, [0, 2, 1, 3]), (1, None), "not the board that was assigned"),
        (
            lambda x: with_value(without(x, x.actions.size - 1), "finish", 3, 0),
            (3, 21),
            "expected attempts until the episode ends or has 30, found 20",
        ),
        (
            lambda x: with_value(x, "actions", row_of(x, 1, 7), 200),
            (1, 7),
            "expected an action from 0 to 143, found 200",
        ),
        (
            lambda x: with_value(x, "outcomes", int(np.flatnonzero(x.outcomes == 4)[0]), 0),
            (0, 4),
            "outcome: expected 4 (denied), found 0 (accepted)",
        ),
        (lambda x: with_value(x, "outcomes", row_of(x, 1, 7), -4), (1, 7), "outcome: expected "),
        (lambda x: replace(x, only_movable=True), (0, None), "only_movable: expected False"),
    ],
)
def test_a_changed_log_is_found_at_the_place_of_its_change(first, change, place, reason):
    verdict = verdict_of(change(first))
    assert not verdict.ok
    assert verdict.reason.startswith(reason)
    assert (verdict.episode, verdict.attempt) == (place or (0, int(first.n_attempts[0])))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seed": 4}, "not the board that was assigned"),
        ({"horizon": 29}, "expected at most 29 attempts, found 30"),
        ({"rules": (replace(CONFIG.rules[0], text="(*,*,*,*,p+2)"),)}, "not the board"),
    ],
)
def test_the_log_of_another_assignment_is_refused(first, changes, reason):
    assert verdict_of(first, CONFIG.model_copy(update=changes)).reason.startswith(reason)


def test_attempts_after_the_end_are_found(tmp_path):
    config = ExperimentConfig("easy", ["nearby"], ["rule_player"], trials=1, episodes=3)
    folder = run(config, tmp_path)
    log = doubled(folder.log(folder.trials()[0]), 26)
    for outcome, reason in [
        (-4, "attempted after the end of the episode"),
        (4, "outcome: expected -4 (after the end), found 4 (denied)"),
    ]:
        verdict = verdict_of(with_value(log, "outcomes", 27, outcome), config)
        assert (verdict.episode, verdict.attempt, verdict.reason) == (2, 10, reason)


def first_wrong_place(log: TrialLog, assignment: ExperimentConfig) -> tuple[int, int | None] | None:
    """The slow twin: one attempt at a time, by the reference interpreter, in plain Python."""
    rule, row = assignment.rules[0], 0
    for episode, board in enumerate(assignment.deal(rule, 0)):
        if episode == len(log.boards) or log.boards[episode].tobytes() != board.tobytes():
            return episode, None
        game = ReferenceGame(rule.rule_set, Board.from_codes(board, assignment.board))
        n, ended_at = int(log.n_attempts[episode]), 0 if game.finish else None
        for attempt in range(1, n + 1):
            action, outcome = int(log.actions[row]), int(log.outcomes[row])
            row += 1
            if attempt > assignment.horizon or action > 143 or ended_at == 0:
                return episode, attempt
            if outcome != game.attempt_at(action // 4 + 1, action % 4):
                return episode, attempt
            if game.finish and ended_at is None:
                ended_at = attempt
        if ended_at is not None and ended_at < n < assignment.horizon:
            return episode, ended_at + 1
        if log.finish[episode] != game.finish:
            return episode, n or None
        if ended_at is None and n < assignment.horizon:
            return episode, n + 1
    return (episode + 1, None) if episode + 1 < len(log.boards) else None


@given(data=st.data())
def test_the_slow_twin_finds_the_same_place(first, data):
    """Change, drop or double attempts at random: both find the same first place, or none."""
    log = first
    for _ in range(data.draw(st.integers(0, 2))):
        row = data.draw(st.integers(0, log.actions.size - 1))
        match data.draw(st.sampled_from(["action", "outcome", "finish", "drop", "double", "cut"])):
            case "action":
                log = with_value(log, "actions", row, data.draw(st.integers(0, 150)))
            case "outcome":
                outcome = data.draw(st.sampled_from([0, 3, 4, 7, -4, 9]))
                log = with_value(log, "outcomes", row, outcome)
            case "finish":
                episode = data.draw(st.integers(0, len(log.finish) - 1))
                log = with_value(log, "finish", episode, data.draw(st.integers(0, 3)))
            case "drop" if log.actions.size > 1:
                log = without(log, row)
            case "double":
                log = doubled(log, row)
            case "cut" if len(log.boards) > 1:
                log = only_episodes(log, list(range(len(log.boards) - 1)))
    verdict = verdict_of(log)
    expected = first_wrong_place(log, CONFIG)
    assert (None if verdict.ok else (verdict.episode, verdict.attempt)) == expected


# -- a whole log -----------------------------------------------------------------------------------


def test_a_missing_trial_is_found(trials):
    rest = {key: log for key, log in trials.items() if key != ("red-first", 1)}
    bad = only(list(verify_log(rest, CONFIG)))
    assert (bad.learner, bad.rule, bad.trial) == ("learner", "red-first", 1)
    assert bad.reason == "missing: the log has no attempt of it"
    assert [v.ok for v in verify_log({}, CONFIG)] == [False] * 4


def test_a_trial_in_place_of_another_is_found(trials):
    """The better of two trials, handed in twice."""
    verdicts = list(verify_log({key: trials[key[0], 0] for key in trials}, CONFIG))
    assert [v.ok for v in verdicts] == [True, False, True, False]
    assert all("not the board that was assigned" in v.reason for v in verdicts if not v.ok)


def test_trials_that_were_not_assigned_are_found(trials):
    """Names may hold commands to a terminal, or what a database cannot keep."""
    more = trials | {("clockwise", 2): trials["clockwise", 1]}
    bad = only(list(verify_log(more, CONFIG)))
    assert (bad.rule, bad.trial, bad.reason) == ("clockwise", 2, "not a trial that was assigned")
    more = trials | {("red\x1b[2J\x00\u202e" + "x" * 300, 0): trials["clockwise", 1]}
    bad = only(list(verify_log(more, CONFIG)))
    assert len(bad.rule) == 64
    assert bad.rule.isprintable()


# -- a run folder ----------------------------------------------------------------------------------


def test_a_flipped_move_in_a_folder_is_found(folder):
    record = folder.trials()[2]
    log = folder.log(record)
    row = int(np.flatnonzero(log.outcomes == 0)[5])
    log.actions[row] = (log.actions[row] + 4) % 144
    forge(folder, record, log)
    bad = only(list(verify(folder.path)))
    assert (bad.rule, bad.trial) == ("red-first", 0)
    assert bad.episode == place_of(log, row)[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"episodes": b""}, "the recorded errors of each episode are not those of its attempts"),
        ({"error": "died"}, "missing: it failed: died"),
        ({"key": "a"}, "the recorded key is not that of this trial"),
    ],
)
def test_a_forged_row_is_found(folder, change, reason):
    forge(folder, folder.trials()[1], **change)
    bad = only(list(verify(folder.path)))
    assert (bad.rule, bad.trial) == ("clockwise", 1)
    assert bad.reason.startswith(reason)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE trials SET attempts = x'00'", "damaged: trial 1 of uniform on clockwise"),
        ("UPDATE trials SET wall_time_s = 9", "its row in the database is damaged"),
        ("DELETE FROM trials", "missing: it was not played"),
    ],
)
def test_a_damaged_row_is_found(folder, statement, reason):
    edit(folder, f"{statement} WHERE rule = 'clockwise' AND trial = 1")
    bad = only(list(verify(folder.path)))
    assert (bad.rule, bad.trial) == ("clockwise", 1)
    assert reason in bad.reason


@pytest.mark.parametrize("change", [{"rule": "clockwise"}, {"learner": "x"}])
def test_a_row_of_another_trial_is_found(folder, change):
    forge(folder, folder.trials()[3], **change)
    assert only(list(verify(folder.path))).reason == "its row is that of another trial"


@pytest.mark.parametrize("field", ["seed", "episodes", "horizon", "trials"])
def test_a_changed_config_is_refused(folder, field):
    def change(record):
        record[field] += 1

    forge_experiment(folder, change, hide=False)
    with pytest.raises(RunFolderError, match="experiment was changed"):
        list(verify(folder.path))
    forge_experiment(folder, lambda record: None, hide=True)
    # With the hash to match, no trial's key is right any more, or trials are missing.
    assert [v.ok for v in verify(folder.path)].count(True) == (4 if field == "trials" else 0)
    assert not all(v.ok for v in verify(folder.path))
    (reason,) = {v.reason for v in verify(folder.path, assignment=CONFIG)}
    assert reason.startswith(f"differs from the assignment: {field}: expected ")


def test_a_changed_rule_text_is_refused(folder):
    def change(record):
        record["rules"][0]["text"] = "(*,*,*,*,*)"

    forge_experiment(folder, change, hide=True)
    verdicts = list(verify(folder.path))
    assert [v.ok for v in verdicts] == [False, False, True, True]
    (reason,) = {v.reason for v in verify(folder.path, assignment=CONFIG)}
    assert reason == "differs from the assignment: rule 'clockwise': not the text expected"


def test_a_changed_rule_with_keys_to_match_still_has_other_boards(folder):
    """The boards hang on the rule's text: who swaps the rule must play again."""

    def change(record):
        record["rules"][0]["text"] = "(*,*,*,*,*)"

    played = folder.trials()
    forge_experiment(folder, change, hide=True)
    changed = Run.open(folder.path)
    assignment = changed.config
    for number in range(2):
        key = Trial.of(assignment, assignment.learners[0], assignment.rules[0], number).key
        forge(folder, played[number], key=key)
    bad = [v for v in verify(folder.path) if not v.ok]
    assert len(bad) == 2
    assert all("not the board that was assigned" in v.reason for v in bad)


def test_who_was_shown_the_rule_is_refused_on_the_board(tmp_path):
    config = ExperimentConfig("r", ["clockwise"], ["rule_player"], trials=1, episodes=3)
    folder = run(config, tmp_path)
    assert all(v.ok for v in verify(folder.path))
    (verdict,) = verify(folder.path, assignment=config)
    assert verdict.reason == "the learner was shown the rule"


def test_no_learner_of_a_strangers_config_is_made(folder, tmp_path):
    """A learner of the kind `process` is any program."""
    marker = tmp_path / "ran"

    def change(record):
        record["learners"] = [{"kind": "process", "name": "uniform", "command": f"touch {marker}"}]

    forge_experiment(folder, change, hide=True)
    assert not any(v.ok for v in verify(folder.path, assignment=CONFIG))
    list(verify(folder.path))
    assert not marker.exists()
