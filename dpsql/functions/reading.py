"""One piece of parsed SQL as a function of the shelf, or None: then nobody has vetted it.

    price * 2                 Reading("*", (price, 2))
    x IS NOT NULL             Reading("is_not_null", (x,))
    EXTRACT(year FROM d)      Reading("year", (d,))
    DATE '2020-01-01'         literal_of -> Literal(date(2020, 1, 1), DATE)

sqlglot gives a node more settings than we know: one that is set and not understood makes it unread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from dpsql.functions.intervals import interval_text
from dpsql.functions.literals import coerce, number_literal
from dpsql.functions.periods import part_name
from dpsql.ir.column import (
    BOOLEAN,
    INTERVAL,
    NULL,
    VARCHAR,
    Kind,
    Type,
    type_named,
)
from dpsql.ir.scalar import Literal


@dataclass(frozen=True, slots=True)
class Reading:
    """A function and its arguments, not read yet; ``type`` is the target of a cast."""

    name: str
    arguments: tuple[exp.Expr, ...]
    type: Type | None = None


Reader = Callable[[exp.Expr], "Reading | None"]


def read(node: exp.Expr) -> Reading | None:
    """The function that a node calls, with its arguments; None for what is not on the shelf."""
    reader = _READERS.get(type(node))
    return None if reader is None else reader(node)


# ---- constants -------------------------------------------------------------------------------------


def literal_of(node: exp.Expr) -> Literal | None:
    """The constant that a node is: a number, a text, TRUE, NULL, -5, DATE '...', an INTERVAL."""
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
        case exp.Cast(this=exp.Literal(is_string=True)) if _only(node, "this", "to"):
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


def _negative(literal: Literal) -> Literal | None:
    match literal.value:
        case bool():
            return None
        case int(value):
            return number_literal(str(-value))
        case float(value):
            return Literal(-value, literal.type)
        case Decimal():
            return Literal(literal.value.copy_negate(), literal.type)
        case _:
            return None


def interval_literal(node: exp.Expr) -> Literal | None:
    """A constant INTERVAL, its text in one canonical form."""
    if isinstance(node, exp.Neg):
        inner, negative = node.this, True
    else:
        inner, negative = node, False
    if not isinstance(inner, exp.Interval) or not _only(inner, "this", "unit"):
        return None
    amount, unit = inner.this, inner.args.get("unit")
    while isinstance(amount, exp.Paren):
        amount = amount.this
    sign = ""
    if isinstance(amount, exp.Neg):
        sign, amount = "-", amount.this
    if not isinstance(amount, exp.Literal) or (unit is not None and type(unit) is not exp.Var):
        return None
    whole = f"{sign}{amount.this} {'' if unit is None else unit.name}"
    text = interval_text(whole, negative)
    return None if text is None else Literal(text, INTERVAL)


def cast_target(node: object) -> Type | None:
    """The type that a cast names, in DuckDB's spelling; None for one that no cast leads to here."""
    if not isinstance(node, exp.DataType):
        return None
    text = node.sql("duckdb")
    found = type_named(_SPELLINGS.get(text, text).replace(", ", ","))
    if found.kind is Kind.DECIMAL:
        size = [each.name for each in node.expressions]
        if not all(each.isdigit() for each in size) or not 1 <= len(size) <= 2:
            return None
        width, scale = int(size[0]), int(size[1]) if len(size) == 2 else 0
        if not (1 <= width <= 38 and 0 <= scale <= width):
            return None
        return type_named(f"DECIMAL({width},{scale})")
    known = found.kind not in (Kind.OPAQUE, Kind.NULL, Kind.INTERVAL) and not text.startswith("ENUM")
    return found if known else None


_SPELLINGS = {
    "TEXT": "VARCHAR", "INT": "INTEGER", "REAL": "FLOAT", "INT128": "HUGEINT", "UINT128": "UHUGEINT",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip


# ---- readers ---------------------------------------------------------------------------------------


def _only(node: exp.Expr, *keys: str) -> bool:
    """Whether nothing but these settings is set."""
    return all(key in keys or value in (None, False, []) for key, value in node.args.items())


def _of(name: str, *keys: str, ignored: tuple[str, ...] = ()) -> Reader:
    """The settings ``keys`` in order are the arguments; a list among them is spread out."""

    def reader(node: exp.Expr) -> Reading | None:
        if not _only(node, *keys, *ignored):
            return None
        found: list[exp.Expr] = []
        for key in keys:
            value = node.args.get(key)
            values = value if isinstance(value, list) else [] if value is None else [value]
            if not all(isinstance(each, exp.Expr) for each in values):
                return None
            found += values
        return Reading(name, tuple(found))

    return reader


def _binary(name: str) -> Reader:
    return _of(name, "this", "expression")


def _chain(name: str, kind: type[exp.Expr]) -> Reader:
    """AND, OR and || of many sides, which come nested to the left."""

    def reader(node: exp.Expr) -> Reading | None:
        parts: list[exp.Expr] = []
        while type(node) is kind:
            if not _only(node, "this", "expression", "safe"):
                return None
            parts.append(node.expression)
            node = node.this
        return Reading(name, (node, *reversed(parts)))

    return reader


def _not(node: exp.Expr) -> Reading | None:
    inner = node.this
    if (
        isinstance(inner, exp.Is)
        and isinstance(inner.expression, exp.Null)
        and _only(inner, "this", "expression")
    ):
        return Reading("is_not_null", (inner.this,))
    return _of("not", "this")(node)


def _is(node: exp.Expr) -> Reading | None:
    if not _only(node, "this", "expression"):
        return None
    match node.expression:
        case exp.Null():
            return Reading("is_null", (node.this,))
        case exp.Boolean():  # NULL IS TRUE is false
            return Reading("is_not_distinct_from", (node.this, node.expression))
        case _:
            return None


def _negated(reader: Reader) -> Reader:
    """LIKE carries its NOT inside."""

    def negated(node: exp.Expr) -> Reading | None:
        if not node.args.get("negate"):
            return reader(node)
        plain = node.copy()
        plain.set("negate", None)
        return Reading("not", (plain,))

    return negated


def _escape(node: exp.Expr) -> Reading | None:
    inner = node.this
    if not isinstance(inner, exp.Like | exp.ILike) or not _only(node, "this", "expression"):
        return None
    if inner.args.get("negate"):
        plain = node.copy()
        plain.this.set("negate", None)
        return Reading("not", (plain,))
    found = read(inner)
    return None if found is None else Reading(found.name, (*found.arguments, node.expression))


def _case(node: exp.Expr) -> Reading | None:
    if not _only(node, "this", "ifs", "default"):
        return None
    subject, parts = node.args.get("this"), []
    for each in node.args["ifs"]:
        if not isinstance(each, exp.If) or not _only(each, "this", "true"):
            return None
        condition = each.this
        if subject is not None:
            condition = exp.EQ(
                this=exp.Paren(this=subject.copy()), expression=exp.Paren(this=condition.copy())
            )
        parts += [condition, each.args["true"]]
    default = node.args.get("default")
    return Reading("case", tuple(parts if default is None else [*parts, default]))


def _trim(node: exp.Expr) -> Reading | None:
    if not _only(node, "this", "expression", "position"):
        return None
    name = {None: "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}.get(
        node.args.get("position")
    )
    found = _of("trim", "this", "expression", ignored=("position",))(node)
    return None if name is None or found is None else Reading(name, found.arguments)


def _log(node: exp.Expr) -> Reading | None:
    found = _of("log", "this", "expression")(node)
    if found is None or len(found.arguments) == 1:
        return None if found is None else Reading("log10", found.arguments)
    base = found.arguments[0]
    if isinstance(base, exp.Literal) and not base.is_string and base.this in ("2", "10"):
        return Reading(f"log{base.this}", found.arguments[1:])
    return found


def _cast(node: exp.Expr) -> Reading | None:
    target = cast_target(node.args.get("to"))
    return Reading("cast", (node.this,), target) if target and _only(node, "this", "to", "safe") else None


def _word(node: object) -> exp.Expr | None:
    """The name of a part of a date as a constant text."""
    if isinstance(node, exp.Var) or (isinstance(node, exp.Literal) and node.is_string):
        return exp.Literal.string(part_name(node.name))
    return None


def _trunc(node: exp.Expr) -> Reading | None:
    unit = _word(node.args.get("unit"))
    return Reading("date_trunc", (unit, node.this)) if unit and _only(node, "this", "unit") else None


def _difference(node: exp.Expr) -> Reading | None:
    unit = _word(node.args.get("unit"))
    if unit is None or not _only(node, "this", "expression", "unit", "date_part_boundary"):
        return None
    return Reading("date_diff", (unit, node.expression, node.this))


_PARTS = {
    "dow": "dayofweek", "weekday": "dayofweek", "dayofmonth": "day", "doy": "dayofyear", "weekofyear": "week",
    "ms": "millisecond", "us": "microsecond", "usec": "microsecond", "msec": "millisecond", "mon": "month",
    "min": "minute", "sec": "second", "hr": "hour", "h": "hour", "m": "minute", "s": "second", "y": "year",
    "d": "day", "w": "week", "mil": "millennium", "cent": "century", "dec": "decade", "yr": "year",
}  # fmt: skip
_EXTRACTED = {
    "year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear", "isoyear", "yearweek",
    "decade", "century", "millennium", "hour", "minute", "second", "millisecond", "microsecond", "epoch",
    "julian",
}  # fmt: skip


def _extract(unit: object, value: exp.Expr) -> Reading | None:
    word = _word(unit)
    if word is None:
        return None
    name = _PARTS.get(word.name, word.name)
    return Reading(name, (value,)) if name in _EXTRACTED else None


def _from_unix(node: exp.Expr) -> Reading | None:
    scale = node.args.get("scale")
    name = {"3": "epoch_ms", "6": "make_timestamp"}.get(scale.name if isinstance(scale, exp.Expr) else "")
    return Reading(name, (node.this,)) if name and _only(node, "this", "scale") else None


def _add(name: str) -> Reader:
    def reader(node: exp.Expr) -> Reading | None:
        inner = node.args.get("expression")
        return _of(name, "this", "expression")(node) if isinstance(inner, exp.Interval) else None

    return reader


def _in(node: exp.Expr) -> Reading | None:
    return _of("in", "this", "expressions")(node) if node.args.get("expressions") else None


def _replaced(node: exp.Expr) -> Reading | None:
    keys = ("this", "expression", "replacement", "modifiers")
    return _of("regexp_replace", *keys, ignored=("single_replace",))(node)


def _extracted(node: exp.Expr) -> Reading | None:
    keys = ("this", "expression", "group", "parameters")
    return _of("regexp_extract", *keys, ignored=("null_if_pos_overflow",))(node)


def _if(node: exp.Expr) -> Reading | None:
    return _of("case", "this", "true", "false")(node)


def _named(node: exp.Expr) -> Reading | None:
    """A call that sqlglot does not know, by its name."""
    if not isinstance(node.this, str) or not _only(node, "this", "expressions"):
        return None
    name, arguments = node.this.lower(), tuple(node.expressions)
    if not all(isinstance(each, exp.Expr) for each in arguments):
        return None
    if name in ("date_part", "datepart") and len(arguments) == 2:
        return _extract(*arguments) if isinstance(arguments[0], exp.Literal) else None
    if name in ("date_sub", "datesub") and len(arguments) == 3:
        unit = _word(arguments[0])
        return Reading("date_sub", (unit, *arguments[1:])) if unit else None
    if name in ("iff", "if") and len(arguments) in (2, 3):
        return Reading("case", arguments)
    name = _SYNONYMS.get(name, name)
    return Reading(name, arguments) if name in _BY_NAME else None


_SYNONYMS = {
    "add": "+", "subtract": "-", "multiply": "*", "mod": "%", "weekday": "dayofweek", "suffix": "ends_with",
    "prefix": "starts_with", "greatest_common_divisor": "gcd", "power": "pow",
}  # fmt: skip
_BY_NAME = {
    "+", "-", "*", "%", "even", "gcd", "bit_count", "gamma", "lgamma", "factorial", "signbit", "isfinite",
    "strlen", "ord", "ends_with", "starts_with", "strip_accents", "length_grapheme", "bit_length",
    "dayofweek",
    "isoyear", "yearweek", "millisecond", "microsecond", "epoch_us", "decade", "century", "millennium",
    "julian", "try_strptime", "timezone", "make_date", "log10", "log2",
}  # fmt: skip


def _zone(node: exp.Expr) -> Reading | None:
    return _of("timezone", "this", "zone")(node)


def _timezone(reader: Reader) -> Reader:
    """timezone('UTC', x) names the zone first."""

    def swapped(node: exp.Expr) -> Reading | None:
        found = reader(node)
        if found is None or found.name != "timezone":
            return found
        return Reading("timezone", found.arguments[::-1])

    return swapped


_OF_ONE: dict[str, type[exp.Expr]] = {
    "abs": exp.Abs,
    "sign": exp.Sign,
    "floor": exp.Floor,
    "ceil": exp.Ceil,
    "sqrt": exp.Sqrt,
    "cbrt": exp.Cbrt,
    "exp": exp.Exp,
    "ln": exp.Ln,
    "degrees": exp.Degrees,
    "radians": exp.Radians,
    "sin": exp.Sin,
    "cos": exp.Cos,
    "tan": exp.Tan,
    "cot": exp.Cot,
    "asin": exp.Asin,
    "acos": exp.Acos,
    "atan": exp.Atan,
    "sinh": exp.Sinh,
    "cosh": exp.Cosh,
    "tanh": exp.Tanh,
    "asinh": exp.Asinh,
    "acosh": exp.Acosh,
    "atanh": exp.Atanh,
    "pi": exp.Pi,
    "factorial": exp.Factorial,
    "upper": exp.Upper,
    "lower": exp.Lower,
    "reverse": exp.Reverse,
    "ascii": exp.Ascii,
    "unicode": exp.Unicode,
    "bit_length": exp.BitLength,
    "year": exp.Year,
    "quarter": exp.Quarter,
    "month": exp.Month,
    "week": exp.Week,
    "day": exp.Day,
    "dayofweek": exp.DayOfWeek,
    "dayofyear": exp.DayOfYear,
    "hour": exp.Hour,
    "minute": exp.Minute,
    "second": exp.Second,
    "dayname": exp.Dayname,
    "monthname": exp.Monthname,
}

_READERS: dict[type[exp.Expr], Reader] = {
    exp.Add: _binary("+"),
    exp.Sub: _binary("-"),
    exp.Mul: _binary("*"),
    exp.Div: _binary("/"),
    exp.IntDiv: _binary("//"),
    exp.Mod: _binary("%"),
    exp.Pow: _binary("pow"),
    exp.Neg: _of("negate", "this"),
    exp.BitwiseAnd: _binary("&"),
    exp.BitwiseOr: _binary("|"),
    exp.BitwiseXor: _binary("xor"),
    exp.BitwiseNot: _of("~", "this"),
    exp.BitwiseRightShift: _binary(">>"),
    exp.EQ: _binary("="),
    exp.NEQ: _binary("<>"),
    exp.LT: _binary("<"),
    exp.LTE: _binary("<="),
    exp.GT: _binary(">"),
    exp.GTE: _binary(">="),
    exp.NullSafeEQ: _binary("is_not_distinct_from"),
    exp.NullSafeNEQ: _binary("is_distinct_from"),
    exp.Between: _of("between", "this", "low", "high"),
    exp.In: _in,
    exp.Is: _is,
    exp.And: _chain("and", exp.And),
    exp.Or: _chain("or", exp.Or),
    exp.Not: _not,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _of("coalesce", "this", "expressions"),
    exp.Nullif: _binary("nullif"),
    exp.Greatest: _of("greatest", "this", "expressions", ignored=("ignore_nulls",)),
    exp.Least: _of("least", "this", "expressions", ignored=("ignore_nulls",)),
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Round: _of("round", "this", "decimals"),
    exp.Trunc: _of("trunc", "this", "decimals"),
    exp.Log: _log,
    exp.Atan2: _binary("atan2"),
    exp.IsNan: _of("isnan", "this"),
    exp.IsInf: _of("isinf", "this"),
    exp.Length: _of("length", "this"),
    exp.Substring: _of("substring", "this", "start", "length"),
    exp.Left: _binary("left"),
    exp.Right: _binary("right"),
    exp.Trim: _trim,
    exp.DPipe: _chain("||", exp.DPipe),
    exp.Concat: _of("concat", "expressions", ignored=("safe", "coalesce")),
    exp.ConcatWs: _of("concat_ws", "expressions", ignored=("safe", "coalesce")),
    exp.Replace: _of("replace", "this", "expression", "replacement"),
    exp.Like: _negated(_binary("like")),
    exp.ILike: _negated(_binary("ilike")),
    exp.Escape: _escape,
    exp.RegexpLike: _of("regexp_matches", "this", "expression", "flag"),
    exp.RegexpFullMatch: _of("regexp_full_match", "this", "expression", "options"),
    exp.SimilarTo: _binary("regexp_full_match"),
    exp.RegexpReplace: _replaced,
    exp.RegexpExtract: _extracted,
    exp.StartsWith: _binary("starts_with"),
    exp.EndsWith: _binary("ends_with"),
    exp.Contains: _binary("contains"),
    exp.StrPosition: _of("strpos", "this", "substr"),
    exp.SplitPart: _of("split_part", "this", "delimiter", "part_index"),
    exp.Pad: lambda node: _of(
        "lpad" if node.args.get("is_left") else "rpad",
        "this",
        "expression",
        "fill_pattern",
        ignored=("is_left",),
    )(node),
    exp.Translate: _of("translate", "this", "from_", "to"),
    exp.Chr: _of("chr", "expressions"),
    exp.MD5: _of("md5", "this"),
    exp.SHA: _of("sha1", "this"),
    exp.SHA2: lambda node: Reading("sha256", (node.this,)) if node.args["length"].name == "256" else None,
    exp.WeekOfYear: _of("week", "this"),
    exp.DayOfMonth: _of("day", "this"),
    exp.DayOfWeekIso: _of("isodow", "this"),
    exp.TimeToUnix: _of("epoch", "this"),
    exp.UnixToTime: _from_unix,
    exp.TimestampTrunc: _trunc,
    exp.DateTrunc: _trunc,
    exp.Extract: lambda node: (
        _extract(node.this, node.expression) if _only(node, "this", "expression") else None
    ),
    exp.DateDiff: _difference,
    exp.DateAdd: _add("+"),
    exp.DateSub: _add("-"),
    exp.TimeToStr: _of("strftime", "this", "format"),
    exp.StrToTime: _of("try_strptime", "this", "format"),
    exp.DateFromParts: _of("make_date", "year", "month", "day"),
    exp.LastDay: _of("last_day", "this"),
    exp.AtTimeZone: _zone,
    exp.Anonymous: _timezone(_named),
    **{kind: _of(name, "this") for name, kind in _OF_ONE.items()},
}
