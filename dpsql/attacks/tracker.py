"""Tracker: a set of one person, through a condition that only this person meets.

    SELECT SUM(CASE WHEN smoker THEN 1 ELSE -1 END) FROM people WHERE pid = 17       1.3 -> a smoker
    SELECT MODE(smoker) FROM people WHERE pid = 17                                   true
    SELECT AVG(salary) FROM people WHERE pid = 17                                    71,300 -> the upper end
    SELECT HISTOGRAM(salary, [10000, 20000, ...]) FROM people WHERE pid = 17         the tallest of ten

A sum of 1 and -1 moves by two of what its noise hides. A mode is chosen, without noise. Of an average and a
median, which hide a range, the person's number is put at one of its ends: no two values are further apart. A
small set's complement (all but 17) says no more: it is the same set, measured with everybody else.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import secrets

from dpsql.attacks.ask import Analyst, Ask
from dpsql.attacks.attack import Attack, Outcome, decile, value
from dpsql.attacks.trials import guessed
from dpsql.attacks.world import World
from dpsql.engines.identifiers import quote

_TENTHS = 10


def _bit(world: World, ask: Ask) -> Outcome:
    one = world.one(world.target)
    sql = f"SELECT SUM(CASE WHEN {world.holds} THEN 1 ELSE -1 END) FROM {world.people} WHERE {one}"
    drawn = {bit: world.drawn({world.target: bit}) for bit in (True, False)}

    def guess(eve: Analyst) -> bool:
        ((sum_of_one,),) = eve.rows(sql, world.epsilon)
        return bool(sum_of_one > 0 or (sum_of_one == 0 and secrets.randbits(1)))

    return guessed(world, ask, value, drawn.__getitem__, guess)


def _chosen(world: World, ask: Ask) -> Outcome:
    sql = f"SELECT MODE({world.holds}) FROM {world.people} WHERE {world.one(world.target)}"
    drawn = {bit: world.drawn({world.target: bit}) for bit in (True, False)}

    def guess(eve: Analyst) -> bool:
        return bool(eve.rows(sql, world.epsilon)[0][0])

    return guessed(world, ask, value, drawn.__getitem__, guess)


def _average(world: World, ask: Ask) -> Outcome:
    return _end(world, ask, "AVG")


def _median(world: World, ask: Ask) -> Outcome:
    return _end(world, ask, "MEDIAN")


def _end(world: World, ask: Ask, aggregate: str) -> Outcome:
    """Guess at which end of its range the person's number is."""
    amount = world.amount
    assert amount is not None
    column, one, middle = quote(amount.column), world.one(world.target), (amount.low + amount.high) / 2
    sql = f"SELECT {aggregate}({column}) FROM {world.people} WHERE {one}"
    drawn = {
        bit: world.changed(f"UPDATE {world.people} SET {column} = {end!r} WHERE {one}")
        for bit, end in ((True, amount.high), (False, amount.low))
    }

    def guess(eve: Analyst) -> bool:
        ((found,),) = eve.rows(sql, world.epsilon)
        if found is None or found == middle:
            return bool(secrets.randbits(1))
        return bool(found > middle)

    return guessed(world, ask, value, drawn.__getitem__, guess)


def _tenth(world: World, ask: Ask) -> Outcome:
    amount = world.amount
    assert amount is not None
    ends = [amount.low + (amount.high - amount.low) * n / _TENTHS for n in range(1, _TENTHS)]
    inside = [end - (amount.high - amount.low) / (2 * _TENTHS) for end in (*ends, amount.high)]
    column, one = quote(amount.column), world.one(world.target)
    drawn = [
        world.changed(f"UPDATE {world.people} SET {column} = {middle!r} WHERE {one}") for middle in inside
    ]
    counts = ", ".join(
        f"COUNT(*) FILTER (WHERE {column} > {low!r} AND {column} <= {high!r})"
        for low, high in zip((amount.low, *ends), (*ends, amount.high), strict=True)
    )
    sql = f"SELECT {counts} FROM {world.people} WHERE {one}"
    won, spent = 0, 0.0
    for _ in range(ask.trials):
        tenth = secrets.randbelow(_TENTHS)
        with ask.opened(drawn[tenth]) as eve:
            (heights,) = eve.rows(sql, world.epsilon)
            spent = max(spent, eve.spent)
        won += secrets.choice([at for at, height in enumerate(heights) if height == max(heights)]) == tenth
    return Outcome(ask.trials, won, decile(spent, world.delta))


def _needs(world: World) -> str:
    return "" if world.amount else "a number with a declared range in the table of units"


ATTACKS = (
    Attack("tracker", "a sum over one person alone: the person's secret", _bit, value),
    Attack("tracker: a choice", "the mode of one person alone: the person's secret", _chosen, value),
    Attack(
        "tracker: an average",
        "the average of one person alone: at which end of the range?",
        _average,
        value,
        needs=_needs,
    ),
    Attack(
        "tracker: a median",
        "the median of one person alone: at which end of the range?",
        _median,
        value,
        needs=_needs,
    ),
    Attack(
        "tracker: a tenth",
        "ten counts of one person alone: which tenth of the range?",
        _tenth,
        decile,
        needs=_needs,
    ),
)
