"""BigQuery's spellings of aggregates, rewritten to plain ones.

    DP_COUNT(*)                                           COUNT(*)
    ANON_SUM(cost CLAMPED BETWEEN 0 AND 500)              SUM(CASE WHEN cost IS NOT NULL
    SUM(cost, contribution_bounds_per_row => (0, 500))        THEN LEAST(GREATEST(cost, 0), 500) END)
    CORR(age, cost CLAMPED BETWEEN 0 AND 500)             the second of the two arguments

The bounds clip the value of each row. This is stricter than BigQuery, where
``contribution_bounds_per_group`` bounds the sum over the rows of a unit in a group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.aggregates import by_name, shelf
from dpsql.errors import Error, refuse
from dpsql.ir.column import Value
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parameters import node_of
from dpsql.parse.token_edits import NESTED, TokenEdits, called, is_call, span_between

_NAMED = ("contribution_bounds_per_group", "contribution_bounds_per_row")
_BEFORE_OPERANDS = frozenset(
    "when then else and or not where having on between case distinct all select by in is like".split()
)
_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clamp:
    """The bounds of an aggregate's argument, as nodes."""

    low: exp.Expr
    high: exp.Expr


@cache
def _plain_names() -> dict[str, str]:
    """Map names with DP_ or ANON_ to the plain names of aggregates."""
    return {
        f"{prefix}_{name}": rule.name
        for prefix in ("anon", "dp")
        for rule in shelf().values()
        for name in rule.bigquery
    }


def _is_bounded(function: str) -> bool:
    """Whether to read bounds in this aggregate; a count takes none, and gets a refusal of its own."""
    rule = by_name().get(function)
    return rule is not None and (rule.ranged or _is_count(function))


def _is_count(function: str) -> bool:
    return function in by_name() and by_name()[function].counts


def _takes_named(function: str) -> bool:
    """Whether the aggregate takes bounds as named arguments, under a name that BigQuery has."""
    rule = by_name().get(function)
    plain = rule is not None and function in (rule.name, *rule.bigquery)
    return rule is not None and ((rule.named_bounds and plain) or rule.counts)


def take_spellings(
    token_edits: TokenEdits, parameters: Sequence[Value]
) -> tuple[TokenEdits, tuple[Clamp, ...]]:
    """Rename aggregates to their plain names; take bounds out and mark the arguments they belong to."""
    tokens, edits = list(token_edits.tokens), list[tuple[Span, str]]()
    for at, (token, following) in enumerate(zip(tokens, tokens[1:], strict=False)):
        plain = _plain_names().get(token.text.casefold())
        if plain and following.token_type is TokenType.L_PAREN and token.token_type is TokenType.VAR:
            name = plain.upper()
            place = token.line, token.col, token.start, token.end
            tokens[at] = Token(TokenType.VAR, name, *place)
            edits.append((Span(token.start, token.end + 1), name))
    kept: list[Token] = []
    opened: list[int] = []  # positions in kept
    clamps: list[Clamp] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        function = kept[opened[-1] - 1].text.casefold() if opened and opened[-1] else ""
        if _is_bounded(function) and (start := _introduction_length(tokens, at, function)):
            end, clamp = _read_clamp(token_edits.text, tokens, at, start, parameters)
            span = span_between(token, tokens[end - 1])
            if _is_count(function):
                raise _bounds_of_count(_bounds_span(tokens, at, end - 1))
            pair = by_name()[function].arguments == 2  # each argument has bounds of its own
            argument = (_last_argument if pair else _first_argument)(kept, opened[-1] + 1)
            if any(is_mark(token, token_edits.mark) for token in kept[argument[0] :]):
                seen = _bounds_span(tokens, at, end - 1)
                raise refuse("D101", "this aggregate has bounds twice", seen, help="write them once")
            near = kept[opened[-1]]
            inside = called(clamp_mark(token_edits.mark), kept[slice(*argument)], len(clamps), near)
            kept[slice(*argument)] = inside
            clamps.append(clamp)
            edits.append((span, ""))
            at = end
            continue
        if token.token_type is TokenType.L_PAREN:
            opened.append(len(kept))
        elif token.token_type is TokenType.R_PAREN and opened:
            opened.pop()
        kept.append(token)
        at += 1
    return token_edits.edited(kept, sorted(edits, key=lambda edit: edit[0].start)), tuple(clamps)


CLAMPED = "clamped"
"""Marks the CASE that stands for an argument with bounds."""


def clamp_mark(mark: str) -> str:
    return mark + "clamp"


def is_mark(token: Token, mark: str) -> bool:
    return token.text == clamp_mark(mark)


def clamped(tree: exp.Expr, mark: str, clamps: tuple[Clamp, ...]) -> exp.Expr:
    """Clip every marked argument. A CASE keeps NULL, which LEAST and GREATEST ignore."""
    if not clamps:
        return tree

    def replaced(node: exp.Expr) -> exp.Expr:
        if not is_call(node, clamp_mark(mark)):
            return node
        number, argument = node.expressions
        clamp = clamps[int(number.name)]
        low = exp.Greatest(this=argument.copy(), expressions=[clamp.low.copy()], ignore_nulls=True)
        both = exp.Least(this=low, expressions=[clamp.high.copy()], ignore_nulls=True)
        filled = exp.Not(this=exp.Is(this=argument.copy(), expression=exp.Null()))
        case = exp.Case(ifs=[exp.If(this=filled, true=both)])
        case.meta[CLAMPED] = True
        return case

    return tree.transform(replaced)


