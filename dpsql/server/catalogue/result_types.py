"""PostgreSQL's types of the columns of an answer: clients read "char" and name otherwise than text.

    SELECT c.relkind, n.nspname AS schema, c.oid::int8 FROM pg_class c JOIN pg_namespace n ON ...
           "char"     name                 int8

A column is followed through subqueries and WITH to the catalogue table that it is from. Where that fails, the
type is that of the engine.
Test: tests/server/test_catalogue_answers.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dpsql.server.catalogue.reading import function_name, relation_name
from dpsql.server.catalogue.reference import relations, type_oids, types_by_any_name
from dpsql.server.catalogue.routing import TABLE_FUNCTIONS, cast_name

Types = Mapping[str, str]
"""Names of columns, and their types; '' is not known."""

_DOMAINS = {
    "sql_identifier": "name",
    "character_data": "varchar",
    "yes_or_no": "varchar",
    "cardinal_number": "int4",
    "time_stamp": "timestamptz",
}
_ENGINE = {
    "BOOLEAN": "bool",
    "UINTEGER": "oid",
    "TINYINT": "int2",
    "SMALLINT": "int2",
    "INTEGER": "int4",
    "BIGINT": "int8",
    "HUGEINT": "int8",
    "FLOAT": "float4",
    "DOUBLE": "float8",
    "TIMESTAMP": "timestamp",
    "JSON": "json",
}
_ALIKE = {"char", "name", "varchar", "text", "json"}
"""Types that the engine holds as VARCHAR."""


_NAMES = frozenset(
    "current_schema current_database current_catalog current_user session_user current_role pg_get_userbyid "
    "pg_encoding_to_char pg_client_encoding getdatabaseencoding".split()
)
"""Functions that return PostgreSQL's type of names."""


def oid_of(inferred: str, engine: str) -> int:
    """Return the oid of a column of an answer: the inferred type if the engine holds it so."""
    inferred = _DOMAINS.get(inferred, inferred)
    held = _engine_name(engine)
    if inferred == {"_int2": "int2vector", "_oid": "oidvector"}.get(held):
        return type_oids()[inferred]
    if inferred in type_oids() and (inferred == held or (held == "text" and inferred in _ALIKE)):
        return type_oids()[inferred]
    if inferred[:1] == "_" and held == "_text" and inferred[1:] in _ALIKE:
        return type_oids()[inferred]
    return type_oids()[held]


def _engine_name(engine: str) -> str:
    if engine.endswith("[]"):
        inner = _engine_name(engine[:-2])
        return inner if inner[0] == "_" else f"_{inner}"
    return _ENGINE.get(engine, "text")


def inferred_types(query: exp.Expr, outer: Mapping[str, Types] | None = None) -> list[tuple[str, str]]:
    """Return the names and types of what a query selects."""
    if isinstance(query, exp.Subquery):
        return inferred_types(query.this, outer)
    named = dict(outer or {})
    clause = query.args.get("with_") or query.args.get("with")
    for cte in clause.expressions if clause is not None else []:
        named[cte.alias] = {}  # what refers to itself is not known yet
        found = inferred_types(cte.this, named)
        names = cte.args["alias"].columns if cte.args.get("alias") else []
        for at, name in enumerate(names[: len(found)]):
            found[at] = (name.name, found[at][1])
        named[cte.alias] = dict(found)
    if isinstance(query, exp.SetOperation):
        return inferred_types(query.this, named)
    if not isinstance(query, exp.Select):
        return []
    sources = dict(_sources(query, named))
    chosen: list[tuple[str, str]] = []
    for each in query.expressions:
        if isinstance(each, exp.Star) or (isinstance(each, exp.Column) and isinstance(each.this, exp.Star)):
            table = each.table if isinstance(each, exp.Column) else ""
            for name, columns in sources.items():
                if table in ("", name):
                    chosen += columns.items()
        else:
            chosen.append((each.alias_or_name, _type(each.unalias(), sources, named)))
    return chosen


def _sources(query: exp.Select, named: Mapping[str, Types]) -> Iterator[tuple[str, Types]]:
    clause = query.args.get("from_") or query.args.get("from")
    holders = [clause] if clause is not None else []
    for holder in [*holders, *query.args.get("joins", ()), *query.args.get("laterals", ())]:
        source = holder.this if isinstance(holder, exp.From | exp.Join) else holder
        yield from _source(source, named)


def _source(source: exp.Expr, named: Mapping[str, Types]) -> Iterator[tuple[str, Types]]:
    if isinstance(source, exp.Table):
        name = relation_name(source)
        full = f"{source.db or 'pg_catalog'}.{TABLE_FUNCTIONS.get(name, name)}"
        columns = named.get(name) if not source.db else None
        if columns is None:
            columns = relations()[full].columns if full in relations() else {}
        yield source.alias_or_name, columns
        joined = source.args.get("joins") or []
    elif isinstance(source, exp.Subquery | exp.Lateral) and isinstance(
        source.this, exp.Select | exp.SetOperation
    ):
        yield source.alias_or_name, dict(inferred_types(source.this, named))
        joined = source.args.get("joins") or []
    else:
        if isinstance(source, exp.Lateral | exp.Paren | exp.Subquery):  # (a JOIN b ON ...) is one of a table
            yield from _source(source.this, named)
        joined = source.args.get("joins") or []
    for join in joined:
        yield from _source(join.this, named)


def _type(node: exp.Expr, sources: Mapping[str, Types], named: Mapping[str, Types]) -> str:
    if isinstance(node, exp.Column):
        held = [sources.get(node.table, {})] if node.table else sources.values()
        return next((columns[node.name] for columns in held if node.name in columns), "")
    if isinstance(node, exp.Cast):
        name = cast_name(node.to) or node.to.sql("postgres").lower()
        name = f"_{name[:-2]}" if name.endswith("[]") else name
        short = {oid: known for known, oid in type_oids().items()}
        return short.get(types_by_any_name().get(name, 0), name)
    if isinstance(node, exp.ArrayAgg):
        inner = node.this.this if isinstance(node.this, exp.Order) else node.this
        return f"_{kind}" if (kind := _type(inner, sources, named)) else ""
    if isinstance(node, exp.Array) and node.expressions and isinstance(node.expressions[0], exp.Select):
        chosen = inferred_types(node.expressions[0], named)
        return f"_{chosen[0][1]}" if len(chosen) == 1 else ""
    if function_name(node) in _NAMES:
        return "name"
    if isinstance(node, exp.Paren | exp.Max | exp.Min | exp.Coalesce | exp.Nullif):
        return _type(node.this, sources, named)
    if isinstance(node, exp.Case):
        results = [*(each.args["true"] for each in node.args.get("ifs", ())), node.args.get("default")]
        kinds = {_type(each, sources, named) for each in results if each is not None} - {""}
        return kinds.pop() if len(kinds) == 1 else ""
    if isinstance(node, exp.Subquery):
        chosen = inferred_types(node.this, named)
        return chosen[0][1] if len(chosen) == 1 else ""
    return ""
