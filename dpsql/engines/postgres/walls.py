"""What must hold of a server, a role and a session before a row is read; whatever does not is refused: D602.

Claim   while a session is open as ``check_session`` left it, the role writes nothing but temporary tables of
        its own (temporary_tables.py) and reads the tables as they are, names mean what PostgreSQL means by
        them, texts of numbers and times are in one format, and no setting makes a statement fail after some
        time.
Proof   The role is no superuser, has no right to write to the tables, to files or programs, and its sessions
        are read-only. Names are looked up in ``pg_catalog`` alone. Each setting is read back.
Test    tests/privacy/test_postgres_walls.py
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engines.postgres.relations import Ask
from dpsql.errors import DatabaseError, refuse

TESTED = (15,)
"""The major versions of the server for which the tests are run."""

_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "jit": "off",
    "default_transaction_read_only": "on",
    "row_security": "off",
    "transform_null_equals": "off",
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "client_min_messages": "error",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
}

_ROLE = """
SELECT rolsuper OR rolbypassrls OR rolreplication OR rolcreaterole OR rolcreatedb
    OR pg_has_role('pg_write_server_files', 'MEMBER') OR pg_has_role('pg_execute_server_program', 'MEMBER')
    OR pg_has_role('pg_read_server_files', 'MEMBER') OR pg_has_role('pg_write_all_data', 'MEMBER')
FROM pg_catalog.pg_roles WHERE rolname = current_user AND current_user = session_user
"""

_WRITES = """
SELECT c.relname::text FROM pg_catalog.pg_class AS c
WHERE c.oid = ANY(%s) AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
ORDER BY 1
"""


def check_session(ask: Ask, timezone: str) -> int:
    """Check the server and the role, and fix the session's settings; return the server's version."""
    [(version, encoding)] = ask(
        "SELECT current_setting('server_version_num')::int4, current_setting('server_encoding')", ()
    )
    number = int(str(version))
    if number // 10_000 not in TESTED:
        listed = " and ".join(map(str, TESTED))
        raise _closed(f"the server is PostgreSQL {number // 10_000}", f"this engine is tested with {listed}")
    if encoding != "UTF8":
        raise _closed("the database is not in UTF-8", "create it with ENCODING 'UTF8'")
    if ask(_ROLE, ()) != [(False,)]:
        raise _closed("this role may do more than read", "connect as a role that has SELECT and nothing else")
    for name, value in {**_SETTINGS, "TimeZone": timezone}.items():
        ask("SELECT set_config(%s, %s, false)", (name, value))
    for name, value in {**_SETTINGS, "TimeZone": timezone}.items():
        if ask("SELECT current_setting(%s)", (name,)) != [(value,)]:
            raise _closed(
                f"the setting {name} cannot be fixed", "connect to the server itself, without a pooler"
            )
    return number


def check_rights(ask: Ask, oids: Sequence[int]) -> None:
    """Refuse a role that may write to one of the tables."""
    writable = ask(_WRITES, (list(oids),))
    if writable:
        raise _closed(
            f"this role may write to {writable[0][0]}",
            "connect as a role that has SELECT on it and nothing else",
        )


def identity(ask: Ask) -> str:
    """Return the name of the database in ledgers: that of the cluster's files, and its number there."""
    [(cluster, number)] = ask(
        "SELECT (SELECT system_identifier FROM pg_catalog.pg_control_system())::text, oid::text "
        "FROM pg_catalog.pg_database WHERE datname = current_database()",
        (),
    )
    return f"postgresql:{cluster}:{number}"


def _closed(title: str, help: str) -> DatabaseError:
    return refuse("D602", title, help=help)