# ---- tokens ------------------------------------------------------------------------------------------


def _introduction_length(tokens: list[Token], at: int, function: str) -> int:
    """Count the tokens that introduce bounds: CLAMPED BETWEEN, or comma, name and arrow; 0 if none do."""
    following = tokens[at + 1 : at + 3]
    if len(following) < 2:
        return 0
    if tokens[at].token_type is TokenType.COMMA:
        named = following[0].text.casefold() in _NAMED and following[1].token_type is TokenType.FARROW
        return 3 if named and _takes_named(function) else 0
    if tokens[at].text.casefold() != "clamped" or following[0].token_type is not TokenType.BETWEEN:
        return 0
    before = tokens[at - 1]
    operand = before.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or (
        re.search(r"[\w)\]]$", before.text) is not None and before.text.casefold() not in _BEFORE_OPERANDS
    )
    return 2 if operand else 0


def _read_clamp(
    text: str, tokens: list[Token], at: int, start: int, parameters: Sequence[Value]
) -> tuple[int, Clamp]:
    """Read ``0 AND 500`` or ``(0, 500)``; return the position after it, and the bounds."""
    named = start == 3
    here = at + start
    if named:
        here = _expect(text, tokens, here, at, TokenType.L_PAREN)
    low, here = _read_bound(text, tokens, here, at, parameters)
    here = _expect(text, tokens, here, at, TokenType.COMMA if named else TokenType.AND)
    high, here = _read_bound(text, tokens, here, at, parameters)
    if named:
        here = _expect(text, tokens, here, at, TokenType.R_PAREN)
    if _number(low) > _number(high):
        span = _bounds_span(tokens, at, here - 1)
        raise refuse("D205", "the lower bound is above the upper one", span, help="swap them")
    return here, Clamp(low, high)


def _expect(text: str, tokens: list[Token], here: int, at: int, kind: TokenType) -> int:
    if here >= len(tokens) or tokens[here].token_type is not kind:
        raise _unread(tokens, here, at)
    return here + 1


def _read_bound(
    text: str, tokens: list[Token], here: int, at: int, parameters: Sequence[Value]
) -> tuple[exp.Expr, int]:
    """Read a number or the value of a parameter; return it and the position after it."""
    kinds = [token.token_type for token in tokens[here : here + 2]]
    if kinds == [TokenType.PARAMETER, TokenType.NUMBER]:
        value = parameters[int(tokens[here + 1].text) - 1]
        if type(value) not in (int, float, Decimal):
            raise _unread(tokens, here, at)
        return node_of(value), here + 2
    end = here
    while end < len(tokens) and tokens[end].token_type in (
        TokenType.DASH,
        TokenType.DOT,
        TokenType.NUMBER,
    ):
        end += 1
    number_text = text[tokens[here].start : tokens[end - 1].end + 1] if end > here else ""
    if _NUMBER.fullmatch(number_text) is None:
        raise _unread(tokens, here, at)
    number = exp.Literal.number(number_text.lstrip("-"))
    number.meta.update(start=tokens[here].start, end=tokens[end - 1].end)
    return (exp.Neg(this=number) if number_text[0] == "-" else number), end


def _number(node: exp.Expr) -> Decimal:
    return -_number(node.this) if isinstance(node, exp.Neg) else Decimal(node.name)


def _first_argument(kept: list[Token], start: int) -> tuple[int, int]:
    """Return start and end of the first argument: after DISTINCT, up to a comma."""
    if start < len(kept) and kept[start].token_type is TokenType.DISTINCT:
        start += 1
    depth = 0
    for place in range(start, len(kept)):
        depth += NESTED.get(kept[place].token_type, 0)
        if kept[place].token_type is TokenType.COMMA and depth == 0:
            return start, place
    return start, len(kept)


def _last_argument(kept: list[Token], start: int) -> tuple[int, int]:
    """Return start and end of the last argument so far."""
    depth, last = 0, start
    for place in range(start, len(kept)):
        depth += NESTED.get(kept[place].token_type, 0)
        if kept[place].token_type is TokenType.COMMA and depth == 0:
            last = place + 1
    return last, len(kept)


def _bounds_span(tokens: list[Token], at: int, last: int) -> Span:
    """Return the span of the bounds without the comma before them."""
    return span_between(tokens[at + (tokens[at].token_type is TokenType.COMMA)], tokens[last])


def _unread(tokens: list[Token], here: int, at: int) -> Error:
    return refuse(
        "D101",
        "these bounds are not two plain numbers",
        _bounds_span(tokens, at, min(here, len(tokens) - 1)),
        help="write SUM(x CLAMPED BETWEEN 0 AND 500), or SUM(x, contribution_bounds_per_row => (0, 500))",
    )


def _bounds_of_count(span: Span) -> Error:
    return refuse(
        "D252",
        "bounds of a count are not answered",
        span,
        label="a count has no values to clip; an option limits the rows of a unit",
        help="write SELECT OPTIONS(max_rows_contributed = 20) COUNT(*) ...",
    )
