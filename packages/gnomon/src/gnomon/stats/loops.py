"""Loops of candidates: keep, discard or run again, with a bound on the error of the whole loop.

A loop tries one candidate after another and keeps those that are better than its baseline. A kept
candidate becomes the baseline, and the others under test are discarded, since they were compared
with the former one. Each candidate passes up to three stages.

1. *Screen.* Its first run is compared with the median of recent runs of the baseline. A discard
   makes no claim, so it uses up no error; the threshold rises when runs become scarce.
2. *Test.* The candidate and the baseline are run in pairs, in random order. If the candidate is not
   better, the difference `d` of a pair is no more likely to be positive than negative, whatever the
   noise and its drift. A bet on an effect of `g` standard deviations `s` of the noise multiplies
   the wealth by 2 / (1 + exp(-g d / s)), at most one on average. The wealth reaches 1 / a with
   probability at most a, at any number of pairs (Ville 1939). Then the candidate is kept. It is
   discarded when its wealth falls behind.
3. *Gain.* A fixed number of fresh pairs with the first baseline, run after the decision, measures
   the gain, so selection does not inflate it.

A test is given a share of the error that is left: x / (H + X), where x is the square of the lead of
its first run in standard deviations, X the sum of these squares so far and H a constant. The first
runs are no evidence in the tests, so that the shares may depend on them; they sum to at most one.
For the false discovery rate a share is multiplied by one plus the number kept (e-LOND); for the
family-wise error, the share of a kept candidate is given back (as in online fallback).

References
----------
Ville (1939), Etude critique de la notion de collectif. Xu and Ramdas (2024), Online multiple
testing with e-values, AISTATS (e-LOND). Tian and Ramdas (2021), Statistical Methods in Medical
Research 30:976 (online fallback).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import deque
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import fmean, median
from typing import Self, SupportsFloat

from gnomon.errors import (
    GnomonError,
    ScoreDataError,
    UnknownNameError,
    check_level,
    check_type,
    counted,
)
from gnomon.printing import percent, value_in_brackets
from gnomon.results import FieldRecord, Results, Row, made_by
from gnomon.scores.readers.runs import read_runs
from gnomon.stats.distributions import student_quantile
from gnomon.text_files import read_text, write_atomically

#: Default errors: the false discovery rate, and the probability of any false keep.
FALSE_SHARE, ANY_FALSE = 0.10, 0.05

# Chosen by simulation (`benchmarks/loops.py`); none affects the error.
#: Standard deviations above the baseline that a first run must reach.
SCREEN = 1.0
#: Runs per candidate that are aimed at, and the excess that raises the screen by one.
RUNS_PER_CANDIDATE, EXCESS = 1.85, 10.0
#: The effect that is bet on, in standard deviations of the noise.
EFFECT = 2.0
#: A test ends when the logarithm of the wealth is below GROWTH times the pairs, minus CREDIT.
GROWTH, CREDIT = 0.1, 1.0
#: Half of the error is spent on tests whose squared leads add up to HALF; each is at most
#: MOST_SQUARE.
HALF, MOST_SQUARE = 25.0, 16.0
#: A first run is compared with this many recent runs of the baseline. After this many other runs,
#: a run of the baseline is due.
RECENT, DUE = 8, 10
#: Differences of consecutive runs of the baseline from which the noise is estimated: the first
#: estimate needs three, and later ones use the last 200.
LEAST_STEPS, MOST_STEPS = 3, 200
#: Median absolute difference of two normal values, in their standard deviation: z(3/4) * sqrt(2).
MEDIAN_STEP = 0.9539
#: Fresh pairs that measure a gain.
GAIN_PAIRS = 3
#: Of the file of a loop: its version, and the settings in it.
VERSION, SETTINGS = 2, ("familywise", "error", "higher_is_better")


@dataclass(frozen=True)
class LoopDecision(FieldRecord):
    """What to do with a candidate.

    Parameters
    ----------
    candidate : str
    decision : {"keep", "discard", "again"}
        ``again``: more runs are needed.
    run : tuple of str
        What to run before the next candidate, in this order: names of the candidate and of
        baselines. Empty if nothing is needed.
    n_runs : int
        Runs of the candidate.
    ahead : float
        Its first run minus the median of recent runs of the baseline, above 0 if better; NaN until
        they are compared.
    e_value, error : float
        The evidence that it is better, and the error of its test: it is kept if `e_value` reaches
        ``1 / error``. NaN if it was not tested.
    value, low, high : float
        The gain of a kept candidate over the first baseline, above 0 if better, with its interval,
        from fresh pairs; NaN until they are complete.
    """

    candidate: str
    decision: str
    run: tuple[str, ...]
    n_runs: int
    ahead: float
    e_value: float
    error: float
    value: float
    low: float
    high: float

    def __str__(self) -> str:
        what = {"keep": "Keep", "discard": "Discard", "again": "Run again"}[self.decision]
        return f"{what}: {self.candidate}." + (f" Run {', '.join(self.run)}." if self.run else "")


@dataclass(frozen=True, eq=False, repr=False)
class LoopDecisions(Results[LoopDecision]):
    """The first baseline, and the decisions on all candidates in the order of their first runs."""

    columns = tuple(each.name for each in fields(LoopDecision))
    drawn_by = "gnomon.plot.lines:loop_figure"

    @property
    def latest(self) -> LoopDecision:
        """The decision on the candidate that was run last, or on the first baseline."""
        return next(one for one in self if one.candidate == self.settings["latest"])

    @property
    def kept(self) -> tuple[LoopDecision, ...]:
        """The first baseline and the candidates that were kept, in their order."""
        return tuple(one for one in self if one.decision == "keep")

    @property
    def title(self) -> str:
        """How to read the values."""
        return f"Kept, undecided and latest; value: gain over {self[0].candidate}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The numbers, the gain, the error, and the latest decision."""
        of, last = self.settings, self.kept[-1]
        error = (
            "Probability of any false keep" if of["familywise"] else "Expected share of false keeps"
        )
        gain = f"Gain of {last.candidate}: {value_in_brackets(last.value, last.low, last.high)}. "
        return (
            f"{counted(len(self) - 1, 'candidate')}, {len(self.kept) - 1} kept, "
            f"{counted(of['n_runs'], 'run')}. {gain if len(self.kept) > 1 else ''}"
            f"{error}: {percent(of['error'])} at most.",
            str(self.latest),
        )

    def rows(self) -> list[Row]:
        """Return the rows of the printed table: kept, undecided and latest candidates."""
        return [one.as_record() for one in self if one.decision != "discard" or one is self.latest]


