"""The released half of a SELECT: the analyst's expressions over a measure's released table.

SELECT ward AS w, AVG(age) + 1 FROM patients GROUP BY ward HAVING COUNT(*) > 20 ORDER BY 2

SELECT release.ward AS w, release.avg + 1 AS "avg(age) + 1", release."avg margin" AS margin
  FROM release WHERE release.count > 20 ORDER BY 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.conditions import has_query
from dpsql.bind.intervals import LOW, NOT_RELEASED, around, is_end, number_of, refuse_end
from dpsql.bind.names import Fresh
from dpsql.bind.quantiles import several
from dpsql.bind.scalars import HiddenUnit, Scalars
from dpsql.errors import Error, refuse
from dpsql.facts.released import high_of, low_of, margin_of
from dpsql.ir.relation import AggregateCall, Named
from dpsql.ir.scalar import Scalar
from dpsql.parse.allowed import INTERVALS
from dpsql.parse.samples import Sample
from dpsql.parse.spans import span_of

_ARITHMETIC = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Neg,
    exp.Paren,
    exp.Round,
    exp.Abs,
    exp.Coalesce,
    exp.Nullif,
    exp.Greatest,
    exp.Least,
    exp.Sqrt,
)


MOST_MOVED = 4_000
"""Columns times nodes of all outputs whose half-width is reckoned by moving each column."""


def quoted(name: str, table: str = "") -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True) if table else None
    )


class Released:
    """Turns expressions over private rows into expressions over the measure they are released by."""

    def __init__(
        self,
        text: str,
        name: str,
        scalars: Scalars,
        keys: list[tuple[exp.Expr, Named]],
        aggregate: Callable[[exp.Expr], AggregateCall | None],
        subquery: Callable[[exp.Expr], exp.Expr],
        fresh: Fresh,
    ) -> None:
        self.text, self.name, self.scalars = text, name, scalars
        self._written = {_bare(written): named.name for written, named in reversed(keys)}
        self._meant = {named.scalar: named.name for _, named in reversed(keys)}
        self._kinds = {type(_bare(written)) for written, _ in keys}
        self._aggregate, self._subquery, self._fresh = aggregate, subquery, fresh
        self._places = {named.name: i for i, (_, named) in enumerate(keys)}
        self.grouping: Callable[[list[int]], exp.Expr] | None = None
        self.calls: list[AggregateCall] = []
        self._room = MOST_MOVED
        self.aliases: dict[str, exp.Expr] = {}

    def turn(self, node: exp.Expr) -> exp.Expr:
        """The expression over the released table."""
        key = self._key(node)
        if key is not None:
            return quoted(key, self.name)
        if isinstance(node, exp.Query | exp.Exists) or node.args.get("query") is not None:
            return self._subquery(node)
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._left_out(node)
        if is_end(node):
            return self._end(node)
        listed = several(self.text, node)
        if listed:
            return exp.Array(expressions=[self.turn(each) for each in listed])
        call = self._aggregate(node)
        if call is not None:
            return quoted(self._register(call), self.name)
        if isinstance(node, exp.Column):
            return self._alias(node)
        return self._children(node)

    def margin(self, turned: exp.Expr) -> exp.Expr | None:
        """The half-width of an output, while the select list has room for such arithmetic."""
        columns = {each.name for each in turned.find_all(exp.Column)}
        self._room -= (
            len(columns) * sum(1 for _ in turned.walk()) if not isinstance(_bare(turned), exp.Column) else 0
        )
        return margin(turned, self.name, self.calls) if self._room >= 0 else None

    def computed(self, turned: exp.Expr) -> bool:
        """Whether an output is computed of released numbers, not one of them."""
        noised = {call.name for call in self.calls}
        columns = {each.name for each in turned.find_all(exp.Column) if each.table == self.name}
        return bool(columns & noised) and not isinstance(_bare(turned), exp.Column)

    def margins(self, turned: exp.Expr, ends: bool) -> tuple[exp.Expr, ...]:
        """The half-width of an output and, where they are wanted, the ends of its interval."""
        half = self.margin(turned)
        if half is None or not ends:
            return () if half is None else (half,)
        return half, *(self._end_of(exp.Anonymous(this=name), turned, half) for name in INTERVALS)

    def _end(self, node: exp.Expr) -> exp.Expr:
        """DP_INTERVAL_LOW(n), n being an aggregate, an item's alias, or arithmetic over these."""
        if not self.name:
            refuse_end(node, self.text, NOT_RELEASED)
        number = number_of(node, self.text)
        named = number.name.casefold() if isinstance(number, exp.Column) and not number.table else ""
        turned = self.aliases[named] if named in self.aliases else self.turn(number)
        half = margin(turned, self.name, self.calls)
        if half is None:
            refuse_end(node, self.text, "this holds no noise, or no plain arithmetic with it")
        return self._end_of(node, turned, half)

    def _end_of(self, node: exp.Expr, turned: exp.Expr, half: exp.Expr) -> exp.Expr:
        bare = _bare(turned)
        if isinstance(bare, exp.Column):
            return quoted((low_of if node.name.casefold() == LOW else high_of)(bare.name), self.name)
        return around(bare, half, node)

    def correlated(self, node: exp.Expr, tree: exp.Expr) -> exp.Expr:
        """A bound subquery in which the keys of this SELECT, named with their table, are the release's."""
        if isinstance(node, exp.In):
            tree.set("query", self._with_keys(tree.args["query"]))
            tree.set("this", self.turn(node.this))
            return tree
        return self._with_keys(tree)

    def _with_keys(self, tree: exp.Expr) -> exp.Expr:
        inside = {each.alias_or_name.casefold() for each in tree.find_all(exp.Table, exp.Subquery)}
        outer = {each.qualifier.casefold() for each in self.scalars.scope.columns} - inside - {""}
        for each in list(tree.find_all(exp.Column)):
            if each.table.casefold() in outer:
                each.replace(self.turn(each))
        return tree

    def _left_out(self, node: exp.Grouping | exp.GroupingId) -> exp.Expr:
        """GROUPING(a, b), which is a constant for each grouping set."""
        keys = [self._key(each) for each in node.expressions]
        if self.grouping is None or not self._places or not keys or None in keys:
            raise refuse(
                "D205",
                "GROUPING asks about keys of this GROUP BY",
                span_of(node, self.text),
                help="name keys of its ROLLUP, CUBE or GROUPING SETS, written as they are there",
            )
        return self.grouping([self._places[each] for each in keys if each is not None])

    def _children(self, node: exp.Expr) -> exp.Expr:
        turned = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                turned.set(key, self.turn(value))
            elif isinstance(value, list):
                turned.set(key, [self.turn(each) if isinstance(each, exp.Expr) else each for each in value])
        return turned

    def _window(self, node: exp.Window) -> exp.Expr:
        """Over released rows a window is free; its own function is not an aggregate of private rows."""
        if isinstance(node.this, Sample):
            raise refuse(
                "D254",
                "DP_SAMPLE is no window",
                span_of(node.this, self.text),
                help="take it by group, and compare the groups above: SELECT x, DP_SAMPLE(mad(y), 0, 9) ...",
            )
        turned = node.copy()
        turned.set("this", self._children(node.this))
        for key, value in node.args.items():
            if key == "this":
                continue
            if isinstance(value, exp.Expr):
                turned.set(key, self.turn(value))
            elif isinstance(value, list):
                turned.set(key, [self.turn(each) for each in value])
        return turned

    def _register(self, call: AggregateCall) -> str:
        for known in self.calls:
            if _same(known, call):
                return known.name
        named = replace(call, name=self._fresh(call.function))
        self.calls.append(named)
        return named.name

    def _key(self, node: exp.Expr) -> str | None:
        """The key that an expression is: written alike, or meaning the same."""
        if isinstance(node, HiddenUnit):
            return self._meant.get(self.scalars.bind(node))
        if node in self._written:
            return self._written[node]
        if isinstance(node, exp.Column):
            plain = isinstance(node.this, exp.Identifier)
            found = self.scalars.scope.find(node.name, node.table) if plain else ()
            return self._meant.get(found[0].scalar) if len(found) == 1 else None
        if type(node) not in self._kinds or isinstance(node, exp.Literal) or has_query(node):
            return None
        scalar = self._maybe(node)
        return None if scalar is None else self._meant.get(scalar)

    def _maybe(self, node: exp.Expr) -> Scalar | None:
        try:
            return self.scalars.bind(node)
        except Error:
            return None

    def _alias(self, node: exp.Column) -> exp.Expr:
        """A select item's alias, which HAVING, ORDER BY and later items may use."""
        if not node.table and node.name.casefold() in self.aliases:
            return node.copy()
        found = self.scalars.scope.find(node.name, node.table)
        if not found:
            self.scalars.bind(node)
        raise refuse(
            "D402",
            f"{node.name} is neither grouped nor aggregated",
            span_of(node, self.text),
            label="its value differs from row to row",
            help=f"add it to GROUP BY, or aggregate it: AVG({node.name}), COUNT({node.name})",
        )


