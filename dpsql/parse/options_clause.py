"""The OPTIONS clause of a SELECT, which DuckDB's SQL does not have.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.2) ward, COUNT(*) FROM patients GROUP BY ward
    SELECT                                 OPTIONS(epsilon = 0.2) ward, ...        the short form

The clause is replaced by a marker before parsing: a call of an unused name, first in the select list.
After parsing, the clause is attached to the SELECT with its marker, and the marker is removed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import Error, refuse
from dpsql.ir.column import Value
from dpsql.ir.options import Option, Options, OptionValue
from dpsql.ir.source import Span
from dpsql.parse.token_edits import DEEPER, NESTED, TokenEdits, called, is_call, span_between

KNOWN = (
    "epsilon",
    "delta",
    "max_rows_contributed",
    "max_groups_contributed",
    "max_values_contributed",
    "rows_per_unit",
    "max_unnest",
    "privacy_unit_column",
    "other_group",
    "weights",
    "within",
    "confidence",
    "anyway",
    "non_negative",
    "steps",
)
AUTO = "auto"
"""The value of an option whose number the engine chooses."""

FITTED = ("max_rows_contributed", "rows_per_unit")
"""Options that can be ``auto``."""

_UNSUPPORTED = {
    "group_selection_strategy": (
        "the policy and the keys decide which groups appear",
        "leave it out: declared keys all appear, other keys if enough units have them",
    ),
    "min_privacy_units_per_group": (
        "the threshold is computed from delta, and is noisy",
        "ask for it after the release: HAVING COUNT(DISTINCT x) >= 50, where x is the privacy unit's column",
    ),
}
_NUMBER = re.compile(r"([+-]?)\s*(\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_OPTIONS = "options"


def take_clauses(
    token_edits: TokenEdits, parameters: Sequence[Value]
) -> tuple[TokenEdits, tuple[Options, ...]]:
    """Replace every clause by a marker; return the edited text and the clauses."""
    tokens = token_edits.tokens
    kept: list[Token] = []
    clauses: list[Options] = []
    blanks: list[Span] = []
    at = 0
    while at < len(tokens):
        kept.append(tokens[at])
        at += 1
        if tokens[at - 1].token_type is not TokenType.SELECT:
            continue
        end = _clause_end(tokens, at)
        if end is None:
            continue
        span = span_between(tokens[at], tokens[end - 1])
        inside = next((i for i in range(at, end) if tokens[i].token_type is TokenType.L_PAREN), None)
        options = (
            () if inside is None else _options_of(token_edits.text, tokens[inside + 1 : end - 1], parameters)
        )
        blanks.append(span)
        at = end
        quantifier = _quantifier_end(tokens, at)
        kept += tokens[at:quantifier]
        at = quantifier
        near = tokens[at - 1]
        comma = Token(TokenType.COMMA, ",", near.line, near.col, near.start, near.end)
        kept += [*called(token_edits.mark, [], len(clauses), near), comma]
        clauses.append(Options(options, span))
    return token_edits.edited(kept, [(span, "") for span in blanks]), tuple(clauses)


def attach_clauses(tree: exp.Expr, mark: str, clauses: tuple[Options, ...]) -> None:
    """Attach every clause to the SELECT that has its marker as first column, and remove the marker."""
    if not clauses:
        return
    attached = 0
    for select in tree.find_all(exp.Select):
        first = select.expressions[0] if select.expressions else None
        if isinstance(first, exp.Anonymous) and is_call(first, mark):
            select.meta["options"] = clauses[int(first.expressions[0].name)]
            select.set("expressions", select.expressions[1:])
            attached += 1
            if not select.expressions:
                span = clauses[int(first.expressions[0].name)].span
                raise refuse("D101", "this SELECT has no columns", span, help="name what to select")
    if attached != len(clauses):
        raise _misplaced(clauses[0].span)


def options_of(select: exp.Expr) -> Options | None:
    """Return the options of a SELECT; None if it has no clause."""
    options = select.meta.get("options")
    return options if isinstance(options, Options) else None


def agreed(clauses: tuple[Options, ...], name: str) -> Option | None:
    """Return an option of the whole query; refuse clauses that set it to different values."""
    options = [option for clause in clauses if (option := clause.get(name)) is not None]
    for option in options:
        if isinstance(option.value, str | tuple) and name in _EXAMPLES:
            raise refuse(
                "D503", f"{name} must be a number", option.span, help=f"write {name} = {_EXAMPLES[name]}"
            )
        if option.value != options[0].value:
            raise refuse(
                "D503",
                f"this query sets {name} to two different values",
                option.span,
                label=f"it is {options[0].value} in an earlier clause",
                help="set it once: it holds for the whole query",
            )
    return options[0] if options else None


_EXAMPLES = {"epsilon": "0.1", "delta": "1e-6", "max_unnest": "10"}


# ---- tokens ------------------------------------------------------------------------------------------


def _clause_end(tokens: list[Token], at: int) -> int | None:
    """Return the end of the clause that starts after a SELECT; None if there is none."""
    if at >= len(tokens):
        return None
    long = tokens[at].token_type is TokenType.WITH
    if long:
        at += 1
        if at >= len(tokens) or tokens[at].text.casefold() != "differential_privacy":
            span = span_between(tokens[at - 1], tokens[min(at, len(tokens) - 1)])
            raise refuse(
                "D101",
                "SELECT WITH must be followed by DIFFERENTIAL_PRIVACY",
                span,
                help="write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1) ...",
            )
        at += 1
    opened = (
        at + 1 < len(tokens)
        and tokens[at].token_type is TokenType.VAR
        and tokens[at].text.casefold() == _OPTIONS
        and tokens[at + 1].token_type is TokenType.L_PAREN
    )
    if not opened:
        return at if long else None
    depth = 0
    for place in range(at + 1, len(tokens)):
        depth += DEEPER.get(tokens[place].token_type, 0)
        if depth == 0:
            return place + 1
    raise refuse(
        "D101", "this parenthesis is not closed", span_between(tokens[at], tokens[at + 1]), help="close it"
    )


def _quantifier_end(tokens: list[Token], at: int) -> int:
    """Return the position after DISTINCT, DISTINCT ON (...) or ALL."""
    if at < len(tokens) and tokens[at].token_type in (TokenType.DISTINCT, TokenType.ALL):
        at += 1
        if at < len(tokens) and tokens[at].token_type is TokenType.ON:
            depth = 0
            while (at := at + 1) < len(tokens):
                depth += DEEPER.get(tokens[at].token_type, 0)
                if depth == 0:
                    return at + 1
    return at


def _options_of(text: str, tokens: list[Token], parameters: Sequence[Value]) -> tuple[Option, ...]:
    """Read ``name = value, name = value``."""
    options: list[Option] = []
    for part in _split_at_commas(tokens):
        span = span_between(part[0], part[-1])
        name = part[0].text.casefold()
        plain = part[0].token_type is not TokenType.STRING and re.fullmatch(r"\w+", name) is not None
        if not plain or len(part) < 2 or part[1].token_type is not TokenType.EQ:
            raise refuse("D101", "options are written as name = value", span, help="write epsilon = 0.1")
        if name not in KNOWN:
            raise _unknown_option(part[0].text, span)
        if any(option.name == name for option in options):
            raise refuse("D105", f"{name} is set twice in one clause", span, help="set it once")
        options.append(Option(name, _value(text, name, part[2:], parameters, span), span))
    return tuple(options)


def _split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += NESTED.get(token.token_type, 0)
        if token.token_type is TokenType.COMMA and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    if parts == [[]]:
        return []
    for before, part in zip([[], *parts], parts, strict=False):
        if not part:
            at = before[-1] if before else tokens[0]
            raise refuse(
                "D101",
                "an option is missing here",
                span_between(at, at),
                help="write name = value between the commas",
            )
    return parts


def _value(text: str, name: str, tokens: list[Token], parameters: Sequence[Value], span: Span) -> OptionValue:
    """Read a constant, a parameter, the name of a column, or a list of constants."""
    kinds = [token.token_type for token in tokens]
    if name == "weights":
        return _numbers(text, tokens, parameters, span)
    if name in ("anyway", "non_negative"):
        return _truth(name, tokens, span)
    if len(tokens) == 1 and kinds[0] is TokenType.STRING:
        return tokens[0].text
    if kinds == [TokenType.PARAMETER, TokenType.NUMBER]:
        value = parameters[int(tokens[1].text) - 1]
        if type(value) in (int, float, str):
            return value  # type: ignore[return-value]  # one of these three types
    elif tokens:
        number = _NUMBER.fullmatch(text[tokens[0].start : tokens[-1].end + 1])
        if number is not None:
            return _number(number[0])
        names, dots = kinds[::2], kinds[1::2]
        named = all(kind in (TokenType.VAR, TokenType.IDENTIFIER) for kind in names)
        if name == "privacy_unit_column" and named and all(kind is TokenType.DOT for kind in dots):
            return tuple(token.text for token in tokens[::2])
        if name in FITTED and named and len(tokens) == 1 and tokens[0].text.casefold() == AUTO:
            return AUTO
    raise refuse("D105", f"the value of {name} must be a constant", span, help="write a plain number or text")


def _numbers(
    text: str, tokens: list[Token], parameters: Sequence[Value], span: Span
) -> tuple[int | float, ...]:
    """Read ``[1, 4.5, ?]``."""
    kinds = [token.token_type for token in tokens]
    listed = len(tokens) > 2 and (kinds[0], kinds[-1]) == (TokenType.L_BRACKET, TokenType.R_BRACKET)
    parts = _split_at_commas(tokens[1:-1]) if listed else []
    values = [_value(text, "", part, parameters, span) for part in parts]
    if not values or not all(isinstance(option, int | float) for option in values):
        raise refuse(
            "D205", "weights must be a list of positive numbers", span, help="write weights = [1, 4]"
        )
    return tuple(option for option in values if isinstance(option, int | float))


def _truth(name: str, tokens: list[Token], span: Span) -> bool:
    """Read ``true`` or ``false``."""
    word = tokens[0].text.casefold() if len(tokens) == 1 else ""
    if word not in ("true", "false"):
        raise refuse("D105", f"{name} is true or false", span, help=f"write {name} = true")
    return word == "true"


def _number(text: str) -> int | float:
    plain = "".join(text.split()).replace("_", "")
    try:
        return int(plain)
    except ValueError:
        return float(plain)


def _unknown_option(name: str, span: Span) -> Error:
    folded = name.casefold()
    if folded in _UNSUPPORTED:
        label, remedy = _UNSUPPORTED[folded]
        return refuse("D105", f"the option {folded} is not answered", span, label=label, help=remedy)
    return refuse(
        "D105",
        f"there is no option {name}",
        span,
        label="the policy of the owner sets noise, units and bounds",
        help="the options are " + ", ".join(KNOWN),
    )


def _misplaced(span: Span) -> Error:
    return refuse(
        "D101", "this clause must follow SELECT directly", span, help="SELECT OPTIONS(...) x FROM t"
    )
