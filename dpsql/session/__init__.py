"""Session: policy, engine and ledger of one connection.

Opening checks every declaration of the policy against the database, once for each version of the data. If
one fails, the owner must repair it before any query is answered.
"""

from __future__ import annotations

import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.accounting.ledger import Ledger
from dpsql.engines.open_database import open_database
from dpsql.engines.public_rows import PublicRows
from dpsql.errors import Error
from dpsql.policy.catalogue import Key, Known, KnownView
from dpsql.policy.check import compare, declared_keys, known, snapshot
from dpsql.policy.seen import seen_by
from dpsql.policy.toml_positions import document_of
from dpsql.post.sealed import Sealed
from dpsql.session.blocks import blocks_in, refused_list
from dpsql.session.budget import AnalystBudget
from dpsql.session.checks import (
    Verified,
    check_readable,
    fact,
    keep_types,
    kept_types,
    load_policy,
    promise,
    second_places,
    with_ranges,
)
from dpsql.session.data_versions import DataVersions
from dpsql.session.drawing import Drawing
from dpsql.session.found_bounds import bounds_in, marked
from dpsql.session.kept_plans import KeptPlans, ReadOnce

if TYPE_CHECKING:  # what binds, plans and releases loads with the first query
    from dpsql.accounting.entries import Measured, Search
    from dpsql.accounting.named_alerts import NamedAlert
    from dpsql.engines.postgres.url import PostgresUrl
    from dpsql.engines.spark.address import SparkAddress
    from dpsql.ir.bound import Bound, Missing
    from dpsql.ir.plan import Plan
    from dpsql.policy.catalogue import Catalogue
    from dpsql.policy.listing import Table, View


_COMBINATIONS = 4
"""How many lists of public values a session keeps."""


