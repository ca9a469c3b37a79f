"""Sources of scores on the command line, and the two algorithms that may follow them.

A word is a source if it names one: a file, a folder or a data set that a reader recognises, or
``NAME=PATH``. Two words after the sources that name none are algorithms. So are two last words that
name folders, if the sources before them have algorithms of these names; ``./NAME`` is the folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.errors import GnomonError, ScoreDataError, listed

if TYPE_CHECKING:
    from gnomon.scores import ScoreTable

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        help="Files, folders or logs of scores; several are merged into one table. NAME=PATH names "
        "the algorithm of a source that contains one.",
    ),
]
SourcesAndPair = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        help="Files, folders or logs of scores (NAME=PATH names the algorithm of a source that "
        "contains one), optionally followed by two algorithms.",
    ),
]

#: Endings of files of scores: a word that has one is a file, unless it is an algorithm.
_ENDS = (".eval", ".json", ".jsonl", ".csv", ".tsv", ".parquet")
#: Endings of what is written for people.
_NEVER_READ = (".svg", ".png", ".pdf", ".html", ".md")
#: One source, several, or several that have the names of algorithms.
Places = Path | list[Path] | dict[str, Path]


def places_of(words: Sequence[str]) -> Places:
    """Return where scores lie, by the words that name the places: all of them have a name or none.

    Examples
    --------
    >>> places_of(["a.csv"]), places_of(["new=a.csv", "old=b.csv"])
    (PosixPath('a.csv'), {'new': PosixPath('a.csv'), 'old': PosixPath('b.csv')})
    """
    if not all(words):
        raise ScoreDataError("expected the name of a source of scores, found an empty word")
    named = [_named(word) for word in words]
    if not any(named):
        return Path(words[0]) if len(words) == 1 else [Path(word) for word in words]
    found: dict[str, Path] = {}
    for word, pair in zip(words, named, strict=True):
        if pair is None:
            example = next(word for word, pair in zip(words, named, strict=True) if pair)
            message = f"expected a name for each source, as in {example}, or for none"
            raise ScoreDataError(f"{word}: {message}")
        name, path = pair
        if name in found:
            raise ScoreDataError(f"{word}: expected different names of sources, found two {name!r}")
        found[name] = path
    return found


def _named(word: str) -> tuple[str, Path] | None:
    """Return name and place of a word NAME=PATH, unless there is a file of that whole name."""
    name, equals, path = word.partition("=")
    if not (name and equals and path) or Path(word).exists():
        return None
    return name, Path(path)


def is_read(path: Path, words: Sequence[str]) -> bool:
    """Return whether a file is a source, or stands in the folder of one.

    Pages and drawings in such a folder do not count, since no reader takes them.
    """
    if not path.exists():
        return False
    for word in words:
        place = (_named(word) or (word, Path(word)))[1]
        if place.is_dir():
            inside = place.resolve() in path.resolve().parents
            if inside and path.suffix.lower() not in _NEVER_READ:
                return True
        elif place.exists() and path.samefile(place):
            return True
    return False


def sources_and_pair(
    words: Sequence[str], read: Callable[[Sequence[str]], ScoreTable]
) -> tuple[list[str], tuple[str, str] | None]:
    """Separate the sources among some words from the two algorithms after them.

    `read` reads sources, where the names of files are also those of algorithms.
    """
    n = 1
    while n < len(words) and _is_source(words[n]):
        n += 1
    sources, names = [*words[:n]], [*words[n:]]
    lacking = [name for name in names if Path(name).suffix.lower() in _ENDS]
    if (lacking or len(names) != 2) and _are_algorithms(words[-2:], words[:-2], read):
        return [*words[:-2]], (words[-2], words[-1])
    if lacking:
        raise ScoreDataError(f"{lacking[0]}: expected a file of scores; there is none")
    if names and len(names) != 2:
        raise ScoreDataError(
            f"expected two algorithms after the sources ({listed(sources, 3)}), or none; found "
            f"{listed(names)}, not a file or folder of scores"
        )
    return sources, (names[0], names[1]) if names else None


def _are_algorithms(
    names: Sequence[str], sources: Sequence[str], read: Callable[[Sequence[str]], ScoreTable]
) -> bool:
    """Return whether the sources contain these algorithms, and no file has such a name."""
    if not sources or any(Path(name).is_file() or _named(name) for name in names):
        return False
    with suppress(GnomonError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {*names} <= {*read(sources).algorithms}
    return False


def _is_source(word: str) -> bool:
    """Return whether a word names scores that a reader recognises."""
    from gnomon.scores.readers.registry import is_recognised

    named = _named(word)
    if named is not None:
        return named[1].exists()
    return is_recognised(Path(word))
