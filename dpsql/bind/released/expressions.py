"""The released half of a SELECT: the analyst's expressions over a measure's released table.

SELECT ward AS w, AVG(age) + 1 FROM patients GROUP BY ward HAVING COUNT(*) > 20 ORDER BY 2

SELECT release.ward AS w, release.avg + 1 AS "avg(age) + 1", release."avg margin" AS margin
  FROM release WHERE release.count > 20 ORDER BY 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.expressions.histograms import counts_of
from dpsql.bind.expressions.scalars import HiddenUnit, Scalars
from dpsql.bind.private.conditions import has_query
from dpsql.bind.released.error_formulas import formula_of, size_of
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.wrappers import unwrapped
from dpsql.bind.syntax.interval_functions import LOW, NOT_RELEASED, is_end, number_of, refuse_end
from dpsql.bind.syntax.quantiles import several
from dpsql.errors import Error, refuse
from dpsql.facts.released_columns import high_of, low_of, margin_of
from dpsql.ir.formula import Derived, columns_in
from dpsql.ir.relation import AggregateCall, Named
from dpsql.ir.scalar import Scalar
from dpsql.parse.samples import Sample
from dpsql.parse.spans import span_of

MOST_FOLLOWED = 500
"""Operations, names and numbers in the formulas whose noise is followed, all together."""


def quoted(name: str, table: str = "") -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True) if table else None
    )


class ReleasedExpressions:
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
        self._written = {unwrapped(written): named.name for written, named in reversed(keys)}
        self._meant = {named.scalar: named.name for _, named in reversed(keys)}
        self._kinds = {type(unwrapped(written)) for written, _ in keys}
        self._aggregate, self._subquery, self._fresh = aggregate, subquery, fresh
        self._places = {named.name: i for i, (_, named) in enumerate(keys)}
        self.grouping: Callable[[list[int]], exp.Expr] | None = None
        self._called: dict[AggregateCall, str] = {}  # equal but for the name: one aggregate of the same rows
        self.lookup: Callable[[Scalar], exp.Expr | None] | None = None
        self.derived: list[Derived] = []
        self._room = MOST_FOLLOWED
        self.aliases: dict[str, exp.Expr] = {}

    @property
    def calls(self) -> list[AggregateCall]:
        """The aggregates that are released, in the order in which they were met."""
        return [replace(call, name=name) for call, name in self._called.items()]

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
        counts = counts_of(self.text, node, self.scalars)
        if counts is not None and not self.name:
            raise refuse(
                "D253",
                "HISTOGRAM inside one unit's rows is not answered",
                span_of(node, self.text),
                help="count with conditions: COUNT(*) FILTER (WHERE x <= 10)",
            )
        if counts is not None:
            return self._children(counts)
        alike = self._alike(node)
        if alike is not None:
            return alike
        call = self._aggregate(node)
        if call is not None:
            return quoted(self._register(call), self.name)
        if isinstance(node, exp.Column):
            return self._alias(node)
        return self._children(node)

    def _alike(self, node: exp.Expr) -> exp.Expr | None:
        """MAX(x), ANY_VALUE(x) and the like, where the group's keys determine x: that value itself.

        Only of a key or a column: an expression over these could fail above the release.
        """
        argument = None if self.lookup is None else _any_of(node)
        if self.lookup is None or argument is None:
            return None
        while isinstance(argument, exp.Paren):
            argument = argument.this
        key = self._key(argument)
        if key is not None:
            return quoted(key, self.name)
        scalar = self._maybe(argument) if isinstance(argument, exp.Column) else None
        return None if scalar is None else self.lookup(scalar)

    def computed(self, turned: exp.Expr) -> bool:
        """Whether an output is computed of released numbers, not one of them."""
        noised = {call.name for call in self.calls}
        columns = {each.name for each in turned.find_all(exp.Column) if each.table == self.name}
        return bool(columns & noised) and not isinstance(unwrapped(turned), exp.Column)

    def margins(self, turned: exp.Expr, ends: bool) -> tuple[exp.Expr, ...]:
        """The half-width of an output and, where they are wanted, the ends of its interval."""
        name = self._followed(turned)
        if name is None:
            return ()
        ways = (margin_of, low_of, high_of) if ends else (margin_of,)
        return tuple(quoted(way(name), self.name) for way in ways)

    def _end(self, node: exp.Expr) -> exp.Expr:
        """DP_INTERVAL_LOW(n), n being an aggregate, an item's alias, or arithmetic over these."""
        if not self.name:
            refuse_end(node, self.text, NOT_RELEASED)
        number = number_of(node, self.text)
        named = number.name.casefold() if isinstance(number, exp.Column) and not number.table else ""
        turned = self.aliases[named] if named in self.aliases else self.turn(number)
        name = self._followed(turned)
        if name is None:
            refuse_end(node, self.text, "this holds no noise, or no plain arithmetic with it")
        return quoted((low_of if node.name.casefold() == LOW else high_of)(name), self.name)

    def _followed(self, turned: exp.Expr) -> str | None:
        """The released column that holds an output's half-width: the number's own, or one for a formula."""
        formula = formula_of(turned, self.name, self.aliases)
        noised = {call.name for call in self.calls}
        if formula is None or not columns_in(formula) & noised:
            return None
        if isinstance(formula, str):
            return formula
        known = next((each.name for each in self.derived if each.formula == formula), None)
        if known is not None:
            return known
        self._room -= size_of(formula)
        if self._room < 0 or not columns_in(formula) <= noised | self._places.keys():
            return None
        self.derived.append(Derived(self._fresh("formula"), formula))
        return self.derived[-1].name

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
        unnamed = replace(call, name="")
        if unnamed not in self._called:
            self._called[unnamed] = self._fresh(call.function)
        return self._called[unnamed]

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


_ANY_OF = frozenset(("arbitrary", "any_value", "first", "last"))


def _any_of(node: exp.Expr) -> exp.Expr | None:
    """The argument of an aggregate that gives one of its values: of values all alike, that one."""
    if isinstance(node, exp.IgnoreNulls):
        node = node.this
    if isinstance(node, exp.Anonymous):
        found = node.expressions if node.name.casefold() in _ANY_OF else []
    elif isinstance(node, exp.Min | exp.Max | exp.AnyValue | exp.First | exp.Last):
        others = [key for key, value in node.args.items() if value and key not in ("this", "big_int")]
        distinct = isinstance(node.this, exp.Distinct) and not node.this.args.get("on")
        found = [] if others else node.this.expressions if distinct else [node.this]
    else:
        return None
    return found[0] if len(found) == 1 and not isinstance(found[0], exp.Order | exp.HavingMax) else None
