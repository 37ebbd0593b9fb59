"""What is what in a text, for colours: [("keyword", "SELECT"), ("", " "), ("function", "AVG"), ...].

A table behind FROM that does not exist is "unknown".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dpsql.shell.completion.functions import allowed
from dpsql.shell.completion.keywords import BEGIN, CLAUSES, RESERVED
from dpsql.shell.completion.tokens import Kind, Token, tokens

_LONGEST = 20_000
_KEYWORDS = RESERVED | set(BEGIN) | {"CAST", "ANALYZE", "SHOW", "DESCRIBE"}


def colours(text: str, tables: Collection[str] | None) -> list[tuple[str, str]]:
    """The pieces of a text with the name of a style each; ``tables`` in lower case, if they are known."""
    if len(text) > _LONGEST:
        return [("", text)]
    if text.lstrip().startswith("\\"):
        name, space, rest = text.partition(" ")
        return [("command", name), ("", space), *_sql(rest, tables)]
    return list(_sql(text, tables))


def _sql(text: str, tables: Collection[str] | None) -> Iterator[tuple[str, str]]:
    found = list(tokens(text))
    meant = [each for each in found if each.kind not in (Kind.SPACE, Kind.COMMENT)]
    after = {one.start: other for one, other in zip(meant, meant[1:], strict=False)}
    before = {other.start: one for one, other in zip(meant, meant[1:], strict=False)}
    known = None if tables is None else {*tables, *(each.name for each in meant if _defined(each, after))}
    for each in found:
        yield _style(each, before.get(each.start), after.get(each.start), known), each.text


def _style(each: Token, before: Token | None, after: Token | None, tables: Collection[str] | None) -> str:
    called = after is not None and after.text == "("
    match each.kind:
        case Kind.TEXT:
            return "text"
        case Kind.NUMBER:
            return "number"
        case Kind.COMMENT:
            return "comment"
        case Kind.WORD if called and each.name in allowed():
            return "function"
        case Kind.WORD if each.word in _KEYWORDS and (before is None or before.text != "."):
            return "keyword"
        case Kind.WORD | Kind.NAME if before is not None and CLAUSES.get(before.word) == "FROM":
            ended = after is not None and after.text != "."  # somebody may still be typing it
            unknown = tables is not None and each.name not in tables
            return "unknown" if unknown and ended and not called else ""
        case _:
            return ""


def _defined(each: Token, after: dict[int, Token]) -> bool:
    """Whether WITH gives this name to a query."""
    following = after.get(each.start)
    group = None if following is None else after.get(following.start)
    return following is not None and following.word == "AS" and group is not None and group.text == "("
