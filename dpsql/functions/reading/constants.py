"""Constants in syntax trees, and the target types of casts.

DATE '2020-01-01'    Literal(date(2020, 1, 1), DATE)
'%' || 'a' || '%'    Literal("%a%", VARCHAR): some tools write patterns like this
INTERVAL '3' MONTH   Literal("3 MONTH", INTERVAL)
a::INT               cast_target -> INTEGER
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from dpsql.functions.core.literals import coerce, number_literal, with_one_zero
from dpsql.functions.reading.shapes import only
from dpsql.functions.time.date_arithmetic import interval_text
from dpsql.ir.column import BOOLEAN, INTERVAL, NULL, VARCHAR, Kind, Type, type_named
from dpsql.ir.scalar import Literal


def literal_of(node: exp.Expr) -> Literal | None:
    """Return the constant of a node: a number, a text, TRUE, NULL, -5, DATE '...', an INTERVAL."""
    match node:
        case exp.Literal():
            return Literal(node.this, VARCHAR) if node.is_string else number_literal(node.this)
        case exp.Boolean():
            return Literal(bool(node.this), BOOLEAN)
        case exp.Null():
            return Literal(None, NULL)
        case exp.Paren():
            return literal_of(node.this)
        case exp.Interval() | exp.Neg(this=exp.Interval()):
            return interval_literal(node)
        case exp.Neg():
            inner = literal_of(node.this)
            return None if inner is None else _negative(inner)
        case exp.DPipe() if only(node, "this", "expression", "safe"):
            return _concatenated(literal_of(node.this), literal_of(node.expression))
        case exp.Cast(this=exp.Literal(is_string=True)) if only(node, "this", "to"):
            target = cast_target(node.args["to"])
            if target is None or target.kind not in (
                Kind.DATE,
                Kind.TIMESTAMP,
                Kind.TIMESTAMPTZ,
                Kind.TIME,
                Kind.UUID,
            ):
                return None
            return coerce(Literal(node.this.this, VARCHAR), target)
        case _:
            return None


def _concatenated(left: Literal | None, right: Literal | None) -> Literal | None:
    if left is None or right is None or not (isinstance(left.value, str) and isinstance(right.value, str)):
        return None
    return Literal(left.value + right.value, VARCHAR) if left.type == right.type == VARCHAR else None


def _negative(literal: Literal) -> Literal | None:
    match literal.value:
        case bool():
            return None
        case int(value):
            return number_literal(str(-value))
        case float(value):  # -0.0 is no constant: it equals 0.0, but 1 / 0.0 is not 1 / -0.0
            return Literal(-value, literal.type) if value else None
        case Decimal():
            return Literal(with_one_zero(literal.value.copy_negate()), literal.type)
        case _:
            return None


def interval_literal(node: exp.Expr) -> Literal | None:
    """Return a constant INTERVAL with its text in canonical form."""
    if isinstance(node, exp.Neg):
        inner, negative = node.this, True
    else:
        inner, negative = node, False
    if not isinstance(inner, exp.Interval) or not only(inner, "this", "unit"):
        return None
    amount, unit = inner.this, inner.args.get("unit")
    while isinstance(amount, exp.Paren):
        amount = amount.this
    sign = ""
    if isinstance(amount, exp.Neg):
        sign, amount = "-", amount.this
    if not isinstance(amount, exp.Literal) or (unit is not None and type(unit) is not exp.Var):
        return None
    written = f"{sign}{amount.this} {'' if unit is None else unit.name}"
    text = interval_text(written, negative)
    return None if text is None else Literal(text, INTERVAL)


def cast_target(node: object) -> Type | None:
    """Return the target type of a cast, in DuckDB's spelling; None if casts to it are not supported."""
    if not isinstance(node, exp.DataType):
        return None
    text = node.sql("duckdb")
    target = type_named(_SPELLINGS.get(text, text).replace(", ", ","))
    if target.kind is Kind.DECIMAL:
        size = [parameter.name for parameter in node.expressions]
        if not all(number.isdigit() for number in size) or not 1 <= len(size) <= 2:
            return None
        width, scale = int(size[0]), int(size[1]) if len(size) == 2 else 0
        if not (1 <= width <= 38 and 0 <= scale <= width):
            return None
        return type_named(f"DECIMAL({width},{scale})")
    known = target.kind not in (Kind.OPAQUE, Kind.NULL, Kind.INTERVAL) and not text.startswith("ENUM")
    return target if known else None


_SPELLINGS = {
    "TEXT": "VARCHAR", "INT": "INTEGER", "REAL": "FLOAT", "INT128": "HUGEINT", "UINT128": "UHUGEINT",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip
