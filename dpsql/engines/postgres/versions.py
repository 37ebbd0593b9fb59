"""Which version of the data tables hold, as a digest of what changes with every way to change them.

    INSERT, UPDATE, DELETE, MERGE, COPY, TRUNCATE    a new random version, by a trigger of the owner's
    rows that a subscription writes                  the same, by a second one, and refused meanwhile
    ALTER TABLE ... TYPE, CLUSTER, VACUUM FULL       another file, or other columns
    DISABLE TRIGGER, DROP TRIGGER, a new one         another row of pg_trigger, or none: refused

Claim   two readings of one digest, each inside one snapshot, saw the same rows in the same columns.
Proof   A trigger that fires before each statement, ENABLE ALWAYS, writes a random version of its table in the
        statement's own transaction: rows and version are committed together, and writers of one table wait
        for each other at that row, so that each committed version is of one committed state. A subscription
        writes rows without statements: then a trigger for each row, ENABLE REPLICA, does the same, once in a
        transaction, which the version's own ``xmin`` tells. What else writes without statements on the table
        itself is refused: parents and partitions, unlogged tables (relations.py); so is a table that a
        subscription writes to now. What rewrites rows without a trigger gives the table another file; what
        reads the same file otherwise changes its columns, their types or their collations. A trigger that is
        disabled, or replaced, has another ``xmin``; so have the columns of a table that inherited, or was a
        partition, for a while. What decides that a table is refused is in its state as well: it is compared
        in each snapshot, not at opening alone. A database that is restored to an earlier state has the
        versions of that state; later writes get new ones, which are random and not counted on.
Test    tests/privacy/test_postgres_versions.py: each way to change data
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from dpsql.engines.postgres.relations import MARKS, Ask

_STATES = f"""
SELECT c.oid::int8, c.relfilenode::int8, t.triggers, v.version::text, c.xmin::text, a.columns, {MARKS}
FROM pg_catalog.pg_class AS c
LEFT JOIN LATERAL (
    SELECT string_agg(concat_ws(' ', t.oid, t.xmin, p.oid, p.xmin), ', ' ORDER BY t.tgname) AS triggers
    FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
    JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
    JOIN (VALUES ('dpsql_changed', 'A', 62, %s), ('dpsql_changed_rows', 'R', 29, %s))
        AS w(name, enabled, type, body)
        ON t.tgname = w.name AND t.tgenabled = w.enabled AND t.tgtype = w.type AND p.prosrc = w.body
    WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgqual IS NULL AND t.tgattr = '' AND t.tgnargs = 0
        AND p.pronamespace = 'dpsql'::regnamespace AND p.prosecdef AND l.lanname = 'plpgsql'
        AND p.proconfig = ARRAY['search_path=pg_catalog']
    HAVING count(*) = 2
) AS t ON true
LEFT JOIN dpsql.versions AS v ON v.relation = c.oid
LEFT JOIN LATERAL (
    SELECT string_agg(concat_ws(' ', a.xmin, a.attnum, quote_ident(a.attname), a.atttypid, a.atttypmod,
        a.attnotnull, a.attcollation, a.attgenerated), ', ' ORDER BY a.attnum) AS columns
    FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
) AS a ON true
WHERE c.oid = ANY(%s)
ORDER BY c.oid
"""

_READABLE = """
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'dpsql' AND c.relname = 'versions' AND c.relkind = 'r' AND
        has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
)
"""

State = tuple[object, ...]
"""What changes with the rows of a table: its file, its triggers, the version, its own row, columns, marks."""


@cache
def _bodies() -> tuple[str, str]:
    """Return the bodies of both triggers, as the owner's file creates them."""
    sql = files(__package__).joinpath("track_changes.sql").read_text("utf-8")
    of_statements, of_rows = re.findall(r"FUNCTION dpsql\.changed\w*\(\) .*?\$\$(.*?)\$\$;", sql, re.S)
    return of_statements, of_rows


def states(ask: Ask, oids: Sequence[int]) -> dict[int, State]:
    """Return the state of each table that is tracked; inside a snapshot, that of its rows there."""
    if ask(_READABLE, ()) != [(True,)]:
        return {}
    rows = ask(_STATES, (*_bodies(), list(oids)))
    return {
        int(str(oid)): tuple(state) for oid, *state in rows if state[1] is not None and state[2] is not None
    }
