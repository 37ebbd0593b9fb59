"""What ``current_setting`` and pg_settings say: the settings that clients read, the same for everybody.

SELECT current_setting('server_version_num')      150000
"""

from __future__ import annotations

from dpsql import __version__

SERVER_VERSION = "15.0"
"""The version of PostgreSQL whose catalogue is shown; clients choose their statements by it."""

VERSION = f"PostgreSQL {SERVER_VERSION} (dpsql {__version__}: the SQL of its answers is DuckDB's)"


def settings_of(analyst: str) -> dict[str, str]:
    """Return the settings, by their names in lower case."""
    return {
        "application_name": "",
        "block_size": "8192",
        "client_encoding": "UTF8",
        "datestyle": "ISO, MDY",
        "default_table_access_method": "heap",
        "default_tablespace": "",
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "on",
        "extra_float_digits": "1",
        "in_hot_standby": "off",
        "integer_datetimes": "on",
        "intervalstyle": "postgres",
        "is_superuser": "off",
        "jit": "off",
        "lc_collate": "C.UTF-8",
        "lc_ctype": "C.UTF-8",
        "lc_messages": "C.UTF-8",
        "max_identifier_length": "63",
        "max_index_keys": "32",
        "role": "none",
        "search_path": '"$user", public',
        "server_encoding": "UTF8",
        "server_version": SERVER_VERSION,
        "server_version_num": "150000",
        "session_authorization": analyst,
        "standard_conforming_strings": "on",
        "statement_timeout": "0",
        "timezone": "UTC",
        "transaction_isolation": "read committed",
        "transaction_read_only": "on",
        "wal_level": "replica",
    }
