"""Allow-list of syntax and functions for whole queries.

Below the release point the binder is stricter: it handles each node type explicitly. Above it, this list
and the vocabulary define the language. Printed SQL is checked again, token by token, before it runs
(``check_printed``): a call of an unvetted name never reaches an engine.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

from dpsql.aggregates import by_name
from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.parse.other_aggregates import INSTEAD
from dpsql.parse.other_functions import ELSEWHERE, instead_of
from dpsql.parse.spans import span_of
from dpsql.parse.vocabulary import FUNCTIONS, UNVETTED

MAX_TEXT = 100_000
MAX_DEPTH = 200
MAX_NODES = 5_000

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values, exp.Pivot)

_SYNTAX: tuple[type[exp.Expr], ...] = (
    exp.Select,
    exp.SetOperation,
    exp.Subquery,
    exp.With,
    exp.CTE,
    exp.TableAlias,
    exp.Table,
    exp.Identifier,
    exp.Column,
    exp.Star,
    exp.Alias,
    exp.From,
    exp.Join,
    exp.Where,
    exp.Group,
    exp.Having,
    exp.Qualify,
    exp.Order,
    exp.Ordered,
    exp.Limit,
    exp.Offset,
    exp.Distinct,
    exp.Values,
    exp.Tuple,
    exp.Paren,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.Placeholder,
    exp.Parameter,
    exp.Window,
    exp.WindowSpec,
    exp.Filter,
    exp.WithinGroup,
    exp.IgnoreNulls,
    exp.RespectNulls,
    exp.DataType,
    exp.DataTypeParam,
    exp.Interval,
    exp.IntervalSpan,
    exp.Var,
    exp.Binary,
    exp.Unary,
    exp.Between,
    exp.In,
    exp.Exists,
    exp.Any,
    exp.All,
    exp.Func,
    exp.If,
    exp.Rollup,
    exp.Cube,
    exp.GroupingSets,
    exp.Aliases,
    exp.PropertyEQ,
    exp.Pivot,
    exp.PivotAlias,
    exp.UnpivotColumns,
    exp.Lateral,
    exp.Unnest,
    exp.LimitOptions,
    exp.Fetch,
    exp.All,
    exp.Any,
    exp.Bracket,
    exp.Slice,
    exp.AtTimeZone,
    exp.JSONPath,
    exp.JSONPathPart,
)
_NEVER: tuple[type[exp.Expr], ...] = (
    exp.Dot,
    exp.Collate,
    exp.PositionalColumn,
    exp.TableSample,
    exp.Lambda,
    exp.Columns,
    exp.SessionParameter,
    exp.Rand,
)
_WORDS = frozenset(  # keywords and types that may precede an opening parenthesis in printed SQL
    """
    in as over filter values exists any all and or not select from where when then else by on between
    union except intersect having qualify is like ilike using case distinct within decimal varchar
    timestamp interval cast try_cast try extract grouping partition order with rollup cube sets exclude
    replace rename join limit offset similar to coalesce nullif if escape recursive materialized end
    substring position trim ceil percent zone at floor text date time group window rows groups
    """.split()
) | {"grouping sets", "partition by", "order by", "group by"}
_MISREAD: dict[type[exp.Expr], tuple[str, str]] = {
    exp.ToChar: ("to_char", "write strftime(x, '%Y-%m') for moments, format or printf for numbers"),
    exp.ToNumber: ("to_number", "write x::DOUBLE, or TRY_CAST(x AS DOUBLE)"),
    exp.MakeInterval: ("make_interval", "write INTERVAL '1' DAY, or to_days(x)"),
}
"""Functions that DuckDB lacks, and of which sqlglot drops arguments where it prints them for DuckDB."""
_REMEDIES: dict[str, str] = {
    "Dot": "write the function's call as f(x), a column as table.column",
    "TableSample": "leave the sample out: noise is added whatever the size",
    "PositionalColumn": "name the column",
    "Collate": "compare lower(x), or cast",
    "Lambda": "write the expression without a lambda; a part of JSON as json_extract(x, '$.a')",
    "Columns": "write the columns out: SUM(a), SUM(b)",
}


def check_tree(tree: exp.Expr, text: str) -> None:
    """Refuse the first node that is not on the allow-list."""
    schemas = {"", "main", *(table.db.casefold() for table in tree.find_all(exp.Table))}
    for node in tree.walk():
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Identifier | exp.Star):
            raise refuse("D105", "this name is not a plain column", span_of(node, text), help="name a column")
        if isinstance(node, exp.Column) and (node.catalog or node.db.casefold() not in schemas):
            raise refuse(
                "D202",
                f"there is no schema {node.db} here",
                span_of(node, text),
                help="name the column as table.column",
            )
        if isinstance(node, exp.Star) and _stray_star(node):
            raise refuse(
                "D105",
                "a star is not allowed here",
                span_of(node, text) or span_of(node.parent or node, text),
                help="write SELECT *, t.* or COUNT(*), or write the columns out",
            )
        bound = isinstance(node.parent, exp.Binary | exp.Unary | exp.Between | exp.In)
        if isinstance(node, exp.BitwiseNot) and bound and not isinstance(node.parent, exp.Paren):
            raise refuse(  # ~1 - 3 is ~(1 - 3) in DuckDB, and (~1) - 3 in sqlglot
                "D105",
                "~ beside another operator is not answered",
                span_of(node, text),
                help="put it into parentheses: (~x) - 3",
            )
        if isinstance(node, exp.Rand):
            span = span_of(node, text)
            word, called, _ = ("", "", "") if span is None else text[span.start : span.end].partition("(")
            name = word.strip() if called else type(node).sql_name().lower()
            raise unknown_function(name, span)
        if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.ENUM:
            raise refuse(
                "D105",
                "a cast to an ENUM is not answered",
                span_of(node, text) or (span_of(node.parent, text) if node.parent else None),
                help="order by a CASE: CASE x WHEN 'small' THEN 1 WHEN 'big' THEN 2 END",
            )
        if type(node) in _MISREAD:
            name, instead = _MISREAD[type(node)]
            raise refuse("D204", f"there is no function {name}", span_of(node, text), help=instead)
        if _is_field(node):
            continue
        if isinstance(node, _NEVER) or not isinstance(node, _SYNTAX) or _misplaced(node):
            name = type(node).__name__
            raise refuse(
                "D105",
                "this piece of syntax is not answered",
                span_of(node, text) or (span_of(node.parent, text) if node.parent else None),
                label=f"it is read as {_in_words(name)}",
                help=_field_of(node, text)
                or _REMEDIES.get(
                    name, "write it with SELECT, FROM, JOIN, WHERE, GROUP BY and plain functions"
                ),
            )
        if isinstance(node, exp.Anonymous) and not _is_known(node.name.casefold()):
            raise unknown_function(node.name, span_of(node, text))


def _is_field(node: exp.Expr) -> bool:
    """Whether this is a field of what DP_BETA and the like return: DP_BETA(yes, no).low."""
    called = node.this if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier) else None
    while isinstance(called, exp.Paren):
        called = called.this
    return isinstance(called, exp.Anonymous) and called.name.casefold() in POSTERIORS


def _field_of(node: exp.Expr, text: str) -> str | None:
    """Return how the field of a struct is written that (home).town means; None of anything else."""
    if not isinstance(node, exp.Dot) or not isinstance(node.expression, exp.Identifier):
        return None
    span = span_of(node.this.unnest(), text)
    named = "x" if span is None else text[span.start : span.end]
    if isinstance(node.this.unnest(), exp.Column) and not node.this.unnest().args.get("table"):
        return f"write the field as {named}.{node.expression.sql(dialect='duckdb')}"
    return f"write the field as {named}['{node.expression.name}']"


def _stray_star(node: exp.Star) -> bool:
    """Whether a star is neither an item of a select list nor the only argument of COUNT."""
    parent = node.parent
    if isinstance(parent, exp.Column):
        return not isinstance(parent.parent, exp.Select)
    counted = isinstance(parent, exp.Count) and not any(node.args.values())
    return not isinstance(parent, exp.Select | exp.Columns) and not counted


def _misplaced(node: exp.Expr) -> bool:
    """Whether a LATERAL, UNNEST or PIVOT of a table is outside of FROM."""
    parent = node.parent
    if isinstance(node, exp.Unnest) and isinstance(parent, exp.Lateral):
        return False
    if isinstance(node, exp.Lateral | exp.Unnest):
        return not isinstance(parent, exp.Join | exp.From)
    if isinstance(node, exp.Pivot) and node.arg_key == "pivots":
        return parent is None or not isinstance(parent.parent, exp.From | exp.Join | exp.Subquery)
    return False


def _in_words(name: str) -> str:
    """Return a class name in words: PositionalColumn -> a positional column."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return words if words[-1] == "s" else f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


