"""Tables of outcomes: files of this package, and those of the reference project's scripts.

The reference project counts test boards over the candidates of one request, so 10 of 15 solved
are the answers of three candidates to five boards each: about three yes/no answers, not fifteen.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any

from gnomon.errors import ScoreDataError, check_word, either
from gnomon.text_files import read_text
from gohr.experiments.entries import RuleEntry
from gohr.experiments.progress import is_run_folder
from gohr.experiments.suites import load_suite
from gohr.induction.conclusions import NOT_TESTED
from gohr.induction.diagnosis import OWN, Induction, Outcome
from gohr.induction.players import outcome_of
from gohr.induction.testers import RuleTrial, evidence
from gohr.outcomes import ACCEPTED
from gohr.people.mastery import TARGET_STREAK, attempts_to_master
from gohr.people.transcripts import is_transcript, read_transcripts, text_of_rule

_Row = Mapping[str, str]
#: The table in the export of a study with test boards.
_OUTCOMES = "outcomes.csv"
_N_AGGREGATE = 13
#: Test boards on which the evidence of people is set against the observer's own.
_N_TESTS = 5
_M_STAR = re.compile(r"Infinity(?:\(\d+\))?|\d+(?:\.\d+)?")


def read_outcomes(*sources: str | Path) -> Induction:
    r"""Read outcomes from tables, transcripts of people and logs of Inspect.

    These are read: what :meth:`Induction.write` writes; logs of the task ``gohr/rule_learning``,
    which need the extra ``inspect``; transcripts of people, or the folder of a study's export; and
    the files of the reference project: its table of runs
    (``#path,rule,...``), its aggregates of 13 columns, its tables of prepared runs
    (``#ruleSetName,...``) and its published figures (``table,group,rule,condition,...``).

    Parameters
    ----------
    *sources : path

    Returns
    -------
    Induction
        The outcomes of all files. A published table has no evidence, so it is not set against an
        ideal observer; nor is a transcript of an unknown rule, or read as a file and not as a
        folder with its table of boards. People are one player; transcripts have no test boards.
        Only ``outcomes.csv`` is read from the export of a study with test boards.

    Raises
    ------
    ScoreDataError
        A file is none of these, or a cell cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "runs.csv")
    ...     _ = path.write_text(
    ...         "#path,rule,won,trainEpisodes,trainMoves,testBoards\n"
    ...         "seed-1/gemini-cw-seed1.txt,cw,1,3,35,5/5\n"
    ...     )
    ...     [one] = read_outcomes(path)
    >>> one.rule, one.n_solved, one.m_star
    ('cw', 5, 25.0)
    """
    return Induction(tuple(one for source in sources for one in _of_source(Path(source))))


def _of_source(path: Path) -> Iterator[Outcome]:
    if is_run_folder(path):
        remedy = either("outcomes_of_run(Run.open(path))", f"gohr report {path} --conclude-after N")
        raise ScoreDataError(f"{path}: expected outcomes, found a run; {remedy} measures them")
    if (path / _OUTCOMES).is_file():
        path = path / _OUTCOMES
    if any(map(is_transcript, path.glob("*.csv") if path.is_dir() else (path,))):
        yield from _of_people(path)
        return
    if path.is_dir() or path.suffix in (".eval", ".json"):
        yield from _of_logs(path)
        return
    yield from _of_table(read_text(path, noun="table of outcomes", error=ScoreDataError), path)


def measured_outcomes(suite: str = "gohr-basic") -> Induction:
    """Return the outcomes of built-in learners on a suite that come with gohr.

    They are of own and random attempts on 1, 5 and 20 boards. The documentation has the commands
    that make them.

    Parameters
    ----------
    suite : {"gohr-basic", "gohr-induction"}

    Raises
    ------
    UnknownNameError
        If there are no outcomes on the suite.

    Examples
    --------
    >>> found = measured_outcomes()
    >>> min(one.solved for one in found if one.player == "ideal" and one.n_boards == 20)
    1.0
    """
    check_word("suite", suite, ("gohr-basic", "gohr-induction"))
    packed = resources.files("gohr.induction") / "measured.csv.gz"
    text = gzip.decompress(packed.read_bytes()).decode()
    rules = load_suite(suite).rules
    found = _of_table(text, Path(packed.name))
    return Induction(tuple(one for one in found if one.rule in rules))


def _of_table(text: str, path: Path) -> Iterator[Outcome]:
    lines = [(n, cells) for n, cells in enumerate(csv.reader(text.splitlines()), start=1) if cells]
    if not lines:
        raise ScoreDataError(f"{path}: expected a table of outcomes, found an empty file")
    header = [name.strip() for name in lines[0][1]]
    reader = next(
        (read for names, read in _HEADERS.items() if header[: len(names)] == [*names]), None
    )
    if reader is None and len(header) == _N_AGGREGATE and header[6].startswith("["):
        header, reader = [*_AGGREGATE], _of_aggregate
    else:
        lines = lines[1:]
    if reader is None:
        raise ScoreDataError(
            f"{path}: expected outcomes of gohr induction, or a table of the reference project; "
            f"found the columns {', '.join(header[:6])}"
        )
    for number, cells in lines:
        if len(cells) < len(header) - 1:  # the last column may be left out
            raise ScoreDataError(
                f"{path}, row {number}: expected {len(header)} cells, found {len(cells)}"
            )
        try:
            yield from reader(dict(zip(header, cells, strict=False)))
        except ValueError as error:
            raise ScoreDataError(f"{path}, row {number}: {error}") from None


def _outcome(player: str, tester: str, rule: str, **known: Any) -> Outcome:
    """Return an outcome of which a table has only some fields."""
    return Outcome(player, tester, rule, load_suite("gohr-basic").group_of(rule), **known)


def _of_own(row: _Row) -> Iterator[Outcome]:
    types = {"str": str, "int": int, "float": float}
    yield Outcome(
        **{field.name: types[str(field.type)](row[field.name]) for field in fields(Outcome)}
    )


def _of_run(row: _Row) -> Iterator[Outcome]:
    """Read a line such as ``seed-1/gemini-cw-seed1.txt,cw,1,3,35,5/5``."""
    rule, before = row["rule"], row.get("rule_set_conditions", "")
    stem = Path(row["#path"]).stem
    seed = re.search(r"seed(\d+)", stem)
    n_attempts, won = int(row["trainMoves"]), row["won"].strip().lower() in ("1", "true")
    yield _outcome(
        stem.partition(f"-{rule}")[0],
        f"{OWN} after {before}" if before else OWN,
        rule,
        trial=int(seed[1]) if seed else 0,
        n_attempts=n_attempts,
        m_star=float(n_attempts - TARGET_STREAK) if won else math.inf,
        **_boards(*row["testBoards"].split("/")),
    )


#: Columns of an aggregate, which has no header.
_AGGREGATE = (
    *("run", "player", "rule", "before", "attempts", "streak", "m_stars", "median", "harmonic"),
    *("parameter", "solved", "boards", "share"),
)


def _of_aggregate(row: _Row) -> Iterator[Outcome]:
    tester = f"{OWN} after {row['before']}" if row["before"] else OWN
    common = row["player"], tester, row["rule"]
    for trial, value in enumerate(_M_STAR.findall(row["m_stars"])):
        yield _outcome(*common, trial=trial, m_star=_m_star(value))
    yield _outcome(*common, **_boards(row["solved"], row["boards"]))


def _of_prepared(row: _Row) -> Iterator[Outcome]:
    """Read a model's tests after random attempts, or after those of a person."""
    by_person = "playerId" in row
    yield _outcome(
        "model",
        f"person {row['playerId']}" if by_person else "random",
        row["#ruleSetName"],
        trial=int(row["seriesNo" if by_person else "seed"]),
        n_boards=int(row["episodes" if by_person else "trainingEpisodes"]),
        n_attempts=int(row["trainingMoves"]),
        **_boards(row["botClearedTestBoards"], row["botAllTestBoards"]),
    )


def _of_mastery(row: _Row) -> Iterator[Outcome]:
    # These count from one: the number of the attempt with which the streak began.
    yield _outcome("model", OWN, row["#ruleId"], m_star=_m_star(row["mStar10"]) - 1)


#: The published tables that are read, by their instructions: the others repeat them.
_PUBLISHED = {
    ("groups", "without examples (b)"): "random",
    ("same-seed", "with examples (a)"): "random, rules explained",
    ("other-seeds", "without examples (b)"): "random, a seed for each",
    ("groups", ""): OWN,
}


def _of_figure(row: _Row) -> Iterator[Outcome]:
    tester = _PUBLISHED.get((row["table"], row["instructions"]))
    if tester is None or not row["value"]:
        return
    player = f"{row['model'].partition(' (')[0]} (published)"
    if row["measure"] == "m_star":
        yield _outcome(player, tester, row["rule"], m_star=_m_star(row["value"]))
    elif row["measure"] == "test boards cleared":
        boards = _boards(row["value"], row["out_of"])
        yield _outcome(
            player, tester, row["rule"], n_boards=int(row["prepared_episodes"]), **boards
        )


_HEADERS: Mapping[tuple[str, ...], Callable[[_Row], Iterator[Outcome]]] = {
    tuple(field.name for field in fields(Outcome)): _of_own,
    ("#path", "rule"): _of_run,
    ("#ruleSetName", "seed"): _of_prepared,
    ("#ruleSetName", "playerId"): _of_prepared,
    ("#ruleId", "mStar10"): _of_mastery,
    ("table", "group", "rule", "condition"): _of_figure,
}


def _boards(solved: str, boards: str) -> dict[str, Any]:
    found = {"n_solved": int(solved), "n_tests": int(boards)}
    if not 0 <= found["n_solved"] <= found["n_tests"]:
        raise ValueError(f"expected at most {boards} boards solved, found {solved}")
    return found


def _m_star(text: str) -> float:
    """Return m*, infinite for ``Infinity`` and for ``Infinity(300)``, not mastered in 300."""
    return math.inf if text.startswith("Infinity") else float(text)


def _of_people(path: Path) -> Iterator[Outcome]:
    """Read each series of a transcript, or of a folder of them with boards and ``rules/*.txt``."""
    met: Counter[str] = Counter()
    for series in read_transcripts(path):
        log, name, number = series.log, series.rule, met[series.rule]
        met[name] += 1
        text = text_of_rule(name, path / "rules")
        if not series.boards_known or text is None:
            m_star = attempts_to_master(log.outcomes == ACCEPTED)
            known = {"trial": number, "n_attempts": len(log.actions), "m_star": m_star}
            yield _outcome("people", OWN, name, **known)
            continue
        group = load_suite("gohr-basic").group_of(name)
        trial = RuleTrial(RuleEntry(name, text), number, group=group)
        try:
            shown = evidence(trial, log, len(log.boards))
        except ValueError as error:
            raise ScoreDataError(f"{path}, {series.player} on {name}: {error}") from None
        tests = trial.boards("test", _N_TESTS)
        yield outcome_of("people", OWN, trial, shown, NOT_TESTED, tests, n_boards=0)


def _of_logs(path: Path) -> Iterator[Outcome]:
    """Read the samples of a log of Inspect, or of all logs in a folder."""
    try:
        from inspect_ai.log import list_eval_logs, read_eval_log
    except ImportError:
        raise ScoreDataError(
            f"{path}: logs of Inspect need it installed: pip install 'gohr[inspect]'"
        ) from None
    places = [path] if path.is_file() else [entry.name for entry in list_eval_logs(str(path))]
    for place in places:
        log = read_eval_log(str(place))
        for sample in log.samples or ():
            graded = (sample.scores or {}).get("graded_tests")
            record = graded.metadata.get("outcome") if graded and graded.metadata else None
            if record is None:
                raise ScoreDataError(f"{place}: expected a log of the task gohr/rule_learning")
            yield Outcome(
                **{name: _number(value) for name, value in record.items()}
                | {"player": log.eval.model}
            )


def _number(value: Any) -> Any:
    """Return a number that JSON has as null or text."""
    return math.nan if value is None else math.inf if value == "inf" else value
