"""Syntax colours: a text as styled pieces, [("keyword", "SELECT"), ("", " "), ("function", "AVG"), ...].

A table after FROM that does not exist has the style "unknown".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dpsql.shell.completion.functions import known_functions
from dpsql.shell.completion.keywords import BEGIN, CLAUSES, RESERVED
from dpsql.shell.completion.tokens import Kind, Token, tokens

_MAX_LENGTH = 20_000
_KEYWORDS = RESERVED | set(BEGIN) | {"CAST", "ANALYZE", "SHOW", "DESCRIBE"}


def colours(text: str, tables: Collection[str] | None) -> list[tuple[str, str]]:
    """Split a text into (style, piece) pairs; ``tables`` has lower-case names, None if unknown."""
    if len(text) > _MAX_LENGTH:
        return [("", text)]
    if text.lstrip().startswith("\\"):
        name, space, rest = text.partition(" ")
        return [("command", name), ("", space), *_sql(rest, tables)]
    return list(_sql(text, tables))


def _sql(text: str, tables: Collection[str] | None) -> Iterator[tuple[str, str]]:
    all_tokens = list(tokens(text))
    code = [token for token in all_tokens if token.kind not in (Kind.SPACE, Kind.COMMENT)]
    after = {token.start: following for token, following in zip(code, code[1:], strict=False)}
    before = {following.start: token for token, following in zip(code, code[1:], strict=False)}
    known = (
        None if tables is None else {*tables, *(token.name for token in code if _names_query(token, after))}
    )
    for token in all_tokens:
        yield _style(token, before.get(token.start), after.get(token.start), known), token.text


def _style(token: Token, before: Token | None, after: Token | None, tables: Collection[str] | None) -> str:
    called = after is not None and after.text == "("
    match token.kind:
        case Kind.TEXT:
            return "text"
        case Kind.NUMBER:
            return "number"
        case Kind.COMMENT:
            return "comment"
        case Kind.WORD if called and token.name in known_functions():
            return "function"
        case Kind.WORD if token.word in _KEYWORDS and (before is None or before.text != "."):
            return "keyword"
        case Kind.WORD | Kind.NAME if before is not None and CLAUSES.get(before.word) == "FROM":
            complete = after is not None and after.text != "."  # the last name may still be unfinished
            unknown = tables is not None and token.name not in tables
            return "unknown" if unknown and complete and not called else ""
        case _:
            return ""


def _names_query(token: Token, after: dict[int, Token]) -> bool:
    """Whether WITH gives this name to a query."""
    following = after.get(token.start)
    group = None if following is None else after.get(following.start)
    return following is not None and following.word == "AS" and group is not None and group.text == "("
