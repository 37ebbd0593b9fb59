"""A client's statement over the catalogue, parsed as PostgreSQL's SQL.

    read("SELECT relname FROM pg_class WHERE oid = 'patients'::regclass")

``exp.Table`` nodes say what it reads (routing.py), and translation.py prints it for the sealed engine.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import Error
from dpsql.parse.allow_list import MAX_DEPTH, MAX_TEXT, check_depth, check_size
from dpsql.parse.backtracking import too_nested

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # its warnings contain the text of the query

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


def read(sql: str) -> exp.Expr | None:
    """Return the tree of a single query, with names folded as PostgreSQL folds them; None if it is none."""
    if len(sql) > MAX_TEXT:
        return None
    postgres = Dialect.get_or_raise("postgres")
    try:
        tokens = list(_arrays_by_name([*_aliases(list(postgres.tokenize(sql)))]))
        if _depth(tokens) > MAX_DEPTH or too_nested(tokens) is not None:
            return None
        found = [tree for tree in postgres.parser().parse(tokens, sql) if tree is not None]
        trees = [tree for tree in found if not isinstance(tree, exp.Semicolon)]
        if len(trees) != 1 or not isinstance(trees[0], QUERIES):
            return None
        check_depth(trees[0])
        check_size(trees[0])
    except (SqlglotError, Error, RecursionError):
        return None
    except Exception:  # the parser may raise anything on an arbitrary text
        return None
    for name in trees[0].find_all(exp.Identifier):
        if not name.args.get("quoted"):
            name.set("this", name.name.lower())
            name.set("quoted", True)
    return trees[0]


_OPENS = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}


def _depth(tokens: Iterable[Token]) -> int:
    depth = most = 0
    for token in tokens:
        depth += _OPENS.get(token.token_type, 0)
        most = max(most, depth)
    return most


_PRIVILEGES = (TokenType.SELECT, TokenType.INSERT, TokenType.UPDATE, TokenType.DELETE)


def _aliases(tokens: list[Token]) -> Iterator[Token]:
    """Read the keyword in ``has_table_privilege(...) AS select`` as a name, as PostgreSQL does behind AS."""
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.token_type is TokenType.ALIAS and token.token_type in _PRIVILEGES:
            yield Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        else:
            yield token


def _arrays_by_name(tokens: list[Token]) -> Iterator[Token]:
    """Write ``::oid[]`` as ``::_oid``, PostgreSQL's own name of this type: sqlglot reads no array of it."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        follows = [each.token_type for each in tokens[at + 1 : at + 3]]
        before = tokens[at - 1].token_type if at else None
        if follows == [TokenType.L_BRACKET, TokenType.R_BRACKET] and (
            before is TokenType.DOT or (before is TokenType.DCOLON and token.text.casefold() in _LACKING)
        ):
            yield Token(
                TokenType.VAR, "_" + token.text.lower(), token.line, token.col, token.start, token.end
            )
            at += 3
        else:
            yield token
            at += 1


_LACKING = {"oid", "name", "regclass", "regtype", "regproc", "regnamespace", "regrole", "xid", "int2vector"}


def relation_name(table: exp.Table) -> str:
    """Return the name of the relation or function that FROM names, as PostgreSQL folds it."""
    called = table.this
    return function_name(called) if isinstance(called, exp.Func | exp.Dot) else str(table.name)


def function_name(call: exp.Expr) -> str:
    """Return the name of a function in lower case, without a schema."""
    if isinstance(call, exp.Dot):
        return function_name(call.expression)
    if isinstance(call, exp.Anonymous):
        return str(call.name).casefold()
    name = type(call).sql_name().lower() if isinstance(call, exp.Func) else ""
    return "version" if name == "current_version" else name
