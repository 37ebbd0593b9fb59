"""Session: policy, engine and ledger of one connection.

Opening checks every declaration of the policy against the database, once for each version of the data. If
one fails, the owner must repair it before any query is answered.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.accounting.ledger import Ledger
from dpsql.engines.open_database import open_database
from dpsql.ir.column import Categories, Column, Fact, Interval, Listed
from dpsql.policy.catalogue import Key, Known
from dpsql.policy.check import compare, declared_keys, known, snapshot
from dpsql.policy.model import version
from dpsql.post.sealed import Sealed
from dpsql.session.budget import AnalystBudget
from dpsql.session.checks import check_readable, fact, keep_types, kept_types, load_policy, promise

if TYPE_CHECKING:  # what binds, plans and releases loads with the first query
    from dpsql.accounting.entries import Search
    from dpsql.ir.bound import Bound, Missing
    from dpsql.policy.catalogue import Catalogue
    from dpsql.policy.listing import Table, View


class Session(AnalystBudget):
    """One analyst (or the owner, ``analyst`` None) at one database under one policy."""

    def __init__(self, database: Path, policy: Path, ledger: Path, analyst: str | None) -> None:
        super().__init__(load_policy(policy), analyst)
        self.engine = open_database(database, self.policy)
        try:
            self.ledger = Ledger.open(ledger, promise(self.policy, self.engine), self.granted())
            try:
                self.known: Known = self._checked()
            except BaseException:  # Ctrl-C too: closed, and raised again
                self.ledger.close()
                raise
        except BaseException:  # Ctrl-C too: closed, and raised again
            self.engine.close()
            raise
        self.clock: datetime.datetime | None = None  # a fixed time for now(), for all queries
        self.version = f"{self.engine.version()}:{version(self.policy)}"
        self.sealed = Sealed(self._public_rows, self.policy.timezone, self.policy.limits)
        try:
            self.views = self._checked_views()
        except BaseException:  # Ctrl-C too: closed, and raised again
            self.close()
            raise

    # ---- opening -----------------------------------------------------------------------------------

    def _checked(self) -> Known:
        """Check the policy against the catalogue and verify its keys on the present data."""
        catalogue = self.engine.describe()
        self._same_types(catalogue)
        reading = self.engine.reading()
        verified = self.ledger.verified(reading)
        keys = declared_keys(self.policy, catalogue)
        old: set[Key] = {key for key in keys if _key_fact(key) in verified}
        fresh = {key for key in keys if key not in old and self.engine.is_key(key)}
        names = {table.name for table in catalogue.tables}
        sizes = {
            table.name: self.engine.size(_spelling(table.name, names))
            for table in self.policy.tables
            if table.public and _spelling(table.name, names) in names
        }
        declared = known(self.policy, catalogue, sizes, old | fresh)
        facts = {_key_fact(key) for key in fresh} | check_readable(self.engine, declared, verified)
        result = self._with_ranges(declared)
        if facts:
            self.ledger.note_verified(reading, frozenset(facts))
        return result

    def _checked_views(self) -> dict[str, View]:
        """Return the columns of each view, or raise D808."""
        if not self.known.views:
            return {}
        from dpsql.session.views import check_all_views

        return check_all_views(self.policy, self.known, self.engine, self.sealed)

    def _with_ranges(self, declared: Known) -> Known:
        """Add to each column of a public table the range of its values."""
        tables = []
        for table in declared.tables:
            ranges = self.engine.ranges(table.name) if table.public else {}
            columns = tuple(_with_range(column, ranges.get(column.name)) for column in table.columns)
            tables.append(replace(table, columns=columns))
        return replace(declared, tables=tuple(tables))

    def _same_types(self, catalogue: Catalogue) -> None:
        """Check that no column of the policy changed its type since it was last noted in the ledger."""
        latest = kept_types(self.ledger)
        if latest is not None:
            compare(latest, self.policy, catalogue)
        keep_types(self.ledger, snapshot(self.policy, catalogue))

    def _public_rows(self, table: str) -> tuple[list[str], list[str], list[tuple[object, ...]]]:
        public = self.known.table(table)
        assert public is not None
        assert public.public, "only public tables are copied"
        types, rows = self.engine.rows(table)
        return [column.name for column in public.columns], types, rows

    # ---- bounds -------------------------------------------------------------------------------------

    @property
    def find_bounds(self) -> bool:
        """Whether the owner lets queries find bounds that the policy leaves out."""
        return self.policy.query.find_bounds

    def bounds(self, missing: Missing) -> tuple[Bound, ...]:
        """Return the found bounds for this version of the data, oldest first."""
        from dpsql.plan.bound_search import bound_of, name_of
        from dpsql.release.serialization import from_bytes

        bounds = []
        for stored, where in self.ledger.found(name_of(missing, self.known), self.version):
            place = int(from_bytes(stored, [1] * where.tables)[where.place].sums[0, 0])
            bound = bound_of(missing, self.known, place, where.time)
            bounds.append(replace(bound, strength=where.strength, paid=where.epsilon, asker=where.asker))
        return tuple(bounds)

    def searches(self, missing: Missing) -> tuple[Search, ...]:
        """Return paid searches for this bound, and perhaps others, that have no answer yet."""
        from dpsql.plan.bound_search import name_of

        self.engine.unchanged()  # their answers must come from this version
        return self.ledger.searches(name_of(missing, self.known), self.version)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables and views that an analyst may query, with the bounds found so far."""
        from dpsql.facts.missing_bounds import all_missing_bounds
        from dpsql.policy.found_bounds import with_bounds
        from dpsql.policy.listing import tables_of

        strongest = [
            max(bounds, key=lambda bound: bound.strength)
            for bounds in map(self.bounds, all_missing_bounds(self.known))
            if bounds
        ]
        return tables_of(with_bounds(self.known, strongest), self.views)

    def asked(self, asker: str) -> bool:
        """Whether a query has paid for a bound search."""
        return self.ledger.asked(asker, self.version)

    def now(self) -> datetime.datetime:
        """Return the value of now() in a query."""
        return self.clock or datetime.datetime.now(datetime.UTC)

    def close(self) -> None:
        self.sealed.close()
        self.ledger.close()
        self.engine.close()


def _with_range(column: Column, bounds: Interval | None) -> Column:
    fact = column.fact
    if bounds is None or isinstance(fact.domain, Interval | Categories):
        return column
    domain = replace(fact.domain, bounds=bounds) if isinstance(fact.domain, Listed) else bounds
    return Column(column.name, Fact(fact.type, domain, fact.nullable))


def _key_fact(key: Key) -> str:
    return fact("key", key.table, key.columns)


def _spelling(name: str, names: set[str]) -> str:
    """Return the database's own spelling of a table's name."""
    return next((spelling for spelling in names if spelling.casefold() == name.casefold()), name)
