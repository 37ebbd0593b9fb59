"""Translate the expression of an output over a released table to a formula for its error, or to None.

release.sum / release.count + 1           ->   Operation("+", (Operation("/", ("sum", "count")), 1.0))
CASE WHEN release.count > 0 THEN release.sum / release.count END
                                          ->   Operation("if", (Operation(">", ("count", 0.0)), ..., nan))
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sqlglot import exp

from dpsql.ir.formula import Formula, Operation

_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Neg: "neg",
    exp.Abs: "abs",
    exp.Sqrt: "sqrt",
    exp.Pow: "power",
    exp.Round: "round",
    exp.Coalesce: "coalesce",
    exp.Nullif: "nullif",
    exp.Greatest: "greatest",
    exp.Least: "least",
}
_CONDITIONS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.And: "and",
    exp.Or: "or",
    exp.Not: "not",
}
_PARTS = ("this", "expression", "expressions", "decimals")
_PLAIN = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
_WHOLE = (exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.INT128)


def formula_of(node: exp.Expr, table: str, aliases: Mapping[str, exp.Expr]) -> Formula | None:
    """Return the formula of an expression over ``table``; ``aliases`` are the earlier select items."""
    match node:
        case exp.Paren() | exp.Alias():
            return formula_of(node.this, table, aliases)
        case exp.Cast() if node.to.this in _PLAIN:
            return formula_of(node.this, table, aliases)
        case exp.Cast() if not isinstance(node, exp.TryCast) and places_of(node.to) is not None:
            rounded = formula_of(node.this, table, aliases)
            return None if rounded is None else Operation("round", (rounded, float(places_of(node.to) or 0)))
        case exp.Literal():
            return None if node.is_string else _number(node.this)
        case exp.Column():
            if node.table:
                return node.name if node.table == table else None
            named = node.name.casefold()
            rest = {name: expression for name, expression in aliases.items() if name != named}
            return formula_of(aliases[named], table, rest) if named in aliases else None
        case exp.Null():
            return math.nan
        case exp.Case() if node.this is None:
            return _choice(node.args["ifs"], node.args.get("default"), table, aliases)
        case exp.If():
            return _choice([node], node.args.get("false"), table, aliases)
    return _operation(_OPERATIONS.get(type(node)), node, table, aliases)


def _choice(
    arms: list[exp.Expr], otherwise: exp.Expr | None, table: str, aliases: Mapping[str, exp.Expr]
) -> Formula | None:
    """Return the formula of a CASE whose conditions compare numbers."""
    chosen = math.nan if otherwise is None else formula_of(otherwise, table, aliases)
    for arm in reversed(arms):
        condition = _condition(arm.this, table, aliases)
        then = formula_of(arm.args["true"], table, aliases)
        if condition is None or then is None or chosen is None:
            return None
        chosen = Operation("if", (condition, then, chosen))
    return chosen


def _condition(node: exp.Expr, table: str, aliases: Mapping[str, exp.Expr]) -> Formula | None:
    """Return the formula of a condition: 1, 0, or NaN where it is NULL."""
    match node:
        case exp.Paren():
            return _condition(node.this, table, aliases)
        case exp.And() | exp.Or() | exp.Not():
            sides = [_condition(side, table, aliases) for side in node.iter_expressions()]
            known = tuple(side for side in sides if side is not None)
            return Operation(_CONDITIONS[type(node)], known) if len(known) == len(sides) else None
        case exp.Is() if isinstance(node.expression, exp.Null):
            tested = formula_of(node.this, table, aliases)
            return None if tested is None else Operation("is null", (tested,))
        case exp.Between():
            value = formula_of(node.this, table, aliases)
            low = formula_of(node.args["low"], table, aliases)
            high = formula_of(node.args["high"], table, aliases)
            if value is None or low is None or high is None:
                return None
            return Operation("and", (Operation(">=", (value, low)), Operation("<=", (value, high))))
    return _operation(_CONDITIONS.get(type(node)), node, table, aliases)


def _operation(
    name: str | None, node: exp.Expr, table: str, aliases: Mapping[str, exp.Expr]
) -> Formula | None:
    modifiers = [value for key, value in node.args.items() if key not in _PARTS]
    if name is None or any(modifier not in (None, False, True) for modifier in modifiers):
        return None
    arguments: list[Formula] = []
    for part in _PARTS:
        value = node.args.get(part)
        for child in value if isinstance(value, list) else [value]:
            if child is None:
                continue
            formula = formula_of(child, table, aliases)
            if formula is None:
                return None
            arguments.append(formula)
    return Operation(name, tuple(arguments))


def places_of(type: exp.DataType) -> int | None:
    """Return the decimal places to which a cast to this type rounds a number; None for other types."""
    if type.this in _WHOLE:
        return 0
    if type.this is not exp.DataType.Type.DECIMAL:
        return None
    digits = [each.name for each in type.expressions]
    return 3 if not digits else int(digits[1]) if len(digits) > 1 else 0


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:  # 1e: DuckDB parses it, and then fails
        return None


def size_of(formula: Formula) -> int:
    """Return the number of operations, names and numbers in a formula."""
    return (
        1 + sum(size_of(argument) for argument in formula.arguments) if isinstance(formula, Operation) else 1
    )
