"""An output's expression over a released table -> the formula whose noise is followed; None for others.

release.sum / release.count + 1      ->      Operation("+", (Operation("/", ("sum", "count")), 1.0))
"""

from __future__ import annotations

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
_PARTS = ("this", "expression", "expressions", "decimals")
_PLAIN = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)


def formula_of(node: exp.Expr, table: str, aliases: Mapping[str, exp.Expr]) -> Formula | None:
    """``table`` is the released table, ``aliases`` what the names of earlier items stand for."""
    match node:
        case exp.Paren() | exp.Alias():
            return formula_of(node.this, table, aliases)
        case exp.Cast() if node.to.this in _PLAIN:
            return formula_of(node.this, table, aliases)
        case exp.Literal():
            return None if node.is_string else _number(node.this)
        case exp.Column():
            if node.table:
                return node.name if node.table == table else None
            named = node.name.casefold()
            rest = {name: each for name, each in aliases.items() if name != named}
            return formula_of(aliases[named], table, rest) if named in aliases else None
    name = _OPERATIONS.get(type(node))
    others = [value for key, value in node.args.items() if key not in _PARTS]
    if name is None or any(each not in (None, False, True) for each in others):
        return None
    found: list[Formula] = []
    for part in _PARTS:
        value = node.args.get(part)
        for each in value if isinstance(value, list) else [value]:
            if each is None:
                continue
            formula = formula_of(each, table, aliases)
            if formula is None:
                return None
            found.append(formula)
    return Operation(name, tuple(found))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:  # 1e: DuckDB reads it, and then does not
        return None


def size_of(formula: Formula) -> int:
    """How many operations, names and numbers."""
    return 1 + sum(size_of(each) for each in formula.arguments) if isinstance(formula, Operation) else 1
