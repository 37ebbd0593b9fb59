"""The types of ``$n`` that a client does not name, from what the statement compares them with. Free.

    WHERE age > $1 AND ward = $2 AND day BETWEEN $3 AND $4::DATE LIMIT $5
    INTEGER, VARCHAR, DATE, DATE, BIGINT; what is not compared with a column or cast is text

Only the policy's names and types are read. A wrong guess is a refusal of the query, never another answer.
Test: tests/unit/test_server_values.py
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from dpsql.errors import Error
from dpsql.parse.backtracking import too_nested
from dpsql.parse.marks import Marked
from dpsql.parse.parameters import number_marks
from dpsql.server.encoding import INT8, TEXT, kind_of

Columns = Mapping[str, Mapping[str, str]]
"""Tables, their columns and the types of these, with names in lower case."""

_TEXTS = (exp.Like, exp.ILike, exp.RegexpLike, exp.SimilarTo)
_BESIDE = exp.Predicate | exp.Add | exp.Sub | exp.Mul | exp.Mod
_SPELLED = {"INT": "INTEGER", "REAL": "FLOAT", "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE", "TEXT": "VARCHAR"}


def inferred(statement: Marked, tables: Columns) -> tuple[int, ...]:
    """Return the oids of the parameters of a statement."""
    found = [TEXT] * statement.count
    duckdb = Dialect.get_or_raise("duckdb")
    try:
        numbered = number_marks(list(duckdb.tokenize(statement.text)), (None,) * len(statement.order))
        if too_nested(numbered) is not None:
            return tuple(found)
        trees = [tree for tree in duckdb.parser().parse(numbered, statement.text) if tree is not None]
    except (SqlglotError, Error, RecursionError):  # it is refused where it is planned
        return tuple(found)
    for tree in trees:
        named = {table.name.casefold() for table in tree.find_all(exp.Table)}
        seen = {name: columns for name, columns in tables.items() if name in named}
        for mark in tree.find_all(exp.Placeholder, exp.Parameter):
            number = statement.order[int(mark.name) - 1] - 1
            if found[number] == TEXT:
                found[number] = _oid(mark, seen)
    return tuple(found)


def _oid(mark: exp.Expr, tables: Columns) -> int:
    node: exp.Expr = mark
    while isinstance(node.parent, exp.Paren | exp.Neg):
        node = node.parent
    parent = node.parent
    if isinstance(parent, exp.Limit | exp.Offset | exp.Fetch):
        return INT8
    if isinstance(parent, exp.Cast):
        return kind_of(_type(parent, tables)).oid
    if isinstance(parent, _BESIDE) and not isinstance(parent, _TEXTS):
        for other in parent.iter_expressions():
            if other is not node and (sql := _type(other.unnest(), tables)):
                return kind_of(sql).oid
    return TEXT


def _type(node: exp.Expr, tables: Columns) -> str:
    """Return the type of a column, of a count, or of what is cast; '' if it is not known."""
    if isinstance(node, exp.Cast):
        sql = str(node.args["to"].sql("duckdb"))
        return _SPELLED.get(sql, sql)
    if isinstance(node, exp.Count):
        return "BIGINT"
    name = node.name.casefold() if isinstance(node, exp.Column) else ""
    types = {columns[name] for columns in tables.values() if name in columns}
    return types.pop() if len(types) == 1 else ""
