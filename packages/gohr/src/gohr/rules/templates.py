"""Families of rules from one text with gaps, each gap filled with each of its values.

A template is a rule text in which ``{name}`` marks a gap; a comment at its head lists the values::

    # name: {shape}-to-{bucket}
    # vary shape: shapes
    # vary bucket: 0 | 2
    # distinct: a, b
    (*, {shape}, *, *, {bucket})

Braces have no meaning in the rule language, so that a gap is never mistaken for anything else.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import GnomonError, UnknownNameError, check_type
from gnomon.results import generator
from gnomon.text_files import read_text
from gohr.errors import RuleSyntaxError
from gohr.rules.orders import BUILT_IN_ORDERS
from gohr.rules.parser import parse
from gohr.rules.syntax import COLORS, SHAPES

if TYPE_CHECKING:
    import numpy as np

#: Lists of values that have a name.
_NAMED_VALUES: Mapping[str, tuple[str, ...]] = {
    "shapes": tuple(map(str.lower, SHAPES)),
    "colors": tuple(map(str.lower, COLORS)),
    "buckets": ("0", "1", "2", "3"),
    "orders": tuple(BUILT_IN_ORDERS),
}
#: A template that makes more rules than this is surely not meant.
_MAX_RULES = 10_000
_MOST_DRAWS = 10_000

_GAP = re.compile(r"\{([A-Za-z_]\w*)\}")
_VARY = re.compile(r"#\s*vary\s+([A-Za-z_]\w*)\s*:(.*)")
_DISTINCT = re.compile(r"#\s*distinct\s*:(.*)")
_NAME = re.compile(r"#\s*name\s*:(.*)")
_RANGE = re.compile(r"(\d{1,4})\.\.(\d{1,4})")
#: Names of files, which must not lead out of their folder.
_FILE_NAME = re.compile(r"\w[\w .,+-]{0,99}")


@dataclass(frozen=True, slots=True)
class GeneratedRule:
    """One rule of a family: its name, its text with comments, and the values of the gaps."""

    name: str
    text: str
    values: Mapping[str, str]


def available_templates() -> tuple[str, ...]:
    """Return the names of the templates that come with Gnomon.

    Examples
    --------
    >>> "cycle-of-two" in available_templates()
    True
    """
    names = (path.name for path in _library().iterdir())
    return tuple(sorted(n.removesuffix(".txt") for n in names if n.endswith(".txt")))


def load_template(name_or_path: str | Path) -> str:
    """Return the text of a template by its name, or else of a file.

    Raises
    ------
    UnknownNameError
        If it is neither, with the nearest names.
    GnomonError
        If the file cannot be read, or is not UTF-8 text.

    Examples
    --------
    >>> load_template("cycle-of-two").splitlines()[-1]
    '(1, *, *, *, {second})'
    """
    name = str(name_or_path)
    if name in available_templates():
        return (_library() / f"{name}.txt").read_text(encoding="utf-8")
    if os.path.isfile(name):
        return read_text(Path(name), noun="template")
    raise UnknownNameError("template or file", name, available_templates())


def draw_rules(template: str, *, name: str = "rule") -> Iterator[GeneratedRule]:
    """Fill the gaps of a template in all possible ways.

    Parameters
    ----------
    template : str
        Text with gaps ``{name}``, and for each a comment ``# vary name: values``. Values are
        separated by ``|``; ``1..4`` counts, and ``shapes``, ``colors``, ``buckets``, ``orders`` are
        lists of their own. ``# distinct: a, b`` keeps gaps from having the same value.
    name : str, optional
        Family of the rules of a template that does not name them.

    Yields
    ------
    GeneratedRule
        In the order of the values, the last gap varying fastest. The texts parse.

    Raises
    ------
    GnomonError
        For a gap without values, values without a gap, more than 10,000 rules, two rules of one
        name.
    RuleSyntaxError
        If a text does not parse once its gaps are filled.

    Examples
    --------
    >>> template = '''# name: {a}-then-{b}
    ... # vary a: buckets
    ... # vary b: buckets
    ... # distinct: a, b
    ... (1,*,*,*,{a})
    ... (1,*,*,*,{b})'''
    >>> [rule.name for rule in draw_rules(template)][:4]
    ['0-then-1', '0-then-2', '0-then-3', '1-then-0']
    """
    check_type("template", template, str, "the text of a template")
    read = _read_template(template)
    if (n_rules := math.prod(map(len, read.gaps.values()))) > _MAX_RULES:
        raise GnomonError(f"expected at most {_MAX_RULES} rules, found {n_rules}")
    number = 0
    seen: set[str] = set()
    for chosen in itertools.product(*read.gaps.values()):
        values = dict(zip(read.gaps, chosen, strict=True))
        if not read.allows(values):
            continue
        number += 1
        rule_name = _fill(read.pattern, values) or f"{name}-{number}"
        if rule_name in seen:
            raise GnomonError(
                f"expected a name for each rule, found '{rule_name}' twice; "
                "use all gaps that vary in '# name:'"
            )
        seen.add(rule_name)
        yield GeneratedRule(rule_name, _parsed(_fill(read.body, values), rule_name), values)


def draw_rule(template: str, *, rng: np.random.Generator | int = 0) -> GeneratedRule:
    """Fill the gaps of a template at random: each way that it allows is as probable as any other.

    Parameters
    ----------
    template : str
        As for :func:`draw_rules`; it may make any number of rules.
    rng : numpy.random.Generator or int
        Draws the values, or is the seed for them.

    Returns
    -------
    GeneratedRule

    Raises
    ------
    GnomonError, RuleSyntaxError
        As :func:`draw_rules`; and if ten thousand fillings are not distinct where they must be.

    Examples
    --------
    >>> draw_rule(load_template("cycle-of-two")).name
    'b3-then-b2'
    """
    read, rng = _read_template(template), generator(rng)
    for _ in range(_MOST_DRAWS):
        values = {gap: options[rng.integers(len(options))] for gap, options in read.gaps.items()}
        if read.allows(values):
            rule_name = _fill(read.pattern, values) or "rule"
            return GeneratedRule(rule_name, _parsed(_fill(read.body, values), rule_name), values)
    raise GnomonError(f"expected distinct values of {read.distinct}, found none in {_MOST_DRAWS}")


@dataclass(frozen=True, slots=True)
class _Template:
    """The values of each gap, those that must differ, the text, and how rules are named."""

    gaps: Mapping[str, tuple[str, ...]]
    distinct: list[tuple[str, ...]]
    body: str
    pattern: str

    def allows(self, values: Mapping[str, str]) -> bool:
        return all(len({values[gap] for gap in group}) == len(group) for group in self.distinct)


def _read_template(template: str) -> _Template:
    gaps = {gap: _values(gap, listed) for gap, listed in _heads(template, _VARY)}
    distinct = [
        tuple(name.strip() for name in listed.split(","))
        for (listed,) in _heads(template, _DISTINCT)
    ]
    pattern = next((line.strip() for (line,) in _heads(template, _NAME)), "")
    body = "\n".join(
        line
        for line in template.split("\n")
        if not any(head.fullmatch(line.strip()) for head in (_VARY, _DISTINCT, _NAME))
    )
    _check_gaps(gaps, body, pattern, distinct)
    return _Template(gaps, distinct, body, pattern)


def _heads(template: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, ...]]:
    """Yield the groups of each comment line of one kind."""
    for line in template.split("\n"):
        if match := pattern.fullmatch(line.strip()):
            yield match.groups()


def _values(gap: str, listed: str) -> tuple[str, ...]:
    """Read the values of a gap."""
    text = listed.strip()
    if text in _NAMED_VALUES:
        return _NAMED_VALUES[text]
    if match := _RANGE.fullmatch(text):
        low, high = map(int, match.groups())
        text = "|".join(map(str, range(low, high + 1)))
    values = tuple(value.strip() for value in text.split("|"))
    if not all(values):
        raise GnomonError(f"expected values between '|' for '{gap}', found '{listed.strip()}'")
    return values


def _check_gaps(
    gaps: Mapping[str, tuple[str, ...]], body: str, pattern: str, distinct: list[tuple[str, ...]]
) -> None:
    used = _GAP.findall(body)
    for gap in [*used, *_GAP.findall(pattern), *itertools.chain(*distinct)]:
        if gap not in gaps:
            raise GnomonError(
                f"expected values for {{{gap}}}, found none; write '# vary {gap}: ...'"
            )
    for gap in gaps:
        if gap not in used:
            raise GnomonError(f"expected a gap {{{gap}}} in the rule, found none for these values")


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _GAP.sub(lambda match: values[match.group(1)], text)


def _parsed(text: str, name: str) -> str:
    """Return a text if it parses."""
    try:
        parse(text)
    except RuleSyntaxError as error:
        raise error.in_file(name) from None
    return text


def _library() -> resources.abc.Traversable:
    return resources.files("gohr.rules") / "library" / "templates"


def template_records() -> list[dict[str, str | int]]:
    """Return a record for each template of the library: its name, number of rules, description."""
    records: list[dict[str, str | int]] = []
    for name in available_templates():
        text = load_template(name)
        said = [line for line in text.split("\n") if line.startswith("# sentence:")]
        sentence = said[0].partition(":")[2].strip() if said else ""
        n_rules = sum(1 for _ in draw_rules(text, name=name))
        records.append({"template": name, "rules": n_rules, "sentence": sentence})
    return records


def write_rules(family: Sequence[GeneratedRule], folder: Path) -> None:
    """Write each rule to a file of its name in a new folder.

    Raises GnomonError if there is such a folder or file, or a name is not fit for a file.
    """
    for rule in family:
        if not _FILE_NAME.fullmatch(rule.name):
            raise GnomonError(f"expected a name for a file in '# name:', found {rule.name!r}")
    try:
        folder.mkdir(parents=True)
        for rule in family:
            (folder / f"{rule.name}.txt").write_text(rule.text, encoding="utf-8")
    except FileExistsError:
        raise GnomonError(f"{folder}: expected a new folder, found an existing one") from None
    except OSError as error:
        where = error.filename or folder
        raise GnomonError(f"{where}: cannot write these rules: {error.strerror}") from None
