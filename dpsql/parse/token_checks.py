"""Checks of tokens, for differences that the tree of sqlglot loses.

date_trunc('month', d)    the part is a constant
date_trunc(month, d)      a column, which the tree does not distinguish from the constant: refused

doc ->> '$.a.b'           b of a
doc ->> 'a.b'             a field of this name, which the tree does not distinguish from that path: refused

ORDER BY all              every column
ORDER BY "all"            a column, which the tree does not distinguish from the keyword: refused

ARRAY[1]                  a list
"array"[1], list[1]       the first item of a column, which the tree does not distinguish from a list: refused

current_date              today
"current_date"(day)       a function of that name, which the tree does not distinguish from today: refused
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import refuse
from dpsql.ir.source import Span

_PARTS = {"year", "quarter", "month", "day", "hour", "minute", "second"}  # a week may begin on another day
_TAKE_PARTS = {"date_trunc", "datetrunc", "date_diff", "datediff"}


def check_parts(tokens: Sequence[Token]) -> None:
    """Refuse an unquoted name as the date part of these functions."""
    for place, (called, opened) in enumerate(zip(tokens, tokens[1:], strict=False)):
        if called.text.casefold() not in _TAKE_PARTS or opened.token_type is not TokenType.L_PAREN:
            continue
        part, behind = _name_at(tokens, place + 2)
        constant = len(part) == 1 and part[0].token_type in (TokenType.STRING, TokenType.PLACEHOLDER)
        is_followed = behind < len(tokens) and tokens[behind].token_type is TokenType.COMMA
        if called.token_type is TokenType.STRING or constant or not is_followed:
            continue
        instead = _part_first(called.text.lower(), part, tokens[behind + 1 :])
        raise refuse(
            "D205",
            f"the date part of {called.text.lower()} must be a constant",
            Span(part[0].start, part[-1].end + 1),
            label="this is a name, so it would be the value of a column",
            help=instead or "write it in quotes: 'month', 'day', ...",
        )


def _name_at(tokens: Sequence[Token], place: int) -> tuple[Sequence[Token], int]:
    """Return the tokens of a name, as in t.x, or of one other word; and the place behind them."""
    end = place + 1
    while tokens[end : end + 1] and tokens[end].token_type is TokenType.DOT:
        end += 2
    return tokens[place:end], end


def _part_first(name: str, first: Sequence[Token], rest: Sequence[Token]) -> str | None:
    """Return what to write instead of date_trunc(day, MONTH) and date_diff(b, a, DAY), as BigQuery has it."""
    said = _spelled(first)
    if name in ("date_diff", "datediff"):
        other, behind = _name_at(rest, 0)
        said, rest = f"{_spelled(other)}, {said}", rest[behind + 1 :]
    part = rest[0].text.casefold() if rest else ""
    if part not in _PARTS or first[0].text.casefold() in _PARTS - {"day"}:
        return None
    return f"write the part first, in quotes: {name}('{part}', {said})"


def _spelled(name: Sequence[Token]) -> str:
    """Return a name as it is written, in quotes or without."""
    quoted = (token.token_type is TokenType.IDENTIFIER for token in name)
    return "".join(
        f'"{token.text}"' if each else token.text for token, each in zip(name, quoted, strict=True)
    )


def check_order(tokens: Sequence[Token]) -> None:
    """Refuse a column called all where the parser would read ORDER BY ALL."""
    for by, name in zip(tokens, tokens[1:], strict=False):
        quoted = name.token_type is TokenType.IDENTIFIER and name.text.casefold() == "all"
        if quoted and by.token_type is TokenType.ORDER_BY:
            raise refuse(
                "D105",
                "ORDER BY does not begin with a column called all",
                Span(name.start, name.end + 1),
                label="this would be read as ORDER BY ALL, which orders by every column",
                help='write its table too, t."all", its place, ORDER BY 1, or give it another name',
            )


_CONSTRUCTORS = {"array", "list"}


def check_brackets(tokens: Sequence[Token]) -> None:
    """Refuse brackets behind what is called array or list, where the parser would make a list of them."""
    indexed = any(
        before.token_type is TokenType.R_PAREN and token.token_type is TokenType.L_BRACKET
        for before, token in zip(tokens, tokens[1:], strict=False)
    )
    for before, name, behind in zip([None, *tokens], tokens, tokens[1:], strict=False):
        if name.text.casefold() not in _CONSTRUCTORS:
            continue
        opened = before is not None and before.token_type is TokenType.L_PAREN
        of_call = indexed and opened and name.token_type is TokenType.STRING  # lower('list')[1]
        of_name = behind.token_type is TokenType.L_BRACKET and not _makes_a_list(before, name)
        if of_call or of_name:
            raise refuse(
                "D105",
                f"brackets behind the name {name.text} do not pick an item",
                Span(name.start, name.end + 1),
                label="they would be read as a list of what is in them",
                help="write list_extract(x, 1), or give it another name in a subquery",
            )


def _makes_a_list(before: Token | None, name: Token) -> bool:
    """Whether this is ARRAY of ARRAY[1, 2]."""
    column = before is not None and before.token_type is TokenType.DOT
    return not column and name.token_type is TokenType.ARRAY


_FORMS = frozenset(
    "and or coalesce array current_date current_time current_timestamp localtime localtimestamp".split()
)


def check_called(tokens: Sequence[Token]) -> None:
    """Refuse a word of the grammar that is called in quotes: there is no function of its name."""
    for name, opened in zip(tokens, tokens[1:], strict=False):
        called = name.token_type is TokenType.IDENTIFIER and opened.token_type is TokenType.L_PAREN
        if called and name.text.casefold() in _FORMS:
            raise refuse(
                "D204",
                f"there is no function {name.text}",
                Span(name.start, name.end + 1),
                label="in quotes this is the name of a function",
                help="write it as SQL does, without quotes: CURRENT_DATE, a AND b",
            )


_JSON = {"json_extract", "json_extract_string", "json_extract_path", "json_extract_path_text"}
_STEPS = frozenset('.[*]"')


def check_json_paths(tokens: Sequence[Token]) -> None:
    """Refuse a path that does not begin at its root, and is no plain name."""
    depth = [0]  # of each open parenthesis: whether it is of a function of JSON
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.token_type is TokenType.L_PAREN:
            depth.append(before is not None and before.text.casefold() in _JSON)
        elif token.token_type is TokenType.R_PAREN and len(depth) > 1:
            depth.pop()
        if token.token_type is not TokenType.STRING or before is None:
            continue
        in_call = bool(depth[-1]) and before.token_type is TokenType.COMMA
        if not in_call and before.token_type not in (TokenType.ARROW, TokenType.DARROW):
            continue
        if token.text[:1] != "$" and (_STEPS & set(token.text) or token.text[:1] in ("", "/")):
            raise refuse(
                "D205",
                "a JSON path begins at its root",
                Span(token.start, token.end + 1),
                label="this would be a field of this very name",
                help="write '$.a.b' for b of a, '$.a[0]' for the first item of a",
            )