_TABLES = frozenset(("range", "generate_series"))
INTERVALS = ("dp_interval_low", "dp_interval_high")
MODELS = ("dp_linear", "dp_logistic", "dp_covariance")
POSTERIORS = ("dp_beta", "dp_gamma", "dp_normal")
OWN = frozenset(("dp_randomized_response", *INTERVALS, *MODELS, *POSTERIORS))
"""Functions of dpsql that the binder handles; they never reach an engine."""
_VETTED = "compute it from functions that are vetted: they are listed in dpsql/docs/language.md"
_MEANT = {"average": ["avg"]}
_CLAUSE = "write it behind SELECT: SELECT OPTIONS(epsilon = 1) DISTINCT ..."


def _is_known(name: str) -> bool:
    """Whether a plain call is of a vetted function, or of an aggregate that the binder reads."""
    return name in FUNCTIONS | _TABLES | OWN or name in by_name()


def unknown_function(name: str, span: Span | None) -> Error:
    """Return the refusal of a function that is not vetted, or does not exist."""
    folded = name.casefold()
    if folded in UNVETTED:
        return refuse(
            "D251",
            f"{name} is not on the list of vetted functions",
            span,
            label="nobody has checked what this function reads, or how it fails",
            help=_instead(folded),
        )
    better = {name for name, said in INSTEAD.items() if said.startswith("write ")}
    known = sorted((FUNCTIONS | OWN) - better)
    elsewhere = _CLAUSE if folded == "options" else ELSEWHERE.get(folded)
    close = _MEANT.get(folded) or difflib.get_close_matches(folded.removeprefix("anon_"), known, 1, 0.75)
    return refuse(
        "D204",
        f"there is no function {name}",
        span,
        help=elsewhere or (f"did you mean {close[0]}?" if close else _VETTED),
    )


