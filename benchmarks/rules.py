"""How fast rule texts are read, and that no text whatever does harm."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.record import Measurement, best_seconds
from gohr.errors import RuleSyntaxError
from gohr.rules import available_rules, explain, lint_text, load_rule_text, parse

N_FUZZED = 120_000
_PIECES = [
    *'()[],*1pT:.!-+<#{é"',
    *["red", "count", "pos", "bucket", "size", "code", "..", "==", "!!!", "((", "]]", "1..3"],
    *["p.color", "q.bucket", "Nearby", "this.pos", "postpos:T", "(*,*,*,*,1)", "[1,[2,3]]"],
    *["9999999999", " ", "\n", "\r", "\t", "\0", "\ufeff", "Order X="],
]

#: Texts that grow in one way each: how long each is made of n of its parts.
_GROWING: dict[str, Callable[[int], str]] = {
    "lines": lambda n: "(*, star, red, *, [0,1])\n" * n,
    "atoms of a line": lambda n: "(*, star, red, *, [0,1]) " * n,
    "items of a list": lambda n: "(*,*,*,*,[" + "1," * (10 * n) + "1])",
    "clauses of an atom": lambda n: "(" + "size:1, " * (3 * n) + "bucket:0)",
    "one name": lambda n: "(*," + "x" * (25 * n) + ",*,*,0)",
    "one number": lambda n: "(" + "9" * (25 * n) + ",*,*,*,0)",
    "blanks": lambda n: " \t" * (12 * n) + "(*,*,*,*,0)",
    "a comment": lambda n: "(*,*,*,*,0)#" + "x" * (25 * n),
    "open brackets": lambda n: "(*,*,*,*," + "[" * (25 * n),
    "an operator chain": lambda n: "(*,*,*,*,1" + "+1" * (12 * n) + ")",
}


def measure() -> Iterator[Measurement]:
    """Measure reading, growth with length, and many broken texts."""
    texts = [load_rule_text(name) for name in available_rules()]
    n_bytes = sum(map(len, texts))
    seconds = best_seconds(lambda: [parse(text) for text in texts])
    yield Measurement("parsing the catalogue", n_bytes / seconds / 1e6, "MB/s")
    seconds = best_seconds(lambda: [lint_text(text) for text in texts])
    yield Measurement("parsing and linting the catalogue", n_bytes / seconds / 1e6, "MB/s")
    yield from _growth()
    yield from _fuzz(texts)


def _growth() -> Iterator[Measurement]:
    """Time texts ten times as long: ten times the time, if it is linear."""
    ratios = {}
    for name, text in _GROWING.items():
        short, long = (best_seconds(partial(_outcome, text(n)), 5) for n in (2_000, 20_000))
        ratios[name] = long / short
    worst = max(ratios, key=lambda name: ratios[name])
    yield Measurement(
        "text ten times as long",
        ratios[worst],
        "times the time",
        30.0,
        higher_is_better=False,
        note=f"100 is quadratic; the worst of {len(ratios)} ways to grow, 50 to 500 kB: {worst}",
    )


def _fuzz(texts: list[str]) -> Iterator[Measurement]:
    """Read broken texts; whatever else than a RuleSyntaxError comes of one ends the benchmark."""
    rng = random.Random(1)
    n_parsed, slowest = 0, 0.0
    start = time.perf_counter()
    for number in range(N_FUZZED):
        text = _broken(texts, rng, number % 4)
        began = time.perf_counter()
        n_parsed += _outcome(text)
        lint_text(text)
        slowest = max(slowest, time.perf_counter() - began)
    rate = N_FUZZED / (time.perf_counter() - start)
    note = f"{N_FUZZED:,} texts, {n_parsed:,} of them rules; no other exception"
    yield Measurement("broken texts read, printed, explained, linted", rate, "texts/s", note=note)
    yield Measurement("the slowest of them", 1e3 * slowest, "ms")


def _broken(texts: list[str], rng: random.Random, kind: int) -> str:
    """Return random words, random bytes, random characters, or a real text with mistakes."""
    if kind == 0:
        return "".join(rng.choice(_PIECES) for _ in range(rng.randint(0, 30)))
    if kind == 1:
        return rng.randbytes(rng.randint(0, 60)).decode("utf-8", errors="replace")
    if kind == 2:
        return "".join(
            chr(rng.choice([rng.randrange(128), rng.randrange(0x110000)])) for _ in "x" * 40
        )
    text = list(rng.choice(texts))
    for _ in range(rng.randint(1, 4)):
        text[rng.randrange(len(text))] = rng.choice(_PIECES)
    return "".join(text)


def _outcome(text: str) -> bool:
    """Read a text, and check what comes of it; whether it is a rule."""
    try:
        rule_set = parse(text)
    except RuleSyntaxError:
        return False
    if parse(str(rule_set)) != rule_set:
        raise AssertionError(f"printed and read again, this is another rule: {text!r}")
    explain(rule_set)
    return True
