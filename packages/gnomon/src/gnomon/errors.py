"""Exceptions and warnings, and the wording of their messages.

An error states what was expected, what was found, and where. The user can correct every error here
(a text, a name, a file), so the command line prints its message alone, without a traceback, and
exits with status 2. Text from files is shortened in messages, and control characters are escaped.
Mistakes in a program that calls Gnomon raise ``TypeError`` or ``ValueError``.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import SupportsFloat, SupportsIndex

#: Where the modules of Gnomon are.
_PACKAGE = os.path.dirname(__file__) + os.sep


class GnomonError(Exception):
    """An error in the input that its author can correct; the message states where and how."""


class UnknownNameError(GnomonError):
    """A name that is not in the list it was looked up in; the nearest names are offered.

    If a file was looked for as well, and the name looks like one, the message has its folder.

    Examples
    --------
    >>> print(UnknownNameError("rule", "clockwize", ["clockwise", "color-match"]))
    unknown rule 'clockwize'; did you mean 'clockwise'?
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        base: str | os.PathLike[str] | None = None,
    ) -> None:
        import difflib  # rarely needed

        known, name = list(known), str(name)
        same = [x for x in known if x.strip().casefold() == name.strip().casefold()]
        near = same or difflib.get_close_matches(name, known, n=3)
        if near:
            hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
        else:
            hint = f"known: {listed(sorted(known)) or 'none'}"
        folder, file = os.path.split(name)
        if base is not None and (folder or "." in file):
            folder = os.path.abspath(os.path.join(base, folder))
            hint = f"there is no such file in {visible(folder)}; {hint}"
        self.kind = kind
        self.name = name
        self.near = near
        super().__init__(f"unknown {kind} {shortened(name)!r}; {hint}")


class UnknownWordError(UnknownNameError, ValueError):
    """An argument that takes one of several words was given another."""

    def __init__(self, argument: str, word: str, accepted: Iterable[str]) -> None:
        accepted = list(accepted)
        super().__init__(argument, word, accepted)
        if self.near:
            self.args = (f"{self.args[0]} (accepted: {', '.join(accepted)})",)


def check_word(argument: str, word: object, accepted: Iterable[str]) -> None:
    """Raise :class:`UnknownWordError` unless an argument is one of its accepted words.

    Parameters
    ----------
    argument : str
        The name of the argument, as the caller knows it.
    word : object
        What was given.
    accepted : iterable of str
        The accepted words.

    Examples
    --------
    >>> check_word("resampling", "runs", ("runs", "runs_and_tasks"))
    >>> check_word("resampling", "runs-and-tasks", ("runs", "runs_and_tasks"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gnomon.errors.UnknownWordError: unknown resampling 'runs-and-tasks'; ...
    """
    accepted = list(accepted)
    if word not in accepted:
        raise UnknownWordError(argument, str(word), accepted)


#: With fewer, a bootstrap says little of a standard error (Efron and Tibshirani 1993, section 6.4).
LEAST_RESAMPLES = 25


def check_resamples(n_resamples: int) -> int:
    """Check a number of bootstrap resamples, and return it."""
    if n_resamples < LEAST_RESAMPLES:
        raise ValueError(f"expected at least {LEAST_RESAMPLES} resamples, found {n_resamples}")
    return n_resamples


def check_level(level: float) -> None:
    """Raise ValueError or TypeError unless a confidence level is between 0 and 1."""
    check_type("level", level, SupportsFloat, "a number between 0 and 1")
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level between 0 and 1, found {level}")


def check_count(argument: str, n: int, least: int = 1) -> None:
    """Raise ValueError or TypeError unless an argument is a whole number, `least` or more."""
    check_type(argument, n, SupportsIndex, "a whole number")
    if n < least:
        raise ValueError(f"{argument}: expected at least {least}, found {n}")


