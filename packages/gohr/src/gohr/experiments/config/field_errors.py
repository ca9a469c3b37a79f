"""The errors of an experiment's fields, in one line that names the field.

Pydantic checks the types; its messages are rephrased, since they address programmers.
"""

from __future__ import annotations

from pydantic import ValidationError

from gnomon.errors import UnknownNameError, shortened
from gohr.errors import ConfigError

_NAME = "a name of printable characters"
_COUNT = "a whole number from 1 to 1,000,000"
_RANGE = "a whole number or [least, most]"
_FLAG = "true or false"
#: What each field of a file may be, in words that complete "expected ...".
_EXPECTED = {
    "name": _NAME,
    "rules": "a list of rules",
    "rules.name": "the name of a rule or of a file",
    "rules.text": "the text of a rule",
    "rules.hidden": _FLAG,
    "learners": "a list of learners",
    "learners.kind": "the name of a learner",
    "learners.name": _NAME,
    "learners.version": "the version of a learner of one's own",
    "learners.reveal": _FLAG,
    "trials": _COUNT,
    "episodes": _COUNT,
    "horizon": _COUNT,
    "seed": "a whole number of at least 0 and below 2**63",
    "board": "a table, [board]",
    "board.pieces": _RANGE,
    "board.shapes": _RANGE,
    "board.colors": _RANGE,
    "board.shape_palette": "a list of names",
    "board.color_palette": "a list of names",
    "board.files": "a list of board files",
    "board.boards": "lists of 36 codes",
    "board.trials": "a table of rules, each with the boards of every trial",
    "board.order": "'listed', 'alphabetical' or 'random'",
    "baseline": "the name of one of the rules",
    "trial_timeout_s": "a number of seconds above 0",
    "trial_memory_mb": _COUNT,
}
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def first_in_words(errors: ValidationError, *within: str) -> ConfigError:
    """Return one error of a file in one line: the field, the expected and the found value."""
    # An unknown field is often the cause of a missing one, so it is reported first.
    error = min(errors.errors(), key=lambda each: each["type"] not in _UNKNOWN)
    key, path, expected = "", [], "another value"
    for step in (*within, *error["loc"]):  # continues with the branches of a union
        if isinstance(step, int) and key in ("rules", "learners"):
            path.append(f"item {step + 1}")
            expected = "a name or a table"
        elif (longer := f"{key}.{step}".lstrip(".")) in _EXPECTED:
            key, expected = longer, _EXPECTED[longer]
            path.append(repr(step))
        else:
            break
    if error["type"] in _UNKNOWN:
        known = [name.rpartition(".")[2] for name in _EXPECTED if name.rpartition(".")[0] == key]
        return ConfigError(f"{_field(path)}{UnknownNameError('field', str(step), known)}")
    if error["type"] == "missing":
        return ConfigError(f"{_field(path[:-1])}missing field {path[-1]}; expected {expected}")
    try:
        found = shortened(repr(error["input"]))
    except ValueError:
        found = "a whole number too long to show"
    return ConfigError(f"{_field(path)}expected {expected}; found {found}")


def _field(path: list[str]) -> str:
    return f"field {', '.join(path)}: " if path else ""
