"""Units and links of several columns in SQL: one STRUCT, which is NULL where one of its columns is.

    t0.patient_id                                                  of one column
    struct_pack(u1 := CAST(t0.hid AS BIGINT), u2 := t0.pno)        of two, in rows that have both
    CASE WHEN t0.hid IS NOT NULL AND t0.pno IS NOT NULL THEN struct_pack(...) END      in any row

Claim   the values of two rows are equal where all columns are, and nowhere else: as groups, as sides of a
        join, in DISTINCT and IN, and hashed.
Proof   DuckDB compares and hashes a STRUCT field by field, and never as a text. A field has one type in every
        table (``Owner.fact``), whose values hold those of each column, and the kinds are those with an exact
        equality (policy/units.py). No field is NULL: such a row belongs to nobody.
Test    tests/privacy/test_unit_by_columns.py: texts that are equal when glued together, NULL in each column
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.engines.identifiers import quote
from dpsql.ir.column import Type
from dpsql.ir.relation import Columns, names_of, unit_types


def value_sql(columns: Columns, row: str, type: Type | None = None) -> str:
    """Print the value of columns in a row that has them all, as fields of the types of a STRUCT if given."""
    if isinstance(columns, str):
        return f"{row}.{quote(columns)}"
    fields = (None,) * len(columns) if type is None else unit_types(type)
    printed = (
        f"u{place} := {_as(f'{row}.{quote(name)}', field)}"
        for place, (name, field) in enumerate(zip(columns, fields, strict=True), 1)
    )
    return f"struct_pack({', '.join(printed)})"


def _as(sql: str, type: Type | None) -> str:
    return sql if type is None else f"CAST({sql} AS {type.sql})"


def there_sql(columns: Columns, row: str) -> str:
    """Print whether none of the columns is NULL."""
    return " AND ".join(f"{row}.{quote(name)} IS NOT NULL" for name in names_of(columns))


def nullable_sql(columns: Columns, row: str, type: Type | None = None) -> str:
    """Print the value of columns, NULL where one of them is."""
    if isinstance(columns, str):
        return value_sql(columns, row)
    return f"CASE WHEN {there_sql(columns, row)} THEN {value_sql(columns, row, type)} END"


def equal_sql(columns: Columns, row: str, others: Columns, other_row: str) -> str:
    """Print whether columns of two rows are equal, one by one."""
    pairs = zip(names_of(columns), names_of(others), strict=True)
    return " AND ".join(f"{row}.{quote(name)} = {other_row}.{quote(other)}" for name, other in pairs)


def parts_of(value: str, columns: Columns) -> Iterable[str]:
    """Return the parts of a value that stand for the columns: the value itself, or its fields."""
    if isinstance(columns, str):
        return (value,)
    return tuple(f"struct_extract({value}, 'u{place}')" for place in range(1, len(columns) + 1))