def check_type(argument: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Raise TypeError unless an argument is of a kind; `expected` names it and how to get one.

    Examples
    --------
    >>> check_type("text", 5, str, "the text of a rule")
    Traceback (most recent call last):
    TypeError: text: expected the text of a rule, found 5
    """
    if not isinstance(value, kind):
        raise TypeError(f"{argument}: expected {expected}, found {shortened(repr(value))}")


class ScoreDataError(GnomonError):
    """A table of scores that cannot be read as one: which row, which column, what was expected."""


class GnomonWarning(UserWarning):
    """Base of the warnings: the command line prints their message on one line."""


class DegenerateScoresWarning(GnomonWarning):
    """Scores that do not permit the requested result, such as an interval from a single run.

    What could not be estimated is NaN in the result, which a report prints as "not estimable".
    """


_ON_COMMAND_LINE = ContextVar("on_command_line", default=False)
#: Arguments whose options on the command line have other names.
_OPTIONS = {
    "metric": "score", "metrics": "metric", "columns": "column", "n_studies": "studies",
}  # fmt: skip


@contextmanager
def on_command_line() -> Iterator[None]:
    """Phrase remedies as options of the command line instead of arguments of a call."""
    token = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(token)


def option(**arguments: object) -> str:
    """Return arguments as the caller writes them: in Python, or as options on the command line.

    Examples
    --------
    >>> option(columns={"run": "id"}, columns_are="tasks")
    "columns={'run': 'id'}, columns_are='tasks'"
    >>> with on_command_line():
    ...     option(columns={"run": "id"}, columns_are="tasks", metric="eval return")
    "--column run=id --columns-are tasks --score 'eval return'"
    """
    if not _ON_COMMAND_LINE.get():
        return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    words = []
    for name, value in arguments.items():
        word = "--" + _OPTIONS.get(name, name).replace("_", "-")
        pairs = value.items() if isinstance(value, Mapping) else ()
        if value is True:
            words.append(word)
        elif pairs:
            words += [f"{word} {shlex.quote(f'{key}={each}')}" for key, each in pairs]
        else:
            words.append(f"{word} {shlex.quote(str(value))}")
    return " ".join(words)


def either(python: str, command: str) -> str:
    """Return the words for a caller in Python, or those for the command line."""
    return command if _ON_COMMAND_LINE.get() else python


def reading(file: str | None, **arguments: object) -> str:
    """Return the call or command that reads a file, or a table in memory, with some arguments.

    Examples
    --------
    >>> reading("a.csv", within_run="mean")
    "read_scores('a.csv', within_run='mean')"
    """
    if _ON_COMMAND_LINE.get():
        return f"gnomon read {shlex.quote(file or 'SOURCE')} {option(**arguments)}"
    return f"read_scores({repr(file) if file else 'table'}, {option(**arguments)})"


def several(found: Sequence[str], noun: str = "score") -> str:
    """Return a message about several scores of which one has to be named, and how."""
    shown = shortened(joined(found) if len(found) <= 6 else listed(found, 6), 160)
    return f"expected one {noun}; found {shown}: choose one, as in {option(metric=found[0])}"


def note(text: str) -> None:
    """Warn about scores; the warning points to the line that called Gnomon."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, DegenerateScoresWarning, stacklevel=level)


def joined(words: Sequence[str], last: str = "and") -> str:
    """Return names as a phrase, with commas and a word before the last."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    return f"{n:,} {noun if n == 1 else noun + 's'}"


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return names separated by commas, the first `most` at most."""
    names = list(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def visible(text: str, *, kept: str = "\n\t\xa0") -> str:
    """Return a text with unprintable characters, except those in `kept`, as escapes.

    Names and texts come from files. Control characters in them could change the title of a
    terminal, hide a line, or reverse the direction of writing.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text
    )


def shortened(text: str, most: int = 60) -> str:
    """Return a text, if it is too long only its beginning and end."""
    if len(text) <= most:
        return text
    end = (most - 3) // 3
    return f"{text[: most - 3 - end]}...{text[-end:]}"
