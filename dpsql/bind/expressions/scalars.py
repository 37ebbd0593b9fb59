"""Expressions -> scalars: columns, constants and vetted functions, nothing else.

Anything else is refused here with its reason: misplaced aggregates, windows over rows of several units,
subqueries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn, Protocol

from sqlglot import exp

from dpsql.aggregates import by_name
from dpsql.bind.scope.scope import Scope
from dpsql.bind.syntax.interval_functions import NOT_RELEASED, is_end, refuse_end
from dpsql.bind.syntax.posterior_functions import is_posterior, refuse_posterior
from dpsql.bind.syntax.tuples import compared, places_of
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import Facts
from dpsql.functions import ArgumentError, shelf
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.meaning import SHAPES, Remembering, fact_of
from dpsql.functions.core.types import named
from dpsql.functions.reading import literal_of, read
from dpsql.functions.time.on_the_clock import call_on_the_clock
from dpsql.ir.column import BOOLEAN, NULL, VARCHAR, Kind, Type, field_types
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.ir.source import Span
from dpsql.parse.other_aggregates import INSTEAD
from dpsql.parse.other_functions import instead_of
from dpsql.parse.spans import span_of

MOST_LISTED = 998
_ORDERS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
_UNVETTED = "apply it above the release, or compute it from the functions of dpsql/docs/language.md"
_OF_TUPLES = "compare two tuples by =, <> or IN; or their parts, one by one: x < 1 OR (x = 1 AND y < 2)"
_OF_SLICES = "of a text, write substring(x, 1, 3); of a list, take one item, x[1], or unnest it"
_OTHERWISE = "check the types of the arguments, and CAST where they differ"


Constants = Callable[[exp.Expr], tuple[Literal, ...]]
"""The values of a subquery over public tables, or a refusal."""


_UNIT = "the unit of a row"


def _instead_of(node: exp.Expr) -> str:
    """Return what to write in place of what is not vetted."""
    if isinstance(node, exp.Tuple):
        return _OF_TUPLES
    sliced = isinstance(node, exp.Bracket) and any(isinstance(each, exp.Slice) for each in node.expressions)
    return _OF_SLICES if sliced else _UNVETTED


def _as_in(node: exp.Expr) -> exp.Expr:
    """Return x = ANY (SELECT ...) as x IN (SELECT ...), x <> ALL (SELECT ...) as NOT IN, others alike."""
    match node:
        case exp.EQ(expression=exp.Any(this=exp.Query() as query)):
            return exp.In(this=node.this.copy(), query=query.copy())
        case exp.NEQ(expression=exp.All(this=exp.Query() as query)):
            return exp.Not(this=exp.In(this=node.this.copy(), query=query.copy()))
    return node


def hidden_unit(name: str) -> exp.Column:
    """Return the unit of a row as a column; no query can name it, the rewrite of a subquery creates it.

    It is told by its meta data: the classes of a compiled sqlglot have no subclasses.
    """
    column = exp.Column(this=exp.to_identifier(name, quoted=True))
    column.meta[_UNIT] = True
    return column


def is_hidden_unit(node: exp.Expr) -> bool:
    return bool(node.meta.get(_UNIT))


class GrowingRows(Protocol):
    """Rows that can grow by the windows and subqueries of an expression."""

    relation: Relation

    def window(self, node: exp.Window, scalars: Scalars) -> Scalar: ...
    def exists(self, node: exp.Exists, scalars: Scalars) -> Scalar: ...
    def member(self, node: exp.In, scalars: Scalars) -> Scalar: ...
    def value(self, node: exp.Expr, scalars: Scalars) -> Scalar: ...


class Scalars:
    """Binds expressions over one scope.

    ``zone`` is the policy's time zone, if that is known; ``rows`` binds windows and subqueries, if set.
    """

    def __init__(
        self,
        text: str,
        scope: Scope,
        facts: Facts,
        constants: Constants,
        zone: str | None,
        rows: GrowingRows | None = None,
    ) -> None:
        self.text, self.scope, self.facts, self.constants = text, scope, facts, constants
        self.zone, self.rows = zone, rows
        self._lookup = Remembering(facts.__getitem__)

    def bind(self, node: exp.Expr) -> Scalar:
        """Bind an expression; refuse arguments of the wrong types."""
        scalar = self._bind(node)
        try:
            fact_of(scalar, self._lookup)
        except ArgumentError:
            self._blame(scalar, node)
        return scalar

    def _blame(self, scalar: Scalar, node: exp.Expr) -> NoReturn:
        """Refuse at the innermost call with arguments that do not fit."""
        for argument in scalar.arguments if isinstance(scalar, Call) else ():
            try:
                fact_of(argument, self._lookup)
            except ArgumentError:
                self._blame(argument, node)
        try:
            fact_of(scalar, self._lookup)
        except ArgumentError as reason:
            span = scalar.span or self.span(node)
            raise refuse(reason.code, reason.title, span, help=reason.help or _OTHERWISE) from None
        raise AssertionError("one of the calls does not fit")

    def condition(self, node: exp.Expr) -> Scalar:
        """Bind an expression that is true, false or NULL."""
        scalar = self.bind(node)
        if fact_of(scalar, self._lookup).type.kind not in (Kind.BOOLEAN, Kind.NULL):
            raise refuse(
                "D205",
                "this condition is not a boolean",
                self.span(node),
                help="compare it with something: x <> 0, x IS NOT NULL",
            )
        return scalar

    def span(self, node: exp.Expr) -> Span | None:
        return span_of(node, self.text)

    def _bind(self, node: exp.Expr) -> Scalar:
        """Bind an expression; ``bind`` checks its types."""
        match node:
            case exp.Column() if is_hidden_unit(node):
                return self._unit()
            case exp.Paren() | exp.Alias():
                return self._bind(node.this)
            case exp.Column():
                return self._column(node)
        parts = compared(node)
        if parts is not None:
            self._refuse_mixed(node)
            return self._bind(parts)
        try:
            constant = literal_of(node)
        except ArgumentError as reason:
            span = self.span(node)
            raise refuse(reason.code, reason.title, span, help=reason.help or _OTHERWISE) from None
        if constant is not None:
            return replace(constant, span=self.span(node))
        if isinstance(node, exp.Subquery | exp.Select):
            return self.rows.value(node, self) if self.rows else self.single(node, self.constants(node))
        asked, node = node, _as_in(node)
        if isinstance(node, exp.Not) and node is not asked:
            return Call("not", (self._bind(node.this),), span=self.span(node))
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            if self.rows:
                return self.rows.member(node, self)
            return self.listed(node, node.this, self.constants(node.args["query"]))
        if isinstance(node, exp.Exists) and self.rows:
            return self.rows.exists(node, self)
        if isinstance(node, exp.Window) and self.rows:
            return self.rows.window(node, self)
        return self._call(node)

    def _refuse_mixed(self, node: exp.Expr) -> None:
        """Refuse tuples of many parts, and of types that DuckDB compares as texts where they are parts."""
        places = places_of(node)
        if sum(map(len, places)) > MOST_LISTED:
            raise refuse(
                "D103",
                f"these tuples have more than {MOST_LISTED} parts",
                self.span(node),
                help="join with a public table of them",
            )
        for place in places:
            types = [fact_of(self._bind(part), self._lookup).type for part in place]
            known = [kind for kind in types if kind != NULL]
            alike = all(each.kind is known[0].kind or (each.numeric and known[0].numeric) for each in known)
            listed = {each if each.kind is Kind.FLOAT else each.kind for each in types[1:]} - {Kind.NULL}
            if not alike or len(listed) > 1:
                raise refuse(
                    "D205",
                    "parts of tuples are compared where they have one type",
                    self.span(place[0]),
                    help="write constants of the column's type: DATE '2024-01-31', 7, true; or compare the "
                    "parts one by one",
                )

    def _unit(self) -> Scalar:
        assert self.rows is not None
        owned = ownership_of(self.rows.relation)
        assert isinstance(owned, Owned)
        return Ref(owned.unit)

    def unit_of(self, scalars: Sequence[Scalar]) -> Scalar | None:
        """Return the unit of the rows, where it is made of exactly these columns; else None."""
        owned = None if self.rows is None else ownership_of(self.rows.relation)
        names = {scalar.name for scalar in scalars if isinstance(scalar, Ref)}
        if not isinstance(owned, Owned) or len(names) != len(scalars):
            return None
        return Ref(owned.unit) if names in map(set, owned.spelled) else None

    def single(self, node: exp.Expr, rows: Sequence[Literal]) -> Scalar:
        """Return a subquery over public tables as its constant."""
        if len(rows) > 1:
            raise refuse("D205", "this subquery gives more than one row", self.span(node), help="add LIMIT 1")
        return replace(rows[0], span=self.span(node)) if rows else Literal(None, NULL, self.span(node))

    def listed(self, node: exp.Expr, subject: exp.Expr, listed: Sequence[Literal]) -> Scalar:
        """Return IN over a public subquery as IN over its constants."""
        if len(listed) > MOST_LISTED:
            raise refuse(
                "D103",
                f"this list has more than {MOST_LISTED} values",
                self.span(node),
                help="join with the public table on its declared key",
            )
        if not listed:
            return Literal(False, BOOLEAN, self.span(node))
        value = self._bind(subject)
        try:
            return call_on_the_clock("in", (value, *listed), self._lookup, self.zone, None, self.span(node))
        except ArgumentError as reason:
            raise refuse(reason.code, reason.title, self.span(node), help=reason.help or _OTHERWISE) from None

    def _column(self, node: exp.Column) -> Scalar:
        if isinstance(node.this, exp.Star):
            raise refuse("D105", "a star is not allowed here", self.span(node), help="name the column")
        field = self._field(node)
        quoted = bool(node.this.args.get("quoted"))
        scalar = field or self.scope.resolve(node.name, node.table, self.span(node), quoted)
        return _placed(scalar, self.span(node))

    def _field(self, node: exp.Column) -> Scalar | None:
        """Return a field of a struct, home.town, where no table is called home."""
        if not node.table:
            return None
        scope: Scope | None = self.scope
        while scope is not None:
            if any(column.qualifier.casefold() == node.table.casefold() for column in scope.columns):
                return None
            scope = scope.outer
        holders = self.scope.find(node.table)
        if len(holders) != 1 or not field_types(fact_of(holders[0].scalar, self._lookup).type):
            return None
        return Call("struct_extract", (holders[0].scalar, Literal(node.name, VARCHAR)))

    def _spelling(self, node: exp.Expr) -> str:
        """Return the name of a call as written, or a description of brackets and operators."""
        span = self.span(node)
        word, called, _ = ("", "", "") if span is None else self.text[span.start : span.end].partition("(")
        inner = node.this if isinstance(node.this, exp.Func) else None  # sqlglot drops some positions
        of_inner = inner is not None and word.strip().upper() in inner.sql_names()
        if called and word.strip().isidentifier() and not of_inner:
            return word.strip()
        if isinstance(node, exp.Array | exp.Struct | exp.Bracket):
            return "a list, a struct or a part of one"
        return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()

    def _call(self, node: exp.Expr) -> Scalar:
        self._refuse_misplaced(node)
        if is_end(node):
            refuse_end(node, self.text, NOT_RELEASED)
        if is_posterior(node):
            refuse_posterior(node, self.text, NOT_RELEASED)
        if isinstance(node, exp.In) and len(node.expressions) > MOST_LISTED:
            raise refuse(
                "D103",
                f"this list has more than {MOST_LISTED} values",
                self.span(node),
                help="use a range (BETWEEN), or a public table of the values: IN (SELECT ...)",
            )
        reading = read(node)
        if reading is None or reading.name not in shelf():
            name = self._spelling(node)
            raise refuse(
                "D251",
                f"{name} is not answered over private rows",
                self.span(node),
                label="it is not on the list of vetted functions",
                help=instead_of(name) or _instead_of(node),
            )
        arguments = [self._bind(argument) for argument in reading.arguments]
        if reading.name == "cast" and self._is_cast_already(arguments[0], reading.type):
            return arguments[0]
        if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
            self._refuse_unreadable(node, arguments[0], reading.type)
        try:
            return call_on_the_clock(
                reading.name, arguments, self._lookup, self.zone, reading.type, self.span(node)
            )
        except ArgumentError as reason:
            span = self.span(node)
            raise refuse(reason.code, reason.title, span, help=reason.help or _OTHERWISE) from None

    def _refuse_unreadable(self, node: exp.Cast, text: Scalar, target: Type | None) -> None:
        """Refuse a constant text that DuckDB cannot read as this type: it would be NULL, and be paid for."""
        if not isinstance(text, Literal) or text.type != VARCHAR or target is None:
            return
        if coerce(text, target) is not None:
            return
        tried = exp.TryCast(this=exp.Literal.string(str(text.value)), to=node.args["to"].copy())
        [unreadable] = self.constants(exp.Select(expressions=[exp.Is(this=tried, expression=exp.Null())]))
        if unreadable.value:
            raise refuse(
                "D205",
                f"{str(text.value)[:40]!r} cannot be read as {named(target)}",
                self.span(node),
                help=SHAPES.get(target.kind, "write it as this type reads it, or TRY_CAST for NULL"),
            )

    def _is_cast_already(self, scalar: Scalar, target: Type | None) -> bool:
        if isinstance(scalar, Literal):
            return False
        try:
            return fact_of(scalar, self._lookup).type == target
        except ArgumentError:
            return False

    def _ends(self, node: exp.Expr) -> str:
        """Return what x >= ALL (...) and its like mean: a comparison with one end of the values, or both."""
        quantifier = node.args.get("expression")
        if quantifier is None or type(node) not in _ORDERS:
            sign, join = ("<>", "OR") if isinstance(node, exp.NEQ) else ("=", "AND")
            low, high = (f"x {sign} (SELECT {end}(y) FROM ...)" for end in ("MIN", "MAX"))
            return f"compare with both ends: {low} {join} {high}"
        query = quantifier.this.unnest()
        listed = query.expressions if isinstance(query, exp.Select) else []
        value, other = self._written(node.this, "x"), self._written(listed[0], "y") if listed else "y"
        least = isinstance(quantifier, exp.All) == isinstance(node, exp.LT | exp.LTE)
        end = f"(SELECT {'MIN' if least else 'MAX'}({other}) FROM ...)"
        return f"compare with the end of the values, NULL apart: {value} {_ORDERS[type(node)]} {end}"

    def _written(self, node: exp.Expr, otherwise: str) -> str:
        span = self.span(node)
        return otherwise if span is None else self.text[span.start : span.end]

    def _refuse_misplaced(self, node: exp.Expr) -> None:
        """Refuse windows, subqueries and aggregates that are not allowed here."""
        if isinstance(node, exp.Window):
            raise refuse(
                "D254",
                "a window is not allowed here",
                self.span(node),
                label="WHERE, GROUP BY and aggregates are evaluated before windows",
                help="compute it in a subquery, partitioned by the unit, or filter by QUALIFY; "
                "released groups take any window: SELECT x, RANK() OVER (ORDER BY COUNT(*)) FROM ... "
                "GROUP BY x",
            )
        if isinstance(node, exp.Query | exp.Exists) or node.args.get("query") is not None:
            raise refuse(
                "D255",
                "this subquery is not answered here",
                self.span(node),
                label="the value for one row would depend on rows of other units",
                help="use it in WHERE, or compute it in the select list of a subquery",
            )
        quantified = node if isinstance(node, exp.Any | exp.All) else node.args.get("expression")
        if isinstance(quantified, exp.Any | exp.All):
            if not isinstance(quantified.this.unnest(), exp.Query):
                raise refuse(
                    "D251",
                    "ANY and ALL of a list are not answered over private rows",
                    self.span(node),
                    help="ask whether it has an item: list_contains(tags, x)",
                )
            raise refuse(
                "D255",
                "private rows are not compared with all rows of a subquery",
                self.span(node),
                label="only = ANY and <> ALL are read, as IN and NOT IN",
                help=self._ends(node),
            )
        is_aggregate = isinstance(node, exp.Anonymous) and node.name.casefold() in {*INSTEAD, *by_name()}
        if is_aggregate or isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
            raise refuse(
                "D253",
                "an aggregate is not allowed here",
                self.span(node),
                help="use aggregates in the select list, HAVING and ORDER BY, not inside each other",
            )


def _placed(scalar: Scalar, span: Span | None) -> Scalar:
    """Return the scalar with the span of this use."""
    return replace(scalar, span=span)
