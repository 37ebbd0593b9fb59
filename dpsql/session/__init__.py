"""A session: the policy, the engine and the ledger that a connection holds for as long as it lasts.

Opening checks everything that the policy declares against the database, once for the same data read alike;
what fails is the owner's to see and to mend, and nothing is answered before that.
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
    from dpsql.ir.bound import Bound, MissingBound
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
            except BaseException:
                self.ledger.close()
                raise
        except BaseException:
            self.engine.close()
            raise
        self.clock: datetime.datetime | None = None  # a time at which all queries are asked
        self.version = f"{self.engine.version()}:{version(self.policy)}"
        self.sealed = Sealed(self._public_rows, self.policy.timezone, self.policy.limits)
        try:
            self.views = self._checked_views()
        except BaseException:
            self.close()
            raise

    # ---- opening -----------------------------------------------------------------------------------

    def _checked(self) -> Known:
        """The policy held against the catalogue, its keys verified for this data as it is read now."""
        catalogue = self.engine.describe()
        self._same_types(catalogue)
        reading = self.engine.reading()
        verified = self.ledger.verified(reading)
        keys = declared_keys(self.policy, catalogue)
        held: set[Key] = {key for key in keys if _said(key) in verified}
        fresh = {key for key in keys if key not in held and self.engine.is_key(key)}
        names = {table.name for table in catalogue.tables}
        sizes = {
            table.name: self.engine.size(_spelling(table.name, names))
            for table in self.policy.tables
            if table.public and _spelling(table.name, names) in names
        }
        found = known(self.policy, catalogue, sizes, held | fresh)
        facts = {_said(key) for key in fresh} | check_readable(self.engine, found, verified)
        result = self._with_ranges(found)
        if facts:
            self.ledger.note_verified(reading, frozenset(facts))
        return result

    def _checked_views(self) -> dict[str, View]:
        """What each view holds, or D808."""
        if not self.known.views:
            return {}
        from dpsql.session.views import check_all_views

        return check_all_views(self.policy, self.known, self.engine, self.sealed)

    def _with_ranges(self, found: Known) -> Known:
        """What public tables show of their own numbers: the least and the greatest of each column."""
        tables = []
        for table in found.tables:
            ranges = self.engine.ranges(table.name) if table.public else {}
            columns = tuple(_with_range(column, ranges.get(column.name)) for column in table.columns)
            tables.append(replace(table, columns=columns))
        return replace(found, tables=tuple(tables))

    def _same_types(self, catalogue: Catalogue) -> None:
        """No mentioned column changed its type since the ledger last saw it."""
        latest = kept_types(self.ledger)
        if latest is not None:
            compare(latest, self.policy, catalogue)
        keep_types(self.ledger, snapshot(self.policy, catalogue))

    def _public_rows(self, table: str) -> tuple[list[str], list[str], list[tuple[object, ...]]]:
        found = self.known.table(table)
        assert found is not None
        assert found.public, "only public tables are copied"
        types, rows = self.engine.rows(table)
        return [column.name for column in found.columns], types, rows

    # ---- what is known ------------------------------------------------------------------------------

    @property
    def find_bounds(self) -> bool:
        """Whether the owner lets queries find what the policy leaves out."""
        return self.policy.query.find_bounds

    def bounds(self, missing: MissingBound) -> tuple[Bound, ...]:
        """What was found of it for this version of the data, the first first."""
        from dpsql.plan.bound_search import bound_of, name_of
        from dpsql.release.serialization import from_bytes

        found = []
        for stored, where in self.ledger.found(name_of(missing, self.known), self.version):
            place = int(from_bytes(stored, [1] * where.tables)[where.place].sums[0, 0])
            bound = bound_of(missing, self.known, place, where.time)
            how = replace(bound, strength=where.strength, paid=where.epsilon, asker=where.asker)
            found.append(how)
        return tuple(found)

    def searches(self, missing: MissingBound) -> tuple[Search, ...]:
        """What was paid for finding it, and for others with it, and has no answer yet."""
        from dpsql.plan.bound_search import name_of

        self.engine.unchanged()  # an answer to them is one of this version
        return self.ledger.searches(name_of(missing, self.known), self.version)

    def tables(self) -> tuple[Table, ...]:
        """What exists for an analyst, with the bounds that were found by now."""
        from dpsql.facts.missing_bounds import all_missing_bounds
        from dpsql.policy.found_bounds import with_bounds
        from dpsql.policy.listing import tables_of

        found = [
            max(each, key=lambda bound: bound.strength)
            for each in map(self.bounds, all_missing_bounds(self.known))
            if each
        ]
        return tables_of(with_bounds(self.known, found), self.views)

    def asked(self, asker: str) -> bool:
        """Whether a query has paid for bounds."""
        return self.ledger.asked(asker, self.version)

    def now(self) -> datetime.datetime:
        """What a query's now() is."""
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


def _said(key: Key) -> str:
    return fact("key", key.table, key.columns)


def _spelling(name: str, names: set[str]) -> str:
    """The database's own spelling of a table's name."""
    return next((each for each in names if each.casefold() == name.casefold()), name)