@dataclass(slots=True)
class _Candidate:
    """A candidate: its runs in pairs with a baseline, and its wealth."""

    name: str
    #: Its first run, and how far that was ahead of the baseline.
    score: float
    ahead: float = math.nan
    decision: str = "again"
    n_runs: int = 1
    #: The baseline of its pairs, empty until its test begins, and the runs in them; once it is
    #: kept, the first baseline and fresh runs.
    other: str = ""
    own: list[float] = field(default_factory=list)
    base: list[float] = field(default_factory=list)
    #: Standard deviation of the noise when the test began, and the error of the test.
    scale: float = math.nan
    error: float = math.nan
    log_wealth: float = 0.0

    @property
    def e_value(self) -> float:
        return math.exp(min(self.log_wealth, 700.0)) if self.error > 0.0 else math.nan

    def next_pair(self) -> tuple[str, ...]:
        """Return what its next pair lacks, in an order that its name and the pair determine."""
        k = min(len(self.own), len(self.base))
        lacking = [self.name] * (len(self.own) == k) + [self.other] * (len(self.base) == k)
        swap = hashlib.sha256(f"{self.name} {self.decision} {k}".encode()).digest()[0] & 1
        return tuple(lacking[::-1] if swap else lacking)


class Loop:
    """A loop that tries candidates one after another and keeps what is better.

    The first run is of the first baseline. Each decision depends only on the runs so far.

    Parameters
    ----------
    familywise : bool
        Whether to bound the probability that any candidate is kept that is not better, in place of
        the expected share of such candidates among those kept.
    error : float, optional
        The bound, between 0 and 1; 0.1 if not given, or 0.05 if `familywise`.
    higher_is_better : bool
        Whether high scores are good.

    Notes
    -----
    The error holds if the runs of a pair are exchangeable for a candidate that is not better: run
    them next to each other in the order of :attr:`LoopDecision.run`, with the same kind of seed. It
    needs no assumption about the distribution, its drift or its outliers. Intervals assume that the
    noise has the same variance for all candidates, which is pooled over all pairs.

    Examples
    --------
    >>> loop = Loop()
    >>> for score in (0.50, 0.52, 0.49, 0.51):
    ...     loop.add("main", score)
    >>> loop.add("wider", 0.48)
    >>> print(loop.decide("wider"))
    Discard: wider.
    >>> loop.add("deeper", 0.60)
    >>> loop.decide("deeper").decision
    'again'
    """

    def __init__(
        self,
        *,
        familywise: bool = False,
        error: float | None = None,
        higher_is_better: bool = True,
    ) -> None:
        self.familywise, self.higher_is_better = familywise, higher_is_better
        self.error = (ANY_FALSE if familywise else FALSE_SHARE) if error is None else error
        check_level(self.error)
        #: All runs in their order: names and scores.
        self.runs: list[tuple[str, float]] = []
        #: The names of the first baseline and of the present one; empty before the first run.
        self.first = self.baseline = ""
        #: All candidates, and those that are undecided or whose gain is not measured.
        self._candidates: dict[str, _Candidate] = {}
        self._open: dict[str, _Candidate] = {}
        #: How many runs of each file were read, and a digest of them.
        self._read: dict[str, tuple[int, str]] = {}
        self._latest = ""
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._steps: deque[float] = deque(maxlen=MOST_STEPS)
        self._since = self._n_kept = 0
        #: Squares of the leads of all tests so far, and the error that is left.
        self._squares_of_leads, self._left = 0.0, self.error
        self._squares, self._df = 0.0, 0

    def add(self, candidate: str, score: float) -> None:
        """Add a run of a candidate or of a baseline, in the order in which it was run.

        Parameters
        ----------
        candidate : str
            Its name, such as a commit; that of the first run is the first baseline.
        score : float
            NaN if the run crashed: the candidate is discarded, a baseline's run is left out.

        Raises
        ------
        ScoreDataError
            The name is empty, or the score is not a finite number or NaN.
        """
        check_type("candidate", candidate, str, "a name")
        check_type("score", score, SupportsFloat, "a number, or NaN for a run that crashed")
        if not candidate.strip() or math.isinf(score):
            raise ScoreDataError(
                f"expected a name and a finite score, or NaN for a run that crashed; found "
                f"{candidate!r} with {score}"
            )
        self.first = self.first or candidate
        self.baseline = self.baseline or candidate
        self.runs.append((candidate, float(score)))
        x = float(score) if self.higher_is_better else -float(score)
        self._since = 0 if candidate == self.baseline else self._since + 1
        if candidate == self.baseline and not math.isnan(x):
            if self._recent:
                self._steps.append(abs(x - self._recent[-1]))
            self._recent.append(x)
        if candidate in self._candidates:
            self._candidates[candidate].n_runs += 1
        elif candidate != self.first:
            self._open[candidate] = self._candidates[candidate] = _Candidate(candidate, x)
        if candidate not in (self.first, self.baseline):
            self._latest = candidate
        if not math.isnan(x):
            self._add_to_pair(candidate, x)
        elif candidate in self._open and candidate != self.baseline:
            self._end(self._open[candidate], "discard")
        if len(self._steps) >= LEAST_STEPS and self._recent:
            for one in [one for one in self._open.values() if not one.other]:
                self._screen(one)

    def _screen(self, one: _Candidate) -> None:
        """Compare the first run of a candidate with recent runs of the baseline."""
        scale = median(self._steps) / MEDIAN_STEP
        excess = len(self.runs) - RUNS_PER_CANDIDATE * len(self._candidates)
        one.ahead = one.score - median(self._recent)
        if one.ahead <= max((SCREEN + max(excess, 0.0) / EXCESS) * scale, 0.0):
            self._end(one, "discard")
            return
        one.other, one.scale = self.baseline, scale
        one.error = self._next_error(one.ahead / scale if scale else math.inf)

    def _next_error(self, lead: float) -> float:
        """Return the error of the next test, which is known before its runs."""
        square = min(lead**2, MOST_SQUARE)
        self._squares_of_leads += square
        share = self._left * square / (HALF + self._squares_of_leads)
        self._left -= share
        return share if self.familywise else share * (1 + self._n_kept)

    def _add_to_pair(self, name: str, x: float) -> None:
        """Add a run to a pair of the candidate that waits for it, and decide if it is complete.

        While a side is one run ahead, its further runs are left out: the runs of a pair are close
        in time, and no run takes the place of another.
        """

        def ahead(one: _Candidate) -> int:
            n = len(one.own) - len(one.base)
            return n if name == one.name else -n

        found = [one for one in self._open.values() if one.other and name in (one.name, one.other)]
        if not found or ahead(one := min(found, key=ahead)) > 0:
            return
        (one.own if name == one.name else one.base).append(x)
        if len(one.own) != len(one.base):
            return
        if one.decision == "keep":
            if len(one.own) == GAIN_PAIRS:
                self._pool(one)
                del self._open[one.name]
            return
        x = one.own[-1] - one.base[-1]
        odds = EFFECT * x / one.scale if one.scale else 700.0 * ((x > 0.0) - (x < 0.0))
        one.log_wealth += math.log(2.0) - math.log1p(math.exp(-max(min(odds, 700.0), -700.0)))
        if one.e_value >= 1.0 / one.error:
            self._end(one, "keep")
        elif one.log_wealth < GROWTH * len(one.own) - CREDIT:
            self._end(one, "discard")

    def _end(self, one: _Candidate, decision: str) -> None:
        """End the test of a candidate; what is kept becomes the baseline, to be run afresh."""
        one.decision = decision
        del self._open[one.name]
        if decision == "discard":
            self._pool(one)
            return
        self._n_kept += 1
        self._left += one.error if self.familywise else 0.0
        # Runs paired with the former baseline decide nothing about the new one.
        for other in [other for other in self._open.values() if other.decision == "again"]:
            self._end(other, "discard")
        one.own, one.base, one.other = [], [], self.first
        self.baseline, self._open = one.name, {one.name: one}
        self._recent.clear()

    def _pool(self, one: _Candidate) -> None:
        """Add the differences of pairs to the pooled variance.

        Those of the test of a kept candidate are left out, since they were selected for one sign.
        """
        found = [x - y for x, y in zip(one.own, one.base, strict=False)]
        if len(found) > 1:
            self._squares += math.fsum((x - fmean(found)) ** 2 for x in found)
            self._df += len(found) - 1

    def decide(self, candidate: str | None = None, level: float = 0.95) -> LoopDecision:
        """Return what to do with a candidate, by default the one that was run last.

        `level` is the confidence level of the interval of its gain.

        Raises
        ------
        UnknownNameError
            No run of it was added.
        """
        name = self._latest if candidate is None else candidate
        if name not in self._candidates:
            raise UnknownNameError("candidate", name, self._candidates)
        check_level(level)
        return self._decision(self._candidates[name], level)

    def decisions(self, level: float = 0.95) -> LoopDecisions:
        """Return the first baseline, as kept with a gain of 0, and the decisions on candidates."""
        if not self.runs:
            raise ScoreDataError("expected runs of a loop, the first of its baseline; found none")
        n_first = sum(name == self.first for name, _ in self.runs)
        nan, run = math.nan, self._to_run(None)
        base = LoopDecision(self.first, "keep", run, n_first, nan, nan, nan, 0.0, 0.0, 0.0)
        check_level(level)
        found = (base, *(self._decision(one, level) for one in self._candidates.values()))
        settings = made_by(
            None, familywise=self.familywise, error=self.error, level=level,
            higher_is_better=self.higher_is_better, n_runs=len(self.runs),
            latest=self._latest or self.first,
        )  # fmt: skip
        return LoopDecisions(found, settings)

    def _to_run(self, one: _Candidate | None) -> tuple[str, ...]:
        """Return what is to be run before the next candidate."""
        if one is not None and one.decision == "again" and one.other:
            return one.next_pair()
        if self.baseline in self._open:
            return self._open[self.baseline].next_pair()
        lacking = max(LEAST_STEPS - len(self._steps), 1 - len(self._recent))
        if lacking > 0:
            return (self.baseline,) * (lacking + (not self._recent))
        return (self.baseline,) if self._since >= DUE else ()

    def _decision(self, one: _Candidate, level: float) -> LoopDecision:
        value = half = math.nan
        if one.decision == "keep" and len(one.own) == len(one.base) == GAIN_PAIRS:
            value = fmean(x - y for x, y in zip(one.own, one.base, strict=True))
            error = math.sqrt(self._squares / self._df / GAIN_PAIRS)
            # Differences that do not vary do not show the noise.
            half = student_quantile(level, self._df) * error if error else math.nan
        return LoopDecision(
            one.name, one.decision, self._to_run(one), one.n_runs, one.ahead, one.e_value,
            one.error, value, value - half, value + half,
        )  # fmt: skip

    def read(self, path: str | Path, score: str | None = None) -> int:
        """Add the runs of a file that were not read before, and return their number.

        Parameters
        ----------
        path : str or Path
            A table with a header, separated by tabs or commas, or JSON lines (``.jsonl``, or ``-``
            for standard input), one run each: `candidate` (or `commit`, `name`) and a score. An
            empty score and the `status` "crash" mean a run that crashed. Other columns are ignored.
        score : str, optional
            The column of scores; `score`, `value`, `metric` or `val_bpb` if not given.

        Raises
        ------
        ScoreDataError
            The file cannot be read, runs that were read before are missing or changed, it begins
            with two or more runs that are those of another file, or a line is not a run.

        Warns
        -----
        DegenerateScoresWarning
            The last line is incomplete: it is left out, and read once it is complete.
        """
        runs, read = read_runs(str(path), score, self._read)
        for name, x in runs:
            self.add(name, x)
        self._read |= read
        return len(runs)

    def to_file(self, path: str | Path) -> None:
        """Write the settings and all runs to a file, whole or not at all, as JSON."""
        state = {
            "gnomon_loop": VERSION,
            **{name: getattr(self, name) for name in SETTINGS},
            "read": self._read,
            "runs": [[name, None if math.isnan(x) else x] for name, x in self.runs],
        }
        write_atomically(Path(path), json.dumps(state, ensure_ascii=False).encode())

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Return the loop of a file that :meth:`to_file` wrote.

        Raises
        ------
        ScoreDataError
            The file cannot be read or is not the state of a loop.
        """
        text = read_text(Path(path), noun="state of a loop", error=ScoreDataError)
        try:
            state = json.loads(text)
            if state["gnomon_loop"] != VERSION:
                raise ValueError
            loop = cls(**{name: state[name] for name in SETTINGS})
            for name, x in state["runs"]:
                loop.add(name, math.nan if x is None else x)
            loop._read = {str(name): (int(n), str(x)) for name, (n, x) in state["read"].items()}
        except (GnomonError, ValueError, TypeError, LookupError, AttributeError):
            raise ScoreDataError(
                f"{path}: expected the state of a loop, version {VERSION}; found a damaged file or "
                "one of another kind"
            ) from None
        return loop
