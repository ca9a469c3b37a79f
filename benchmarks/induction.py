"""Coverage of the intervals of the causes of failure, of `gohr induction`.

Players are simulated: each rule of a population has its own shares of test boards that are solved
after the best tests, after the player's tests, and by the player, and each trial draws five boards
with these shares. In a nested population they are products, since boards that are not solved after
better tests are not solved after worse ones. A row has 400 sets of outcomes; the truth is the mean
over the population.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.record import Measurement
from gohr.induction import Induction, Outcome

Array = npt.NDArray[np.float64]
N_SETS, N_TESTS = 400, 5
#: Mean shares of boards solved: after the best tests, after the player's, and by the player.
PLAYERS = {
    "poor tests": (0.95, 0.6, 0.55),
    "poor inference": (0.95, 0.9, 0.3),
    "near the ceiling": (0.99, 0.97, 0.94),
}
#: Concentration of the shares of the rules about their mean (low values give shares near 0 and 1),
#: and whether they are nested.
POPULATIONS = {
    "alike": (20.0, False),
    "unlike": (1.5, False),
    "unlike, nested": (1.5, True),
    "very unlike, nested": (0.5, True),
}


def measure() -> Iterator[Measurement]:
    """Yield the coverage of each cause's interval."""
    for player, means in PLAYERS.items():
        for spread, population in POPULATIONS.items():
            for n_rules, trials in ((8, 5), (32, 10)):
                rng = np.random.default_rng([n_rules, trials])
                hits: dict[str, list[bool]] = {}
                truth = _truth(means)
                for _ in range(N_SETS):
                    found = _outcomes(rng, means, population, n_rules, trials)
                    for loss in found.losses():
                        hit = loss.low <= truth[loss.cause] <= loss.high
                        hits.setdefault(loss.cause, []).append(hit)
                for cause, covered in hits.items():
                    yield Measurement(
                        f"{player}, {spread}: {cause}",
                        100.0 * float(np.mean(covered)),
                        "%",
                        note=f"{n_rules} rules, {trials} trials",
                    )


def _truth(means: tuple[float, float, float]) -> dict[str, float]:
    best, same, solved = means
    return {
        "little evidence": 1 - best,
        "poor tests": best - same,
        "poor inference": same - solved,
        "all": 1 - solved,
    }


def _outcomes(
    rng: np.random.Generator,
    means: tuple[float, float, float],
    population: tuple[float, bool],
    n_rules: int,
    trials: int,
) -> Induction:
    """Draw the outcomes of a player, whose shares are correlated within a rule."""
    concentration, nested = population
    each = np.divide(means, (1.0, *means[:2])) if nested else np.array(means)
    drawn = [rng.beta(concentration * m, concentration * (1 - m), n_rules) for m in each]
    shares = np.cumprod(drawn, axis=0) if nested else np.array(drawn)
    solved = rng.binomial(N_TESTS, shares[:, :, None], (3, n_rules, trials)) / N_TESTS
    nan = math.nan
    return Induction(
        tuple(
            Outcome(
                "player", "own", f"rule {r}", "", t, 5, 100, N_TESTS,
                round(N_TESTS * solved[2, r, t]), nan, nan, nan, nan,
                solved[1, r, t], solved[0, r, t],
            )
            for r in range(n_rules)
            for t in range(trials)
        )
    )  # fmt: skip
