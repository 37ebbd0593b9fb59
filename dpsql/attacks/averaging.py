"""Averaging: ask one question many times and in many spellings, by two analysts.

    eve   COUNT(*) ... WHERE pid = 17                       fifty times at one price: 2, 2, 2, ... 2
    mal   the same                                          2 again
    eve   COUNT(*) ... WHERE pid = 17 AND pid <> 4, ...     other noise, each time another price

Where repeats are answered anew, their mean is almost exact. Where they are not, the mean of all spellings
that the budget holds is all there is: noise over the root of what was paid.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import secrets
from statistics import fmean

from dpsql.attacks.ask import Ask
from dpsql.attacks.attack import Attack, Outcome, presence
from dpsql.attacks.world import ANALYSTS, World, literal
from dpsql.engines.identifiers import quote
from dpsql.errors import Error

REPEATS = 50
SPELLINGS = 4  # whose prices are the budget; an accountant may let more of them in
MOST = 40


def _mean(world: World, ask: Ask) -> Outcome:
    gone, price = world.without(world.target), world.epsilon / SPELLINGS
    won, spent, refused, apart, held = 0, 0.0, 0, 0, 0
    for trial in range(ask.trials):
        there, ledger = bool(secrets.randbits(1)), world.ledger()
        database = world.database if there else gone
        with (
            ask.opened(database, ANALYSTS[0], ledger) as eve,
            ask.opened(database, ANALYSTS[1], ledger) as mal,
        ):

            def asked(number: int, who: int = 0) -> float:
                return float((eve, mal)[who].rows(_spelled(world, number), price)[0][0])

            repeats = [asked(0), asked(0), asked(0, who=1)]
            if trial == 0 or len(set(repeats)) > 1:  # later, three alike are enough to know
                repeats += [asked(0) for _ in range(REPEATS - len(repeats))]
            spellings = [repeats[0]]
            try:
                for number in range(1, SPELLINGS if ask.exact else MOST):
                    spellings.append(asked(number))
            except Error as error:
                if error.code != "D501":
                    raise
                refused += 1
            held, spent = len(spellings), max(spent, eve.spent)
        anew = len(set(repeats)) > 1
        apart += anew
        won += (fmean(repeats if anew else spellings) >= 0.5) == there
    words = f"{REPEATS} repeats gave 1 answer, free; the budget held {held} spellings"
    return Outcome(
        ask.trials, won, presence(spent, world.delta), "" if apart or refused < ask.trials else words
    )


def _spelled(world: World, number: int) -> str:
    """Return the question in another spelling, which is another measurement."""
    others = [person for person in world.persons if person != world.target]
    return (
        f"SELECT COUNT(*) FROM {world.people} WHERE {world.one(world.target)}"
        + f" AND {quote(world.key)} <> {literal(others[number])}" * bool(number)
    )


ATTACKS = (
    Attack("averaging", f"one question {REPEATS} times, and in as many spellings as paid", _mean, presence),
)
