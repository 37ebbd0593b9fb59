"""DuckDB's types as PostgreSQL's: DECIMAL(10,2) is numeric with its typmod, HUGEINT a numeric, a list a text.

Claim   what the catalogue says of a column is what a client can read from the text of its values.
Test    tests/server/test_catalogue_relations.py
"""

from __future__ import annotations

import re

OIDS = {
    "BOOLEAN": 16,
    "BLOB": 17,
    "TINYINT": 21,
    "SMALLINT": 21,
    "UTINYINT": 21,
    "INTEGER": 23,
    "USMALLINT": 23,
    "BIGINT": 20,
    "UINTEGER": 20,
    "FLOAT": 700,
    "DOUBLE": 701,
    "JSON": 114,
    "DATE": 1082,
    "TIME": 1083,
    "TIME WITH TIME ZONE": 1266,
    "TIMESTAMP": 1114,
    "TIMESTAMP_S": 1114,
    "TIMESTAMP_MS": 1114,
    "TIMESTAMP_NS": 1114,
    "TIMESTAMP WITH TIME ZONE": 1184,
    "INTERVAL": 1186,
    "UUID": 2950,
}
NUMERIC, TEXT = 1700, 25
_DIGITS = {"HUGEINT": 39, "UHUGEINT": 39, "UBIGINT": 20}


def oid_and_typmod(name: str) -> tuple[int, int]:
    """Return PostgreSQL's type of a DuckDB type and its modifier (or -1). What it lacks is text."""
    if name in _DIGITS:
        return NUMERIC, (_DIGITS[name] << 16) + 4
    decimal = re.fullmatch(r"DECIMAL\((\d+), ?(\d+)\)", name)
    if decimal is not None:
        return NUMERIC, (int(decimal[1]) << 16 | int(decimal[2])) + 4
    return OIDS.get(name, TEXT), -1
