"""What a run of a benchmark costs: hours, money, power and carbon."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Machine", "RunCost", "run_cost"]


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


@dataclass(frozen=True)
class RunCost:
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
