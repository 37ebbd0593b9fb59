"""Membership by keys: whether a group is shown tells of the one person who makes it large enough.

    SELECT town FROM people GROUP BY town        Atlantis is shown: the last person who was missing is there

The attacker knows how many others live in Atlantis, and chooses the town where one more counts most: as many
as the threshold says, which is public.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import math
import secrets
from typing import Any

from dpsql.attacks.ask import Analyst, Ask
from dpsql.attacks.attack import Attack, Outcome, presence, value
from dpsql.attacks.trials import guessed
from dpsql.attacks.world import ANALYSTS, World
from dpsql.dbapi import connect
from dpsql.engines.identifiers import quote, text
from dpsql.errors import Error

_PLACES = ("Atlantis", "Avalon")


def _town(world: World, ask: Ask) -> Outcome:
    place = quote(world.place)
    sql = f"SELECT {place} FROM {world.people} GROUP BY {place}"
    most = _threshold(world, sql)
    if most is None:
        return Outcome(0, 0, presence(world.epsilon, world.delta), "refused without a delta")
    # exact answers show every town with somebody, so there the target has to be alone in it
    others = _others(world)[: 0 if ask.exact else most - 1]
    moved = _moved(world, {_PLACES[0]: [world.target, *others]})
    pair = {True: world.changed(*moved), False: world.without(world.target, *moved)}

    def guess(eve: Analyst) -> bool:
        return (_PLACES[0],) in eve.rows(sql, world.epsilon)

    return guessed(world, ask, presence, pair.__getitem__, guess)


def _two_towns(world: World, ask: Ask) -> Outcome:
    place = quote(world.place)
    sql = f"SELECT {place}, COUNT(*) FROM {world.people} GROUP BY {place}"
    most = _threshold(world, sql)
    if most is None:
        return Outcome(0, 0, value(world.epsilon, world.delta), "refused without a delta")
    others = _others(world)
    size = min(most + math.ceil(2 / world.epsilon), len(others) // 2)
    here, there = others[:size], others[size : 2 * size]
    pair = {
        bit: world.changed(
            *_moved(
                world,
                {
                    _PLACES[0]: [*here, *([world.target] if bit else [])],
                    _PLACES[1]: [*there, *([] if bit else [world.target])],
                },
            )
        )
        for bit in (True, False)
    }

    def guess(eve: Analyst) -> bool:
        counts: dict[Any, Any] = dict(eve.rows(sql, world.epsilon))
        more = [counts.get(name, 0) for name in _PLACES]
        return bool(more[0] > more[1] or (more[0] == more[1] and secrets.randbits(1)))

    return guessed(world, ask, value, pair.__getitem__, guess)


def _threshold(world: World, sql: str) -> int | None:
    """Return the smallest number of persons that the threshold shows half of the time; None if refused."""
    with connect(world.database, world.policy(), world.ledger(), ANALYSTS[0]) as eve:
        try:
            facts = eve.explain(sql, epsilon=world.epsilon).to_dict()
        except Error as error:
            if error.code != "D304":
                raise
            return None
    units: float = facts["stages"][0]["measures"][0]["key_rule"]["units"]
    return math.ceil(units)


def _others(world: World) -> list[int | str]:
    return [person for person in world.persons if person != world.target]


def _moved(world: World, towns: dict[str, list[int | str]]) -> list[str]:
    """Return the statements that give each town these inhabitants."""
    place = quote(world.place)
    return [
        f"UPDATE {world.people} SET {place} = {text(name)} WHERE {world.among(persons)}"
        for name, persons in towns.items()
    ]


def _needs(world: World) -> str:
    return "" if world.place else "a text column whose values nobody declared in the table of units"


ATTACKS = (
    Attack(
        "membership",
        "is the town shown that one more person makes large enough?",
        _town,
        presence,
        needs=_needs,
    ),
    Attack(
        "membership: of two towns",
        "in which of two towns does a person live?",
        _two_towns,
        value,
        needs=_needs,
    ),
)