def _bare(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Paren | exp.Alias) else node


def _same(first: AggregateCall, second: AggregateCall) -> bool:
    return replace(first, name="") == replace(second, name="")


def margin(turned: exp.Expr, name: str, calls: list[AggregateCall]) -> exp.Expr | None:
    """The half-width of an output: of a released column its own, of arithmetic over such columns the

    root of the summed squares of what each column's half-width does to it. None for anything else.
    """
    bare = _bare(turned)
    noised = {call.name for call in calls}
    if isinstance(bare, exp.Column):
        return quoted(margin_of(bare.name), name) if bare.name in noised and bare.table == name else None
    columns = {each.name for each in bare.find_all(exp.Column) if each.table == name and each.name in noised}
    if not columns or not all(
        isinstance(each, (*_ARITHMETIC, exp.Column, exp.Identifier, exp.Literal)) for each in bare.walk()
    ):
        return None
    squares = [_moved(bare, column, name) for column in sorted(columns)]
    total = squares[0]
    for square in squares[1:]:
        total = exp.Add(this=total, expression=square)
    return exp.Sqrt(this=total)


def _moved(bare: exp.Expr, column: str, name: str) -> exp.Expr:
    """The larger squared change when the column moves up or down by its half-width."""

    def changed(way: type[exp.Binary]) -> exp.Expr:
        def step(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and node.name == column and node.table == name:
                return exp.Paren(this=way(this=node.copy(), expression=quoted(margin_of(column), name)))
            return node

        moved = bare.copy().transform(step)
        difference = exp.Sub(this=exp.Paren(this=moved), expression=exp.Paren(this=bare.copy()))
        double = exp.cast(exp.Paren(this=difference), "DOUBLE", dialect="duckdb")
        return exp.Pow(this=double, expression=exp.Literal.number(2))

    return exp.Greatest(this=changed(exp.Add), expressions=[changed(exp.Sub)], ignore_nulls=True)
