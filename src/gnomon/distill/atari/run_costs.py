"""Cost of a run on a benchmark: hours, money, power and carbon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon.distill.atari.facts import published_table
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results


@dataclass(frozen=True)
class Machine:
    """What an hour of a machine costs, and what it draws.

    Parameters
    ----------
    name : str
    standard, preemptive : float
        US dollars an hour, processor and accelerator together.
    watts : float
        NaN if not known.
    """

    name: str
    standard: float
    preemptive: float
    watts: float = float("nan")


def _published_cost(row: Mapping[str, str]) -> tuple[str, Machine, float]:
    standard = float(row["gpu_hour_standard"]) + float(row["cpu_hour_standard"])
    preemptive = float(row["gpu_hour_preemptive"]) + float(row["cpu_hour_preemptive"])
    # Appendix A gives the power of Agent57's machine alone: 400 W for the A100, 215 W beside it.
    watts = 400.0 + 215.0 if row["gpu"] == "A100" else float("nan")
    machine = Machine(row["gpu"], standard, preemptive, watts)
    return row["algorithm"], machine, float(row["hours_per_game"])


#: Algorithm, machine and accelerator hours a game, as appendix A assumes them (table 6).
PUBLISHED_COSTS = tuple(_published_cost(row) for row in published_table("table6"))


@dataclass(frozen=True)
class RunCost(FieldRecord):
    """What one run on so many games costs.

    Parameters
    ----------
    algorithm, machine : str
    n_games : int
    hours : float
        Accelerator hours.
    cost_standard, cost_preemptive : float
        US dollars.
    power_kwh, carbon_kg : float
        NaN if the machine's power is not known.
    """

    algorithm: str
    machine: str
    n_games: int
    hours: float
    cost_standard: float
    cost_preemptive: float
    power_kwh: float
    carbon_kg: float


#: Pounds of carbon dioxide a kilowatt hour: US mean of 2019 (US Energy Information Administration).
POUNDS_PER_KWH = 0.92
_KG_PER_POUND = 0.45359237


def run_cost(
    algorithm: str,
    machine: Machine,
    hours_per_game: float,
    n_games: int,
    *,
    pounds_per_kwh: float = POUNDS_PER_KWH,
) -> RunCost:
    """Return the cost of one run, as appendix A of the Atari-5 paper estimates it.

    Examples
    --------
    >>> v100 = Machine("V100", standard=2.614, preemptive=0.78)
    >>> cost = run_cost("Rainbow DQN", v100, hours_per_game=240, n_games=57)
    >>> f"{cost.hours:.0f} h, {cost.cost_preemptive:.0f} to {cost.cost_standard:.0f} USD"
    '13680 h, 10670 to 35760 USD'
    """
    hours = hours_per_game * n_games
    kwh = hours * machine.watts / 1000.0
    return RunCost(
        algorithm,
        machine.name,
        n_games,
        hours,
        hours * machine.standard,
        hours * machine.preemptive,
        kwh,
        kwh * pounds_per_kwh * _KG_PER_POUND,
    )


@dataclass(frozen=True, eq=False, repr=False)
class RunCosts(Results[RunCost]):
    """What runs on so many games cost.

    Examples
    --------
    >>> cost(5, hours=2.0).to_frame()["hours"][-1]
    10.0
    """

    notes = ("One run each, without tuning; carbon at 0.92 pounds a kWh (USA, 2019).",)


def cost(
    games: int = 57,
    *,
    hours: float | None = None,
    frames: float | None = None,
    frames_per_second: float = 1000.0,
    price: float = 2.614,
    preemptive_price: float | None = None,
    watts: float | None = None,
) -> RunCosts:
    """Estimate what a run on so many games costs: of the published agents, and of one's own.

    Parameters
    ----------
    games : int
    hours : float, optional
        Accelerator hours a game of an agent of one's own.
    frames, frames_per_second : float
        Frames a game and the speed of training, in place of the hours.
    price, preemptive_price : float
        US dollars an hour; the second is the first if not given.
    watts : float, optional
        Power of the machine.

    Raises
    ------
    ScoreDataError
        The speed is not above 0.

    Examples
    --------
    >>> cost(5, hours=2.0)[-1].hours
    10.0
    """
    if frames is not None:
        if not frames_per_second > 0:
            raise ScoreDataError(
                f"expected frames per second above 0, found {frames_per_second:g} "
                "(frames_per_second; --frames-per-second)"
            )
        hours = frames / frames_per_second / 3600
    found = [run_cost(name, machine, h, games) for name, machine, h in PUBLISHED_COSTS]
    if hours is not None:
        cheap = price if preemptive_price is None else preemptive_price
        machine = Machine("own", price, cheap, float("nan") if watts is None else watts)
        found.append(run_cost("own", machine, hours, games))
    return RunCosts(tuple(found))
