"""Operators, conditions, CASE, casts and numeric functions, read from sqlglot's node types.

a IS NOT TRUE    not(is_not_distinct_from(a, TRUE))
log(x)           log10(x)
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading.constants import cast_target
from dpsql.functions.reading.lists import value_and_items
from dpsql.functions.reading.shapes import Reader, Readers, Reading, binary, chain, of, only


def _not(node: exp.Expr) -> Reading | None:
    inner = node.this
    if (
        isinstance(inner, exp.Is)
        and isinstance(inner.expression, exp.Null)
        and only(inner, "this", "expression")
    ):
        return Reading("is_not_null", (inner.this,))
    return of("not", "this")(node)


def _is(node: exp.Expr) -> Reading | None:
    if not only(node, "this", "expression"):
        return None
    match node.expression:
        case exp.Null():
            return Reading("is_null", (node.this,))
        case exp.Boolean():  # NULL IS TRUE is false
            return Reading("is_not_distinct_from", (node.this, node.expression))
        case _:
            return None


def _case(node: exp.Expr) -> Reading | None:
    if not only(node, "this", "ifs", "default"):
        return None
    subject, parts = node.args.get("this"), []
    for branch in node.args["ifs"]:
        if not isinstance(branch, exp.If) or not only(branch, "this", "true"):
            return None
        condition = branch.this
        if subject is not None:
            condition = exp.EQ(
                this=exp.Paren(this=subject.copy()), expression=exp.Paren(this=condition.copy())
            )
        parts += [condition, branch.args["true"]]
    default = node.args.get("default")
    return Reading("case", tuple(parts if default is None else [*parts, default]))


def _log(node: exp.Expr) -> Reading | None:
    reading = of("log", "this", "expression")(node)
    if reading is None or len(reading.arguments) == 1:
        return None if reading is None else Reading("log10", reading.arguments)
    base = reading.arguments[0]
    if isinstance(base, exp.Literal) and not base.is_string and base.this in ("2", "10"):
        return Reading(f"log{base.this}", reading.arguments[1:])
    return reading


def _cast(node: exp.Expr) -> Reading | None:
    target = cast_target(node.args.get("to"))
    return Reading("cast", (node.this,), target) if target and only(node, "this", "to", "safe") else None


def _in(node: exp.Expr) -> Reading | None:
    """Read x IN (1, 2), and x IN tags, which is list_contains(tags, x)."""
    if node.args.get("expressions"):
        return of("in", "this", "expressions")(node)
    items = node.args.get("field")
    return value_and_items("list_contains", items, node.this) if only(node, "this", "field") else None


def _greatest_or_least(name: str) -> Reader:
    return of(name, "this", "expressions", ignored=("ignore_nulls",))


_OF_ONE: dict[str, type[exp.Expr]] = {
    "abs": exp.Abs, "sign": exp.Sign, "floor": exp.Floor, "ceil": exp.Ceil, "sqrt": exp.Sqrt,
    "cbrt": exp.Cbrt,
    "exp": exp.Exp, "ln": exp.Ln, "degrees": exp.Degrees, "radians": exp.Radians, "sin": exp.Sin,
    "cos": exp.Cos, "tan": exp.Tan, "cot": exp.Cot, "asin": exp.Asin, "acos": exp.Acos, "atan": exp.Atan,
    "sinh": exp.Sinh, "cosh": exp.Cosh, "tanh": exp.Tanh, "asinh": exp.Asinh, "acosh": exp.Acosh,
    "atanh": exp.Atanh, "pi": exp.Pi, "factorial": exp.Factorial, "isnan": exp.IsNan, "isinf": exp.IsInf,
    "negate": exp.Neg, "~": exp.BitwiseNot,
}  # fmt: skip
_OF_TWO: dict[str, type[exp.Expr]] = {
    "+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div, "//": exp.IntDiv, "%": exp.Mod, "pow": exp.Pow,
    "&": exp.BitwiseAnd, "|": exp.BitwiseOr, "xor": exp.BitwiseXor, ">>": exp.BitwiseRightShift,
    "<<": exp.BitwiseLeftShift, "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT,
    ">=": exp.GTE, "is_not_distinct_from": exp.NullSafeEQ, "is_distinct_from": exp.NullSafeNEQ,
    "nullif": exp.Nullif, "atan2": exp.Atan2,
}  # fmt: skip

READERS: Readers = {
    **{kind: of(name, "this") for name, kind in _OF_ONE.items()},
    **{kind: binary(name) for name, kind in _OF_TWO.items()},
    exp.Between: of("between", "this", "low", "high"),
    exp.In: _in,
    exp.Is: _is,
    exp.And: chain("and", exp.And),
    exp.Or: chain("or", exp.Or),
    exp.Not: _not,
    exp.Case: _case,
    exp.If: of("case", "this", "true", "false"),
    exp.Coalesce: of("coalesce", "this", "expressions"),
    exp.Greatest: _greatest_or_least("greatest"),
    exp.Least: _greatest_or_least("least"),
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Round: of("round", "this", "decimals"),
    exp.Trunc: of("trunc", "this", "decimals"),
    exp.Log: _log,
    exp.ToBinary: of("bin", "this"),
    exp.Hex: of("hex", "this"),
}