def _instead(name: str) -> str:
    """Return what to write instead of an unvetted function or aggregate."""
    known = instead_of(name)
    if known is not None:
        return known
    if name.startswith(("read_", "parquet", "glob", "sniff", "query", "json_execute", "arrow_", "pandas_")):
        return "read a table or a view of the policy, by its name: SELECT ... FROM t"
    if name.startswith(("duckdb_", "pragma_", "stats", "current_", "getvariable")):
        return "functions about the engine are not answered: query the data instead, SELECT COUNT(*) FROM t"
    if name in ("rand", "random", "setseed", "uuid", "gen_random_uuid", "uuidv4", "uuidv7"):
        return "leave randomness out: noise is added anyway, and its seed cannot be chosen"
    if name == "age":
        return "write date_sub('year', x, y), which are the whole years from x to y; or 'month', or 'day'"
    if name == "hash":
        return "write md5(x); for a few parts of equal size, md5_number_lower(x::VARCHAR) % 2"
    return _VETTED


def check_size(tree: exp.Expr) -> None:
    """Refuse a tree that would take long to plan: a thousand sums in one query, or two thousand CTEs."""
    plain = (exp.Literal, exp.Identifier, exp.Tuple)  # lists of values have a separate limit
    if sum(not isinstance(node, plain) for node in tree.walk()) > MAX_NODES:
        raise refuse(
            "D103",
            f"the query has more than {MAX_NODES:,} columns and calls",
            help="ask several smaller queries",
        )


def check_depth(tree: exp.Expr) -> None:
    """Refuse a tree that is too deep for recursion (a chain of 200 ORs should be an IN)."""
    level: list[exp.Expr] = [tree]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise refuse(
                "D103",
                f"the query is nested deeper than {MAX_DEPTH} levels",
                help="write long chains of OR as IN (...), and split the query into CTEs",
            )
        level = [child for node in level for child in node.iter_expressions()]


@lru_cache(maxsize=64)  # most queries print what others print
def check_printed(sql: str) -> None:
    """Refuse printed SQL that calls an unvetted name, before anything is charged."""
    tokens = Dialect.get_or_raise("duckdb").tokenize(sql)
    named = {TokenType.ALIAS, TokenType.WITH, TokenType.RECURSIVE}
    for before, token, following in zip([None, *tokens], tokens, tokens[1:], strict=False):
        if token.token_type is TokenType.IDENTIFIER and before is not None and before.token_type in named:
            continue  # "name"(columns) after AS or WITH names a table
        if following.token_type is not TokenType.L_PAREN or token.token_type in _PUNCTUATION:
            continue
        name = token.text.casefold()
        if name == "enum" and before is not None and before.token_type is TokenType.ALIAS:
            continue  # CAST('a' AS ENUM('a', 'b')): no query has such a cast, but public rows may
        if (name[:1].isalpha() or name[:1] == "_") and name not in _PRINTED:
            raise unknown_function(token.text.lower(), None)


_PRINTED = FUNCTIONS | _TABLES | _WORDS
_PUNCTUATION = (TokenType.L_PAREN, TokenType.COMMA, TokenType.STRING, TokenType.NUMBER)
