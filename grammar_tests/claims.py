"""What is said of a relation's rows (facts/ownership.py, nullability), asked of the rows themselves.

row keys (person, day)    no two rows of a unit are equal there
at most 3 rows            no unit has more
settled: born             each unit has one value there, or NULL in all of its rows
not NULL, one unit        no row has NULL; all columns of the unit are equal
a public key, a size      no two rows are equal there; there are no more rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import relation_sql
from dpsql.facts.few_rows import telling
from dpsql.facts.ownership import Owned, Public, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.relation import Aggregate, Filter, Join, Project, Relation, Union, Window

Run = Callable[[str], list[tuple[object, ...]]]


def relations(relation: Relation) -> Iterator[Relation]:
    """Yield a relation and all below it."""
    yield relation
    match relation:
        case Filter(source) | Project(source) | Window(source) | Aggregate(source):
            yield from relations(source)
        case Join(left=left, right=right) | Union(left, right):
            yield from relations(left)
            yield from relations(right)


class Claims:
    """Judges relations on one database; ``asked`` has the statements that it ran, each once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.asked: dict[str, list[str]] = {}

    def broken(self, relation: Relation) -> list[str]:
        """Return the claims of a relation, and of those below it, that rows break."""
        return [said for each in relations(relation) for said in self._of(each)]

    def _of(self, relation: Relation) -> list[str]:
        owned = ownership_of(relation)
        claims = dict(_public(owned) if isinstance(owned, Public) else _owned(owned, relation))
        asked = ", ".join(f"EXISTS (FROM ({rows}))" for rows in claims.values())
        sql = f"WITH r AS MATERIALIZED ({relation_sql(relation)}) SELECT {asked}"
        if sql not in self.asked:
            [found] = self._run(sql)
            self.asked[sql] = [said for said, breaks in zip(claims, found, strict=True) if breaks]
        return self.asked[sql]


def _public(public: Public) -> Iterator[tuple[str, str]]:
    yield f"at most {public.size} rows", f"SELECT count(*) AS n FROM r HAVING n > {public.size}"
    for key in public.keys:
        yield f"unique: {sorted(key)}", _twice(sorted(key), where=sorted(key))


def _owned(owned: Owned, relation: Relation) -> Iterator[tuple[str, str]]:
    facts, unit = facts_of(relation), quote(owned.unit)
    told = telling(owned, facts)
    yield "a unit", f"SELECT 1 FROM r WHERE {unit} IS NULL"
    for key in owned.row_keys:
        yield (
            f"row key: {sorted(key)}",
            _twice(sorted(key | {owned.unit}), where=[] if key in told else sorted(key)),
        )
    if owned.at_most is not None:
        many = f"HAVING count(*) > {owned.at_most}"
        yield f"at most {owned.at_most} rows", f"SELECT 1 FROM r GROUP BY {unit} {many}"
    for name in sorted(owned.settled - {owned.unit}):
        values = f"count(DISTINCT hash({quote(name)})) > 1"
        yield f"settled: {name}", f"SELECT 1 FROM r GROUP BY {unit} HAVING {values}"
    for name in sorted(owned.units - {owned.unit}):
        yield f"the unit: {name}", f"SELECT 1 FROM r WHERE {unit} IS DISTINCT FROM {quote(name)}"
    for names in owned.spelled:
        columns = ", ".join(map(quote, names))
        pairs = f"(SELECT DISTINCT {unit}, {columns} FROM r)"
        yield f"one unit: {names}", f"SELECT 1 FROM {pairs} GROUP BY {columns} HAVING count(*) > 1"
    for name, fact in facts.items():
        if not fact.nullable:
            yield f"not NULL: {name}", f"SELECT 1 FROM r WHERE {quote(name)} IS NULL"


def _twice(names: list[str], where: list[str]) -> str:
    """Print the groups of columns that have several rows, of rows without NULL ``where`` that is asked."""
    there = "".join(f" AND {quote(name)} IS NOT NULL" for name in where)
    by = ", ".join(map(quote, names)) or "()"  # of no columns: there is one row
    return f"SELECT 1 FROM r WHERE true{there} GROUP BY {by} HAVING count(*) > 1"
