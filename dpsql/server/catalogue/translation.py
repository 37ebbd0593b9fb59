"""PostgreSQL's SQL over its catalogue -> DuckDB's SQL over the tables and macros of the sealed engine.

    SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c WHERE c.relname OPERATOR(pg_catalog.~) 'p'
    SELECT fn.regclass_name(c.oid) AS oid FROM pg_catalog_.pg_class AS c WHERE regexp_matches(c.relname, 'p')

Functions are allowed by name: macros of functions.py and DuckDB's pure ones (dpsql/parse/vocabulary.py).
Test: tests/server/test_catalogue_answers.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from dpsql.lazy_dataclass import dataclass
from dpsql.parse.allow_list import MAX_TEXT
from dpsql.parse.vocabulary import FUNCTIONS
from dpsql.server.catalogue.engine import engine_type, schema_of
from dpsql.server.catalogue.errors import CatalogueError
from dpsql.server.catalogue.functions import NAMES, REGISTERED
from dpsql.server.catalogue.reading import function_name, relation_name
from dpsql.server.catalogue.reference import relations
from dpsql.server.catalogue.result_types import inferred_types
from dpsql.server.catalogue.routing import (
    CATALOGUE_SCHEMAS,
    OTHER_TABLE_FUNCTIONS,
    TABLE_FUNCTIONS,
    cast_name,
)

Value = object

MOST_PARAMETERS = 1_000
_LONG = frozenset(
    """
    repeat lpad rpad levenshtein damerau_levenshtein editdist3 hamming mismatches jaccard jaro_similarity
    jaro_winkler_similarity list_resize array_resize bar
    """.split()
)
"""Functions of texts that take long, or much memory, over one row: neither limit of the engine stops them."""


@dataclass(frozen=True, slots=True)
class Translated:
    """The SQL that the engine runs, what it reads, and the names and types (or '') of its columns."""

    sql: str
    reads: tuple[str, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]


def translated(
    tree: exp.Expr, parameters: Sequence[Value], oids: Callable[[str, str], int | None]
) -> Translated:
    """Translate a statement. ``oids`` says which oid a name has: ("regclass", "patients") is 16384."""
    chosen = inferred_types(tree)
    tree = _filled(tree.copy(), parameters)
    names = _name_columns(tree)
    if names and len(names) != len(chosen):
        chosen = []
    _show_names(tree, chosen)
    tables, reads = _take_tables(tree)
    for node in list(tree.walk()):
        if isinstance(node, exp.Column):
            _take_column(node, tables)
    for node in reversed(list(tree.walk())):
        made = _taken(node, oids)
        if made is not node:
            node.replace(made)
    kinds = tuple(kind for _, kind in chosen)
    return Translated(tree.sql("duckdb"), tuple(sorted(reads)), names, kinds)


# ---- parameters and names of columns ------------------------------------------------------------------


def parameter_types(tree: exp.Expr) -> tuple[str, ...]:
    """Return the types of ``$1``, ``$2``, ...: that of a cast around one, else text."""
    found: dict[int, str] = {}
    for mark in tree.find_all(exp.Parameter):
        number = _number(mark)
        parent = mark.parent
        if isinstance(parent, exp.Cast):
            name = cast_name(parent.to) or parent.to.sql("postgres").lower()
            found[number] = f"_{name[:-2]}" if name.endswith("[]") else name
        else:
            found.setdefault(number, "text")
    return tuple(found.get(number, "text") for number in range(1, max(found, default=0) + 1))


def _number(mark: exp.Expr) -> int:
    name = str(mark.name)
    if not (name.isascii() and name.isdigit()):
        raise CatalogueError("a parameter is written as $1, $2, ...")
    if len(name) > 4 or not 0 < int(name) <= MOST_PARAMETERS:
        raise CatalogueError(f"a statement has at most ${MOST_PARAMETERS}")
    return int(name)


def _filled(tree: exp.Expr, parameters: Sequence[Value]) -> exp.Expr:
    """Write the values of parameters into a tree, as constants."""
    given = 0
    for mark in list(tree.find_all(exp.Parameter)):
        number = _number(mark)
        if not 1 <= number <= len(parameters):
            raise CatalogueError(f"there is no value for ${number}")
        given += len(str(parameters[number - 1]))
        if given > MAX_TEXT:
            raise CatalogueError(f"the values of this statement are longer than {MAX_TEXT:,} characters")
        mark.replace(_constant(parameters[number - 1]))
    return tree


def _constant(value: Value) -> exp.Expr:
    if isinstance(value, list | tuple):
        return exp.Array(expressions=[_constant(each) for each in value])
    if value is None or isinstance(value, bool | int | float | str):
        return exp.convert(value)
    raise CatalogueError("a value for the catalogue is a text, a number, a list or NULL")


def _name_columns(tree: exp.Expr) -> tuple[str, ...]:
    """Name the columns of the outermost query as PostgreSQL does; return what it selects, () for a star."""
    query = tree
    while isinstance(query, exp.Subquery | exp.SetOperation):
        query = query.this
    names: list[str] = []
    if not isinstance(query, exp.Select):
        return ()
    for each in query.expressions:
        if each.is_star:
            return ()
        names.append(each.alias or _postgres_name(each))
    for each, name in zip(list(query.expressions), names, strict=True):
        if not isinstance(each, exp.Alias) and _postgres_name(each) != each.name:
            each.replace(exp.alias_(each.copy(), name, quoted=True))
    return tuple(names)


def _show_names(tree: exp.Expr, chosen: Sequence[tuple[str, str]]) -> None:
    """Show columns of regproc and the like as the names of what they refer to, as PostgreSQL does."""
    if isinstance(tree, exp.Select) and len(chosen) == len(tree.expressions):
        for each, (name, kind) in zip(list(tree.expressions), chosen, strict=True):
            inner = each.unalias()
            if kind in REGISTERED and isinstance(inner, exp.Column):
                each.replace(exp.alias_(_macro(f"{kind}_name", inner.copy()), name, quoted=True))


def _postgres_name(node: exp.Expr) -> str:
    """Return the name that PostgreSQL gives to an expression: count, case, ?column?."""
    name = _own_name(node)
    if name:
        return name
    while isinstance(node, exp.Paren | exp.Bracket | exp.Collate):
        node = node.this
    if isinstance(node, exp.Cast):
        return cast_name(node.to) or str(node.to.sql("postgres")).lower()
    return "case" if isinstance(node, exp.Case) else "?column?"


def _own_name(node: exp.Expr) -> str:
    """Return the name of a column or a function, through casts; '' for what has none."""
    if isinstance(node, exp.Alias | exp.Column):
        return str(node.alias_or_name)
    if isinstance(node, exp.Paren | exp.Bracket | exp.Collate | exp.Cast):
        return _own_name(node.this)
    if isinstance(node, exp.Dot):
        return function_name(node) or str(node.expression.name)
    if isinstance(node, exp.Case):
        last = node.args.get("default")
        return "" if last is None else _own_name(last)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select) and node.this.expressions:
        return _own_name(node.this.expressions[0])
    if isinstance(node, exp.Connector | exp.Binary | exp.Unary):
        return ""
    return _RENAMED.get(function_name(node), function_name(node))


_RENAMED = {
    "explode": "unnest",
    "group_concat": "string_agg",
    "logical_or": "bool_or",
    "logical_and": "bool_and",
}


# ---- tables and columns -------------------------------------------------------------------------------


def _take_tables(tree: exp.Expr) -> tuple[dict[str, str], set[str]]:
    """Point tables at the engine's schemas; return the names that the statement uses for them, and all."""
    inner = {cte.alias for cte in tree.find_all(exp.CTE)}
    for cte in tree.find_all(exp.CTE):  # out of its scope the name then finds nothing of the engine's own
        cte.args["alias"].set("this", exp.to_identifier(_WITH + cte.alias, quoted=True))
    found: dict[str, str] = {}
    reads = set()
    for table in list(tree.find_all(exp.Table)):
        name, schema = relation_name(table), str(table.db) or "pg_catalog"
        if not isinstance(table.this, exp.Identifier):
            if name in OTHER_TABLE_FUNCTIONS:
                raise CatalogueError(f"{name}() is not answered")
            if name not in TABLE_FUNCTIONS:
                _take_call(table, name)
                continue
            name = TABLE_FUNCTIONS[name]
        elif not table.db and name in inner:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
            table.set("this", exp.to_identifier(_WITH + name, quoted=True))
            continue
        full = f"{schema}.{name}"
        if schema not in CATALOGUE_SCHEMAS or full not in relations():
            raise CatalogueError(f"there is no catalogue table {full}")
        alias = table.alias or name
        found[alias] = full
        reads.add(full)
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        table.set("this", exp.to_identifier(name, quoted=True))
        table.set("db", exp.to_identifier(schema_of(schema), quoted=True))
        table.set("catalog", None)
    return found, reads


