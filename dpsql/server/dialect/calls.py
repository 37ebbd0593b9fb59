"""Calls of functions among tokens: the name, and the tokens of each argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.lazy_dataclass import dataclass
from dpsql.parse.token_edits import NESTED


@dataclass(frozen=True, slots=True)
class Call:
    """f(x, y): its name, its arguments, and the token that closes it."""

    name: Token
    arguments: tuple[tuple[Token, ...], ...]
    closing: Token


def calls_of(tokens: Sequence[Token], *names: str) -> Iterator[Call]:
    """Return the calls of functions by these names, which are in lower case."""
    for at, token in enumerate(tokens[:-1]):
        opened = tokens[at + 1]
        if token.text.casefold() not in names or opened.token_type is not TokenType.L_PAREN:
            continue
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        if at and tokens[at - 1].token_type is TokenType.DOT:
            continue
        call = _call(token, tokens, at + 2)
        if call is not None:
            yield call


def _call(name: Token, tokens: Sequence[Token], at: int) -> Call | None:
    arguments: list[tuple[Token, ...]] = []
    argument: list[Token] = []
    depth = 0
    for token in tokens[at:]:
        if token.token_type is TokenType.R_PAREN and depth == 0:
            return Call(name, (*arguments, tuple(argument)), token)
        if token.token_type is TokenType.COMMA and depth == 0:
            arguments.append(tuple(argument))
            argument = []
            continue
        depth += NESTED.get(token.token_type, 0)
        argument.append(token)
    return None


def constant(argument: Sequence[Token]) -> str | None:
    """Return the text of an argument that is a plain string, else None."""
    if len(argument) == 1 and argument[0].token_type is TokenType.STRING:
        return str(argument[0].text)
    return None


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
