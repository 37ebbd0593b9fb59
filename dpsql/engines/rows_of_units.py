"""SQL for how rows of a private table fit its units, as DuckDB and PostgreSQL read it; for the owner alone.

rides.rider_id is NULL, or leads nowhere        the row is nobody's, and no answer counts it
rides.rider_id = 17, no rider has this id       the row is protected as one of its own unit
a rider has 90 rides, rows_per_unit = 60        about thirty of them are clipped away

Only the largest of a few shares that is exceeded is told, never how many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dpsql.engines.identifiers import quote
from dpsql.engines.shares import exceeded
from dpsql.ir.relation import names_of
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import KnownTable


@dataclass(frozen=True, slots=True)
class Misfits:
    """More than one row in so many is nobody's, is of a unit that its table lacks, or is clipped; or None.

    Of a table that is linked to another, the first step to its unit is held against the rows.
    """

    nobody: int | None = None
    unknown: int | None = None
    beyond: int | None = None


def misfits_of(shares: Iterable[object]) -> Misfits:
    """Return the misfits of the row that the query fetched."""
    nobody, unknown, beyond = (int(each) if isinstance(each, int) else None for each in shares)
    return Misfits(nobody, unknown, beyond)


def misfits_sql(table: KnownTable, holder: KnownTable | None, rows: Callable[[str], str]) -> str:
    """Print the query for the misfits of a private table; ``holder`` has a row for each unit."""
    assert table.unit_column is not None
    source, at = [f"{rows(table.name)} AS t0"], 0
    for at, link in enumerate(table.links, 1):
        pairs = zip(names_of(link.column), names_of(link.key), strict=True)
        joined = " AND ".join(f"t{at - 1}.{quote(ours)} = t{at}.{quote(key)}" for ours, key in pairs)
        source.append(f"{rows(link.table)} AS t{at} ON {joined}")
    columns = names_of(table.unit_column)
    units = [f"t{at}.{quote(name)}" for name in columns]
    listed = ", ".join(f"{unit} AS u{place}" for place, unit in enumerate(units))
    led = [f"t1.{quote(name)}" for name in names_of(table.links[0].key)] if table.links else units
    lost = f"count(*) FILTER (WHERE {' OR '.join(f'{each} IS NULL' for each in led)})"
    kept = " AND ".join(f"t0.{quote(name)} IS NOT NULL" for name in table.filled) or "TRUE"
    counted = (
        f"SELECT {listed}, count(*) AS n, {lost} AS lost FROM {' LEFT JOIN '.join(source)} "
        f"WHERE {kept} GROUP BY {', '.join(units)}"
    )
    is_somebody = " AND ".join(f"u{place} IS NOT NULL" for place in range(len(columns)))
    if table.links or holder is None or holder.unit_column is None:
        known = f"SELECT c.*, TRUE AS held FROM ({counted}) AS c"
    else:
        keys = [f"h.{quote(name)}" for name in names_of(holder.unit_column)]
        same = " AND ".join(f"c.u{place} = {key}" for place, key in enumerate(keys))
        known = (
            f"SELECT c.*, {keys[0]} IS NOT NULL AS held FROM ({counted}) AS c "
            f"LEFT JOIN {rows(holder.name)} AS h ON {same}"
        )
    beyond = "0" if table.rows is None else f"greatest(n - {table.rows}, 0)"
    unknown = f"sum(n) FILTER (WHERE {is_somebody} AND NOT held)"
    clipped, theirs = (f"sum({number}) FILTER (WHERE {is_somebody})" for number in (beyond, "n"))
    parts = (("sum(lost)", "sum(n)"), (unknown, "sum(n)"), (clipped, theirs))
    return f"SELECT {', '.join(exceeded(*each) for each in parts)} FROM ({known}) AS k"