_WITH = "with "


def _take_call(table: exp.Table, name: str) -> None:
    """Name the column of a function in FROM as its table; select a function that is no table in DuckDB."""
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    numbered = table.args.get("ordinality")
    if not alias.columns:
        names = (alias.name, "ordinality") if numbered else (alias.name,)
        alias.set("columns", [exp.to_identifier(each, quoted=True) for each in names])
    if numbered:
        rows = exp.Subquery(this=exp.Select(expressions=[table.this.copy()]))
        places = exp.Window(this=exp.RowNumber())
        query = exp.Select(expressions=[exp.Star(), places]).from_(rows)
        table.replace(exp.Subquery(this=query, alias=alias))
    elif name in _SERIES:
        table.set("alias", alias)
        table.set("db", None)
    else:
        table.replace(exp.Subquery(this=exp.Select(expressions=[table.this.copy()]), alias=alias))


_SERIES = ("unnest", "explode", "generate_series", "exploding_generate_series", "generate_subscripts")


def _take_column(column: exp.Column, tables: dict[str, str]) -> None:
    """Name columns without a schema; xmin, tableoid and the keyword user are no columns of the engine."""
    column.set("db", None)
    column.set("catalog", None)
    if column.name in ("xmin", "tableoid"):
        full = tables.get(column.table) or (next(iter(tables.values())) if len(tables) == 1 else "")
        oid = relations()[full].oid if full and column.name == "tableoid" else 1
        column.replace(_number_of(oid))
    elif column.name == "user" and not column.table:
        column.replace(_macro("current_user"))


