"""Differencing: two numbers that differ by one person, or by what one person adds.

    SELECT COUNT(*), COUNT(*) FILTER (WHERE pid <> 17) FROM people
       199.4          198.1                                           -> 17 is there

The attacker knows everybody else: an extreme person is sought by comparing a sum with what the others add to
it. Trials that do not count say whether the clamps hold or the whole value is there. Who asks before and
after somebody leaves has the noise of both answers, unless it is the same noise.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

import secrets
from typing import Any

from dpsql.attacks.ask import Analyst, Ask
from dpsql.attacks.attack import Attack, Outcome, presence, value
from dpsql.attacks.trials import guessed, scored
from dpsql.attacks.world import World
from dpsql.engines.identifiers import quote, table_sql


def _one_person(world: World, ask: Ask) -> Outcome:
    sql = f"SELECT COUNT(*), COUNT(*) FILTER (WHERE NOT ({world.one(world.target)})) FROM {world.people}"

    def guess(eve: Analyst) -> bool:
        ((everybody, others),) = eve.rows(sql, world.epsilon)
        return bool(everybody - others >= 0.5)

    gone = world.without(world.target)
    return guessed(world, ask, presence, lambda there: world.database if there else gone, guess)


def _left(world: World, ask: Ask) -> Outcome:
    """One path, two versions of the data: the target leaves, and takes the secret along."""
    sql = f"SELECT SUM(CASE WHEN {world.holds} THEN 1 ELSE -1 END) FROM {world.people}"
    versions = {bit: world.drawn({world.target: bit}) for bit in (True, False)}
    after = world.without(world.target)
    database = world.folder / "versions.duckdb"
    won, spent = 0, 0.0
    for _ in range(ask.trials):
        bit, ledger, answers = bool(secrets.randbits(1)), world.ledger(), list[Any]()
        for version in (versions[bit], after):
            database.unlink(missing_ok=True)
            database.hardlink_to(version)
            with ask.opened(database, ledger=ledger) as eve:
                answers.append(eve.rows(sql, world.epsilon / 2)[0][0])
                spent = max(spent, eve.spent)
        won += (answers[0] > answers[1] or (answers[0] == answers[1] and secrets.randbits(1) == 1)) == bit
    return Outcome(ask.trials, won, value(spent, world.delta))


def _extreme_value(world: World, ask: Ask) -> Outcome:
    amount = world.amount
    assert amount is not None
    column = quote(amount.column)
    extreme = f"UPDATE {world.people} SET {column} = {amount.extreme!r} WHERE {world.one(world.target)}"
    pair = {True: world.changed(extreme), False: world.without(world.target)}
    clamped = f"least(greatest({column}, {amount.low!r}), {amount.high!r})"
    ((others,),) = world.truth(
        f"SELECT coalesce(sum({clamped}) FILTER ({column} IS NOT NULL), 0) FROM {world.people} "
        f"WHERE NOT ({world.one(world.target)})"
    )
    most = amount.high if abs(amount.high) >= abs(amount.low) else amount.low
    sql = f"SELECT SUM({column}) FROM {world.people}"

    def score(eve: Analyst) -> float:
        return (float(eve.rows(sql, world.epsilon)[0][0]) - float(str(others))) / most

    cuts = (amount.extreme / most / 2, 0.5)
    return scored(world, ask, presence, pair.__getitem__, score, cuts)


def _many_rows(world: World, ask: Ask) -> Outcome:
    assert world.details is not None
    table, most = world.details
    key = quote(world.key)
    ((others,),) = world.truth(
        f"SELECT coalesce(sum(least(n, {most})), 0) FROM (SELECT count(*) AS n FROM {table_sql(table)} "
        f"WHERE NOT ({world.one(world.target)}) GROUP BY {key})"
    )
    sql = f"SELECT COUNT(*) FROM {table_sql(table)}"

    def score(eve: Analyst) -> float:
        return (float(eve.rows(sql, world.epsilon)[0][0]) - float(str(others))) / most

    pair = {True: world.database, False: world.without(world.target)}
    ((rows,),) = world.truth(f"SELECT count(*) FROM {table_sql(table)} WHERE {world.one(world.target)}")
    return scored(world, ask, presence, pair.__getitem__, score, (float(str(rows)) / most / 2, 0.5))


ATTACKS = (
    Attack(
        "differencing", "COUNT(*) with and without one person: is the person there?", _one_person, presence
    ),
    Attack("differencing: leaving", "before and after somebody leaves: the secret of who left", _left, value),
    Attack(
        "differencing: an extreme value",
        "a sum with a person far beyond its range: is the person there?",
        _extreme_value,
        presence,
        needs=lambda world: "" if world.amount else "a number with a declared range in the table of units",
    ),
    Attack(
        "differencing: many rows",
        "a count with a person of thousands of rows: is the person there?",
        _many_rows,
        presence,
        needs=lambda world: "" if world.details else "a person with far more rows than count in full",
    ),
)
