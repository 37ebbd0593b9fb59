"""Which group keys have a public list of values: those groups always appear, and no threshold is paid."""

from __future__ import annotations

from math import prod

from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Categories, Domain, Listed
from dpsql.ir.plan import Measure
from dpsql.policy.catalogue import Known

MOST_GROUPS = 100_000
"""Beyond this many combinations the keys count as private: an answer of zeros helps nobody."""


def public_keys(measure: Measure, known: Known) -> tuple[tuple[Domain, bool], ...] | None:
    """Each key's list and whether NULL is on it, or None where some key has none (or they are too many)."""
    facts = facts_of(measure.relation)
    found: list[tuple[Domain, bool]] = []
    sizes: list[int] = []
    for key in measure.keys:
        fact = fact_of(key.scalar, facts)
        match fact.domain:
            case Categories(values):
                sizes.append(len(values) + fact.nullable)
            case Listed(table):
                holder = known.table(table)
                assert holder is not None
                sizes.append((holder.size or 0) + fact.nullable)
            case _:
                return None
        found.append((fact.domain, fact.nullable))
    return tuple(found) if prod(sizes) <= MOST_GROUPS else None