# ---- functions, casts, operators ----------------------------------------------------------------------


def _macro(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"fn.{name}", expressions=list(arguments))


_CLASSES = (
    exp.All,
    exp.Any,
    exp.Array,
    exp.ArrayAgg,
    exp.ArrayContainsAll,
    exp.ArrayOverlaps,
    exp.ArraySize,
    exp.ArrayToString,
    exp.Case,
    exp.Cast,
    exp.Coalesce,
    exp.Concat,
    exp.Connector,
    exp.Count,
    exp.Dot,
    exp.Exists,
    exp.Explode,
    exp.Extract,
    exp.GroupConcat,
    exp.If,
    exp.JSONObject,
    exp.LogicalAnd,
    exp.LogicalOr,
    exp.Lower,
    exp.Nullif,
    exp.Pow,
    exp.RegexpILike,
    exp.RegexpLike,
    exp.RowNumber,
    exp.StrPosition,
    exp.StringToArray,
    exp.Substring,
    exp.Trim,
    exp.Unnest,
    exp.Upper,
)
"""Functions that sqlglot knows by a class of their own, and that only depend on their arguments."""
_OTHER = {"json_build_object": "json_object", "all": "all", "any": "any", "some": "any"}
_MACROS = {f"fn.{name}" for name in (*NAMES, *REGISTERED, *(f"{name}_name" for name in REGISTERED))}
_WITHIN_FROM = {"generate_series", "exploding_generate_series", "generate_subscripts"}
_OPERATORS = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "~": exp.RegexpLike,
    "~*": exp.RegexpILike,
    "~~": exp.Like,
}


def _taken(node: exp.Expr, oids: Callable[[str, str], int | None]) -> exp.Expr:
    """Return what stands for a node of PostgreSQL's SQL in the engine."""
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        return _called(node.expression)  # pg_catalog.f(x)
    if isinstance(node, exp.Collate):
        return _uncollated(node)
    if isinstance(node, exp.Operator):
        operator = str(node.args["operator"]).removeprefix("pg_catalog.")
        negated = operator[:1] == "!" and operator not in _OPERATORS
        kind = _OPERATORS.get(operator.removeprefix("!") if negated else operator)
        if kind is None:
            raise CatalogueError(f"the operator {operator} is not answered")
        made = kind(this=node.this, expression=_uncollated(node.expression))
        return exp.Not(this=exp.Paren(this=made)) if negated else made
    if isinstance(node, exp.Any) and isinstance(node.this.unnest(), exp.Literal):
        return exp.Any(this=exp.Paren(this=_array(node.this.unnest().name)))
    if isinstance(node, exp.Cast):
        return _cast(node, oids)
    if isinstance(node, exp.Into | exp.Lock):
        raise CatalogueError("the catalogue is only read")
    return _called(node) if isinstance(node, exp.Func) else node


def _uncollated(node: exp.Expr) -> exp.Expr:
    inner: exp.Expr = node.this if isinstance(node, exp.Collate) else node
    return inner


