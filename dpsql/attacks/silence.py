"""Silence: whatever is seen beside released numbers, with and without one person.

    prices, explanations, refusals, columns, types, public groups and their order, which values are NULL,
    margins, notes, what remains

Nothing of it may differ at all, so the bound is 0. Groups with private keys are released, and are attacked as
membership.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpsql.attacks.ask import Ask
from dpsql.attacks.attack import Attack, Outcome, never
from dpsql.attacks.world import ANALYSTS, World, literal
from dpsql.dbapi import Connection, connect
from dpsql.engines.identifiers import quote, table_sql
from dpsql.errors import Error


def _questions(world: World) -> Iterator[str]:
    """Questions on which other engines have failed, and whose answers have public groups."""
    people, key, target = world.people, quote(world.key), literal(world.target)
    yield f"SELECT COUNT(*) FROM {people}"
    yield f"SELECT COUNT(*) FROM {people} WHERE {key} = {target}"
    yield f"SELECT SUM(1) FROM {people} WHERE {key} = {target}"
    yield f"SELECT {quote(world.secret.column)}, COUNT(*) FROM {people} GROUP BY 1"
    yield f"SELECT {key}, COUNT(*) FROM {people} GROUP BY 1"
    yield f"SELECT MIN({key}) FROM {people}"
    yield f"SELECT SUM(1 // (CASE WHEN {key} = {target} THEN 0 ELSE 1 END)) FROM {people}"
    yield f"SELECT nothing_of_this_name FROM {people}"
    if world.ward:
        yield f"SELECT {quote(world.ward)}, COUNT(*) FROM {people} GROUP BY 1"
    if world.place:
        place = quote(world.place)
        yield f"SELECT COUNT(DISTINCT {place}) FROM {people}"
        yield f"SELECT SUM(CAST({place} AS INTEGER)) FROM {people}"
        yield f"SELECT COUNT(*) FROM {people} WHERE TRY_CAST({place} AS INTEGER) > 5"
    if world.amount:
        column = quote(world.amount.column)
        yield f"SELECT AVG({column}), MEDIAN({column}) FROM {people}"
        yield f"SELECT MAX({column}) FROM {people} WHERE {key} = {target}"
    if world.details:
        details = table_sql(world.details[0])
        yield f"SELECT COUNT(*) FROM {details}"
        yield f"SELECT AVG(n) FROM (SELECT {key}, COUNT(*) AS n FROM {details} GROUP BY 1)"


_COMPUTED = ("AVG", "MEDIAN", "MAX")
"""Of these, margins, NULL and which columns have a margin at all follow from released numbers."""


def _compare(world: World, ask: Ask) -> Outcome:
    questions = list(_questions(world))
    price = world.epsilon / len(questions)
    seen = [
        _seen(world, database, world.ledger(), questions, price)
        for database in (world.database, world.without(world.target))
    ]
    differ = sum(ours != theirs for ours, theirs in zip(*seen, strict=True))
    return Outcome(
        len(seen[0]), differ, 0.0, "" if differ else f"{len(questions)} questions, refused ones too"
    )


def _seen(
    world: World, database: Path, ledger: Path, questions: list[str], price: float
) -> list[tuple[str, object]]:
    """Return all that is visible, but for released numbers; in the order in which it is seen."""
    seen: list[tuple[str, object]] = []
    with connect(database, world.policy(), ledger, ANALYSTS[0]) as db:
        seen.append(("tables", str(db.tables)))
        for sql in questions:
            for name, look in (("price", _price), ("explain", _explained), ("answer", _answered)):
                try:
                    seen.append((name, look(db, sql, price)))
                except Error as error:
                    seen.append((name, str(error)))
            seen.append(("budget", str(db.budget)))
    return seen


def _price(db: Connection, sql: str, price: float) -> str:
    return str(db.price(sql, epsilon=price))


def _explained(db: Connection, sql: str, price: float) -> str:
    return str(db.explain(sql, epsilon=price))


def _answered(db: Connection, sql: str, price: float) -> object:
    answer = db.execute(sql, epsilon=price)
    keys = [at for at in range(len(answer.columns)) if not answer.noised(at) and len(answer.rows) > 1]
    plain = not any(word in sql for word in _COMPUTED)
    # a group of NULL is shown by its noisy number
    public = [at for at, row in enumerate(answer.rows) if all(row[key] is not None for key in keys)]
    rows = [answer.rows[at] for at in public]
    return (
        plain and [answer.margins[at] for at in public],
        plain and [tuple(value is None for value in row) for row in rows],
        answer.columns,
        answer.types,
        [tuple(row[at] for at in keys) for row in rows],
        answer.cost,
        answer.remaining,
        answer.open,
        plain and (answer.note, answer.without),
    )


ATTACKS = (
    Attack(
        "silence",
        "all but released numbers with and without one person: what differs",
        _compare,
        never,
        exact=False,
    ),
)