class Session(AnalystBudget):
    """One analyst (or the owner, ``analyst`` None) at one database under one policy."""

    def __init__(
        self,
        database: Path | PostgresUrl | SparkAddress,
        policy: Path,
        ledger: Path,
        analyst: str | None,
        study: str | None = None,
    ) -> None:
        super().__init__(load_policy(policy), analyst, study)
        self.engine = open_database(database, self.policy)
        try:
            self.strategies = Path(f"{ledger}-strategies")
            places = second_places(self.policy, policy, ledger)
            bound = promise(self.policy, self.engine)
            self.blocks = blocks_in(self.policy, self.engine)
            with refused_list(self.policy):
                self.ledger = Ledger.open(ledger, bound, self.granted, places=places)
            try:
                self.accountant = self.ledger.accountant
                self.versions = DataVersions(self.engine, self.ledger)
                self.known: Known = self._checked()
            except BaseException:  # Ctrl-C too: closed, and raised again
                self.ledger.close()
                raise
        except BaseException:  # Ctrl-C too: closed, and raised again
            self.engine.close()
            raise
        self.drawing = Drawing()
        self.clock: datetime.datetime | None = None  # a fixed time for now(), for all queries
        self.joint_plans: dict[str, Plan] = {}  # of a file's statements that are measured together, by name
        self.together: Plan | None = None  # the one of the statement that is asked now
        self.pending: tuple[KnownView, ...] | None = None  # private views that a file creates, to price it
        self.pending_alerts: tuple[NamedAlert, ...] | None = None  # alerts that a file creates, to price it
        self.kept = KeptPlans(self._stands)
        public = PublicRows(self.engine, self.known)
        self.sealed = Sealed(public, self.policy.timezone, self.policy.limits)
        # public rows come from the file that was opened: while it stands, these are the same
        self.combinations = lru_cache(maxsize=_COMBINATIONS)(self.engine.combinations)
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
        names = {table.name for table in catalogue.tables}
        verified = Verified(self.ledger, self.versions)
        keys = declared_keys(self.policy, catalogue)
        old: set[Key] = {key for key in keys if verified.has(key.table, _key_fact(key))}
        fresh = {key for key in keys if key not in old and self.engine.is_key(key)}
        sizes = {
            table.name: self.engine.size(_spelling(table.name, names))
            for table in self.policy.tables
            if table.public and _spelling(table.name, names) in names
        }
        declared = known(self.policy, catalogue, sizes, old | fresh)
        check_readable(self.engine, declared, verified)
        result = seen_by(with_ranges(declared, self.engine), self.policy, self.analyst)
        for key in fresh:
            verified.add(key.table, _key_fact(key))
        verified.note()
        if self.checks_units:
            self.checked = self._checked_units(declared)
        return marked(result, self.policy, self.ledger.forgotten())

    def _checked_units(self, known: Known) -> int:
        """Note in which block each unit is; return the entry since which they are checked."""
        from dpsql.session.units_seen import check_units

        wanted, document = self.granted().blocks, document_of(self.policy.text, self.policy.name)
        assert wanted is not None, "checks_units"
        with refused_list(self.policy):
            return check_units(self.engine, self.ledger, self.versions, known, wanted, document)

    def _checked_views(self) -> dict[str, View]:
        """Return the columns of each view, or raise D808."""
        if not self.known.views:
            return {}
        from dpsql.session.views import check_all_views

        return check_all_views(self.policy, self.known, self.engine, self.sealed, self.analyst)

    def _same_types(self, catalogue: Catalogue) -> None:
        """Check that no column of the policy changed its type since it was last noted in the ledger."""
        latest = kept_types(self.ledger)
        if latest is not None:
            compare(latest, self.policy, catalogue)
        keep_types(self.ledger, snapshot(self.policy, catalogue))

    # ---- bounds -------------------------------------------------------------------------------------

    @property
    def find_bounds(self) -> bool:
        """Whether the owner lets queries find bounds that the policy leaves out."""
        return self.policy.query.find_bounds

    def bounds(self, missing: Missing) -> tuple[Bound, ...]:
        """Return the found bounds, oldest first: of any version of the data, if the owner lets them last."""
        return self.kept.ask(partial(self._bounds, missing))

    def _bounds(self, missing: Missing) -> tuple[Bound, ...]:
        lasting = self.policy.query.bounds_last
        return bounds_in(self.ledger, self.known, missing, lambda data: lasting or self._is_now(data))

    def searches(self, missing: Missing) -> tuple[Search, ...]:
        """Return paid searches for this bound in this data, and perhaps others, that have no answer yet."""
        from dpsql.plan.bound_search import name_of

        self.engine.unchanged()  # their answers must come from this version
        searches = self.ledger.searches(name_of(missing, self.known))
        return tuple(search for search in searches if self._is_now(search.data))

    def _is_now(self, data: Measured) -> bool:
        """Whether the tables still hold what they held then."""
        return self.versions.of(data.tables) == data.version

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
        """Whether a query has paid for a bound search in this data."""
        return self.kept.ask(partial(self._asked, asker))

    def _asked(self, asker: str) -> bool:
        return any(map(self._is_now, self.ledger.asked(asker)))

    def moment(self) -> ReadOnce:
        """Return the value of now() in a query, which is read with its first use."""
        return ReadOnce(self.kept, self._now)

    def _now(self) -> tuple[datetime.datetime, str]:
        """Return the time, and its spelling: one moment has another date in another time zone."""
        moment = self.clock or datetime.datetime.now(datetime.UTC)
        return moment, moment.isoformat()

    def _stands(self) -> bool:
        """Whether the database is still the one that was opened."""
        try:
            self.engine.unchanged()
        except Error:
            return False
        return True

    def interrupt(self) -> None:
        """Interrupt what runs; nothing while noise is drawn that is not stored yet."""
        if not self.drawing.defers():
            self.engine.interrupt()
            self.sealed.interrupt()

    def close(self) -> None:
        self.sealed.close()
        self.ledger.close()
        self.engine.close()


def _key_fact(key: Key) -> str:
    return fact("key", key.table, key.columns)


def _spelling(name: str, names: set[str]) -> str:
    """Return the database's own spelling of a table's name."""
    return next((spelling for spelling in names if spelling.casefold() == name.casefold()), name)