def _called(call: exp.Func) -> exp.Expr:
    name = function_name(call)
    if name in NAMES:
        arguments = call.expressions if isinstance(call, exp.Anonymous) else list(call.iter_expressions())
        return _macro(name, *arguments)
    if isinstance(call, exp.Format):
        return _formatted(call)
    if isinstance(call, exp.Anonymous):
        if name in _MACROS:
            return call
        if name in _OTHER:
            call.set("this", _OTHER[name])
        elif name in _LONG or (name not in FUNCTIONS and name not in _WITHIN_FROM):
            raise CatalogueError(f"the function {name} is not answered")
        return call
    named = {name, *(each.lower() for each in call.sql_names())}
    if named & _LONG:
        raise CatalogueError(f"the function {name} is not answered")
    if not isinstance(call, _CLASSES) and not named & FUNCTIONS and not named & _WITHIN_FROM:
        raise CatalogueError(f"the function {name} is not answered")
    return call


def _formatted(call: exp.Format) -> exp.Expr:
    """Return PostgreSQL's format('%I.%s', x, y) as a concatenation."""
    if not isinstance(call.this, exp.Literal):
        raise CatalogueError("format is answered for a constant pattern")
    pieces, values = re.split(r"(%[sIL%])", call.this.name), list(call.expressions)
    parts: list[exp.Expr] = []
    for piece in pieces:
        if piece in ("%s", "%I", "%L") and values:
            value = exp.Cast(this=values.pop(0), to=exp.DataType(this=exp.DType.VARCHAR))
            quoted = {"%I": "quote_ident", "%L": "quote_literal"}.get(piece)
            parts.append(_macro(quoted, value) if quoted else value)
        elif "%" in piece.replace("%%", ""):
            raise CatalogueError("this pattern of format is not answered")
        elif piece:
            parts.append(exp.Literal.string(piece.replace("%%", "%")))
    return exp.Anonymous(this="concat", expressions=parts or [exp.Literal.string("")])


def _cast(cast: exp.Cast, oids: Callable[[str, str], int | None]) -> exp.Expr:
    name, inner = cast_name(cast.to), cast.this
    if name in REGISTERED:
        return _registered(cast, name, oids)
    text = inner.unnest() if isinstance(inner, exp.Paren) else inner
    is_array = name[:1] == "_" or cast.to.is_type(exp.DType.ARRAY)
    if is_array and isinstance(text, exp.Literal) and text.is_string:
        cast.set("this", _array(text.name))
    if name[:1] == "_" and name[1:] in REGISTERED:
        name = "_oid"
    if name:
        cast.set("to", exp.DataType.build(engine_type(name), dialect="duckdb"))
    return cast


def _registered(cast: exp.Cast, name: str, oids: Callable[[str, str], int | None]) -> exp.Expr:
    """Return the oid of a name; or the name of an oid, where it is shown or cast to text."""
    parent = cast.parent
    while isinstance(parent, exp.Paren | exp.Alias):
        parent = parent.parent
    as_text = isinstance(parent, exp.Cast) and (
        cast_name(parent.to) in ("text", "name", "varchar") or parent.to.is_type(*exp.DataType.TEXT_TYPES)
    )
    shown = isinstance(parent, exp.Select) and parent.parent is None and cast.arg_key != "where"
    if isinstance(cast.this, exp.Literal) and cast.this.is_string and not as_text and not shown:
        oid = int(cast.this.name) if cast.this.name.isdigit() else oids(name, cast.this.name)
        return _number_of(oid)
    return _macro(f"{name}_name" if as_text or shown else name, cast.this)


def _number_of(oid: int | None) -> exp.Expr:
    value = exp.Null() if oid is None else exp.Literal.number(oid)
    return exp.Cast(this=value, to=exp.DataType(this=exp.DType.UINT))


def _array(text: str) -> exp.Expr:
    """Return the items of PostgreSQL's text of an array: {a,"b c"}."""
    items: list[exp.Expr] = []
    word, quoted, open_quote, escaped = "", False, False, False
    for char in text.strip().removeprefix("{").removesuffix("}") + ",":
        if escaped:
            word, escaped = word + char, False
        elif char == "\\":
            escaped = True
        elif char == '"':
            open_quote, quoted = not open_quote, True
        elif char == "," and not open_quote:
            if word or quoted:
                null = word.upper() == "NULL" and not quoted
                items.append(exp.Null() if null else exp.Literal.string(word if quoted else word.strip()))
            word, quoted = "", False
        else:
            word += char
    return exp.Array(expressions=items)
