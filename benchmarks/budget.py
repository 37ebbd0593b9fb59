"""How many equal events fit a budget, under each accountant, and under the closest bounds of dp-accounting.

Events are charged, and nothing is measured: Gaussian and Laplace noise, choices and responses. Beside ``rdp``
stands dp-accounting's Renyi accountant at the same order, for the events that it knows; beside all, its
privacy loss distributions, which are exact and fixed in advance: no filter for queries chosen one by one.
A Gaussian needs a planned point under ``approx``: the cheapest of some. At last, how long a debit takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from benchmarks.debits import debits
from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting import Accountant, Amount, Budget, opened
from dpsql.accounting.concentrated import conversion_delta
from dpsql.accounting.conversions import gaussian_delta
from dpsql.accounting.rdp import Rdp
from dpsql.accounting.units import UNIT
from dpsql.ir.event import ChoiceEvent, Event, GaussianEvent, LaplaceEvent, ResponseEvent

BUDGETS = (Budget(1.0, 1e-6), Budget(5.0, 1e-6))
ACCOUNTANTS = ("pure", "approx", "zcdp", "rdp")
KINDS: dict[str, tuple[Callable[[float], Event], tuple[float, ...]]] = {
    "Gaussian, sigma": (lambda sigma: GaussianEvent(1, sigma), (10.0, 20.0, 50.0, 100.0)),
    "Laplace, epsilon": (lambda e: LaplaceEvent(2**30, 2**30 / e), (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)),
    "choice, epsilon": (ChoiceEvent, (0.1, 0.2, 0.5, 1.0)),
    "response, epsilon": (ResponseEvent, (0.1, 0.2, 0.5, math.log(3))),
}
_POINTS = 200


def run(setting: Setting) -> Report:
    tables, verdicts = [], []
    fewer = furthest = 0.0
    for budget in BUDGETS[: 1 if setting.quick else None]:
        counts = Table(
            f"how many fit epsilon {budget.epsilon:g}, delta {budget.delta:g}",
            ("event", *ACCOUNTANTS, "dp-accounting, same order", "its loss distributions"),
        )
        for kind, (event, sizes) in KINDS.items():
            for size in sizes[: 2 if setting.quick else None]:
                found = [fitting(name, event(size), budget) for name in ACCOUNTANTS]
                theirs, apart = renyi(event(size), budget)
                furthest = max(furthest, apart)
                fewer += found[3] < found[2]
                exact = distributions(event(size), budget, setting.quick)
                counts.rows.append((f"{kind} {size:.3g}", *found, theirs, exact))
                if budget.epsilon == 5 and kind.startswith("Laplace") and size in (0.5, 1.0):
                    gain = part("zcdp", event(size), budget) / part("rdp", event(size), budget)
                    what = f"Laplace {size:g} of 5: its part of the budget under zcdp, over that under rdp"
                    verdicts.append(Verdict(what, gain, {0.5: 1.7, 1.0: 2.5}[size], at_least=True))
        tables.append(counts)
    verdicts += [
        Verdict("events of which fewer fit under rdp than under zcdp", fewer, 0),
        Verdict("furthest from dp-accounting's divergence at the same order, relative", furthest, 1e-9),
    ]
    paid = debits(setting)
    return Report((*tables, *paid.tables), (*verdicts, *paid.verdicts))


def part(name: str, event: Event, budget: Budget) -> float:
    """Return the part of a whole budget that an event takes."""
    rules = opened(name, budget)
    short = rules.charge((event,)).shortage(rules.zero, rules.total(budget))
    return short.needed / short.granted


def fitting(name: str, event: Event, budget: Budget) -> int:
    """Return how many of one event fit a whole budget."""
    if isinstance(event, GaussianEvent) and name in ("pure", "approx"):
        return 0 if name == "pure" else max(_planned(event, budget, place) for place in range(1, _POINTS))
    rules = opened(name, budget)
    return _many(rules.charge((event,)), rules, budget)


def _planned(event: GaussianEvent, budget: Budget, place: int) -> int:
    epsilon = budget.epsilon * (place / _POINTS) ** 2
    delta = gaussian_delta(event.scale / event.sensitivity, epsilon)
    if not delta <= budget.delta:
        return 0
    rules = opened("approx", budget)
    return _many(
        rules.charge((GaussianEvent(event.sensitivity, event.scale, epsilon, delta),)), rules, budget
    )


def _many(cost: Amount, rules: Accountant, budget: Budget) -> int:
    total, powers = rules.total(budget), [cost]
    while (powers[-1] + powers[-1]).within(total):
        powers.append(powers[-1] + powers[-1])
    spent, count = rules.zero, 0
    for place, each in reversed(list(enumerate(powers))):
        if (spent + each).within(total):
            spent, count = spent + each, count + 2**place
    return count


def renyi(event: Event, budget: Budget) -> tuple[int | str, float]:
    """Return how many fit by dp-accounting's divergence at our order, and how far it is from ours."""
    from dp_accounting import dp_event
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    relation = NeighboringRelation.ADD_OR_REMOVE_ONE
    match event:
        case GaussianEvent():
            theirs = dp_event.GaussianDpEvent(event.scale / event.sensitivity)
        case LaplaceEvent():
            theirs = dp_event.LaplaceDpEvent(event.scale / event.sensitivity)
        case ResponseEvent():
            theirs = dp_event.RandomizedResponseDpEvent(2 / (1 + math.exp(event.epsilon)), 2)
            relation = NeighboringRelation.REPLACE_ONE
        case _:
            return "-", 0.0
    rules = opened("rdp", budget)
    assert isinstance(rules, Rdp)
    divergence = float(RdpAccountant([rules.order], relation).compose(theirs)._rdp[0])
    ours, total = rules.charge((event,)).main / UNIT, rules.total(budget).main / UNIT
    return math.floor(total / divergence), abs(ours - divergence) / divergence


def distributions(event: Event, budget: Budget, quick: bool) -> int | str:
    """Return how many fit by exact composition, at the part of delta that thresholds leave."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    delta = conversion_delta(budget)
    grid = 1e-3 if quick else 1e-4
    match event:
        case GaussianEvent():
            many, sigma = 1, event.scale / event.sensitivity
            while gaussian_delta(sigma / math.sqrt(many + 1), budget.epsilon) <= delta:
                many += 1
            return many
        case LaplaceEvent():
            one = pld.from_laplace_mechanism(
                event.scale / event.sensitivity, value_discretization_interval=grid
            )
        case ResponseEvent():
            one = pld.from_randomized_response(2 / (1 + math.exp(event.epsilon)), 2)
        case _:
            return "-"
    low, high = 0, 1
    while one.self_compose(high).get_epsilon_for_delta(delta) <= budget.epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        fits = one.self_compose(middle).get_epsilon_for_delta(delta) <= budget.epsilon
        low, high = (middle, high) if fits else (low, middle)
    return low
