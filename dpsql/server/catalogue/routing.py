"""Whether a statement asks the catalogue: by the tables and functions that it names, once it is parsed.

    SELECT relname FROM pg_class                                     yes
    SELECT COUNT(*) FROM patients WHERE ward <> 'pg_class'           no: it reads patients
    SELECT * FROM pg_class, patients                                 no: not the catalogue alone
    SELECT version(), SELECT 1                                       yes: nothing is read
    SELECT 7 / 2                                                     no: DuckDB's SQL answers

Claim   a statement that names a table or view of the policy is never answered by the catalogue.
Proof   Every table of the parsed statement is a relation of the catalogue that no relation of the policy
        hides, or a name of WITH that no relation of the policy has. The sealed engine would hold no row of
        another table anyway: what this rules out is an answer from the wrong place.
Test    tests/server/test_catalogue_routing.py
"""

from __future__ import annotations

import re
from collections.abc import Set

from sqlglot import exp

from dpsql.server.catalogue.functions import NAMES, REGISTERED
from dpsql.server.catalogue.reading import function_name, read, relation_name
from dpsql.server.catalogue.reference import relations

CATALOGUE_SCHEMAS = ("pg_catalog", "information_schema")
_READ_NOTHING = frozenset(
    "unnest explode generate_series exploding_generate_series generate_subscripts string_to_array".split()
)
"""Functions that FROM may call beside catalogue tables."""
TABLE_FUNCTIONS = {"pg_show_all_settings": "pg_settings", "pg_get_keywords": "pg_get_keywords"}
"""Functions of PostgreSQL that FROM may call, and the relations that hold their rows."""
OTHER_TABLE_FUNCTIONS = frozenset(
    """
    pg_options_to_table aclexplode pg_timezone_names pg_available_extensions pg_tablespace_databases
    pg_stat_get_activity pg_lock_status pg_partition_tree pg_get_publication_tables pg_listening_channels
    """.split()
)
"""Functions of PostgreSQL that ask the catalogue, which does not answer them."""
_WORDS = "|".join((*sorted(NAMES), *REGISTERED))
_MENTIONED = re.compile(
    rf"\b(?:pg_|_pg_|information_schema\b|has_\w+_privilege|user\b|session_user\b|{_WORDS})", re.IGNORECASE
)
_READS = re.compile(r"\b(?:from|table|join|values|with)\b", re.IGNORECASE)
"""A statement that has a word of the latter and none of the former names nothing of the catalogue."""
_LITERALS = (exp.Literal, exp.Null, exp.Boolean)


def asked_of(sql: str, database: str, hidden: Set[tuple[str, str]]) -> exp.Expr | None:
    """Return the tree of a statement that asks the catalogue alone, else None.

    ``hidden`` are the relations of the policy, with schema and name in lower case.
    """
    if _MENTIONED.search(sql) is None and _READS.search(sql) is not None:
        return None  # it names nothing of the catalogue, so parsing it would say no
    tree = read(sql)
    if tree is None:
        return None
    unqualified = {name for schema, name in hidden if schema in ("public", "main")}
    inner = {cte.alias for cte in tree.find_all(exp.CTE)}
    asks = False
    for table in tree.find_all(exp.Table):
        name, schema = relation_name(table), str(table.db)
        if table.catalog and table.catalog != database:
            return None
        if not isinstance(table.this, exp.Identifier):
            known = name in TABLE_FUNCTIONS or name in OTHER_TABLE_FUNCTIONS or name in NAMES
            if not known and name not in _READ_NOTHING:
                return None
            asks |= known
        elif (schema.casefold(), name.casefold()) in hidden:
            return None
        elif schema in CATALOGUE_SCHEMAS:
            asks = True
        elif schema or name.casefold() in unqualified:
            return None
        elif f"pg_catalog.{name}" in relations():
            asks = True
        elif name not in inner:
            return None
    return tree if asks or _is_about_the_server(tree) else None


def _is_about_the_server(tree: exp.Expr) -> bool:
    """Whether a statement without tables calls a function of the catalogue, or selects plain constants."""
    if any(function_name(call) in NAMES for call in tree.find_all(exp.Func)):
        return True
    if any(_is_user(column) for column in tree.find_all(exp.Column)):
        return tree.find(exp.Table) is None
    if any(cast_name(cast.to) in REGISTERED for cast in tree.find_all(exp.Cast)):
        return True
    chosen = tree.expressions if isinstance(tree, exp.Select) else []
    plain = {"expressions"} == {name for name, value in tree.args.items() if value}
    return bool(chosen) and plain and all(isinstance(each.unalias(), _LITERALS) for each in chosen)


def _is_user(column: exp.Column) -> bool:
    return column.name == "user" and not column.table


def cast_name(kind: exp.Expr) -> str:
    """Return the name of the type of a cast, such as regclass or _oid; '' for a type that sqlglot knows."""
    if isinstance(kind, exp.ObjectIdentifier | exp.PseudoType):
        return str(kind.this).casefold()
    if not isinstance(kind, exp.DataType):
        return ""
    if kind.this is exp.DType.NAME:
        return "name"
    named = kind.args.get("kind")
    if isinstance(named, exp.Dot):
        named = named.expression
    return str(named.name if isinstance(named, exp.Expr) else named or "").casefold()
