"""The settings of PostgreSQL that clients know, as SHOW, pg_settings and current_setting say them.

FIXED    a client may ask, and set to the same
FREE     a client may set to anything: nothing depends on it
SHOWN    asked in the catalogue alone

Test: tests/unit/test_server_setting_values.py
"""

from __future__ import annotations

SERVER_VERSION = "15.0"
"""The version of PostgreSQL that the protocol and the catalogue are like; clients choose statements by it."""

COLLATION = "C.UTF-8"
FIXED = {
    "client_encoding": "UTF8",
    "server_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "in_hot_standby": "off",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "bytea_output": "hex",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "lc_collate": COLLATION,
    "lc_ctype": COLLATION,
    "escape_string_warning": "on",
    "server_version_num": "150000",
}
FREE = {
    "application_name": "",
    "extra_float_digits": "1",
    "search_path": '"$user", public',
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "notice",
    "row_security": "on",
    "jit": "off",
    "geqo": "on",
    "work_mem": "4MB",
    "enable_seqscan": "on",
    "synchronous_commit": "on",
    "session_authorization": "",
    "tcp_keepalives_idle": "0",
}
SHOWN = {
    "block_size": "8192",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "lc_messages": COLLATION,
    "role": "none",
    "server_version": SERVER_VERSION,
    "statement_timeout": "0",
    "timezone": "UTC",
    "wal_level": "replica",
}
