"""Translate the expressions of a releasing SELECT to expressions over its released table.

SELECT ward AS w, AVG(age) + 1 FROM patients GROUP BY ward HAVING COUNT(*) > 20 ORDER BY 2

SELECT release.ward AS w, release.avg + 1 AS "avg(age) + 1", release."avg margin" AS margin
  FROM release WHERE release.count > 20 ORDER BY 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from dpsql.aggregates import Need
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.expressions.histograms import histogram_counts
from dpsql.bind.expressions.scalars import Scalars, is_hidden_unit
from dpsql.bind.private.conditions import has_query
from dpsql.bind.released.error_formulas import formula_of, size_of
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.wrappers import unaliased, unwrapped
from dpsql.bind.syntax.interval_functions import LOW, NOT_RELEASED, is_end, number_of, refuse_end
from dpsql.bind.syntax.posterior_functions import (
    constants_of,
    field_of,
    is_linear,
    is_posterior,
    numbers_of,
    refuse_posterior,
    struct_of,
)
from dpsql.bind.syntax.quantiles import expand_places
from dpsql.errors import Error, refuse
from dpsql.facts.released_columns import high_of, low_of, margin_of
from dpsql.facts.schema import fact_of
from dpsql.ir.column import Interval
from dpsql.ir.formula import Derived, Formula, columns_in
from dpsql.ir.posterior import Posterior
from dpsql.ir.relation import AggregateCall, Named
from dpsql.ir.scalar import Scalar
from dpsql.parse.samples import Sample
from dpsql.parse.spans import span_of

NO_NUMBERS = "these are not two numbers that add or subtract released counts and sums"

MOST_FOLLOWED = 500
"""The most operations, names and numbers in all error formulas together."""


def quoted(name: str, table: str = "") -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True) if table else None
    )


class ReleasedExpressions:
    """Translates expressions over private rows to expressions over the released table."""

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
        self._key_of_node = {unwrapped(key): named.name for key, named in reversed(keys)}
        self._key_of_scalar = {named.scalar: named.name for _, named in reversed(keys)}
        self._kinds = {type(unwrapped(key)) for key, _ in keys}
        self._aggregate, self._subquery, self._fresh = aggregate, subquery, fresh
        self._places = {named.name: i for i, (_, named) in enumerate(keys)}
        self.grouping: Callable[[list[int]], exp.Expr] | None = None
        self._called: dict[AggregateCall, str] = {}  # without its name: equal calls are released once
        self._sums, self._noised = set[str](), set[str]()
        self.lookup: Callable[[Scalar], exp.Expr | None] | None = None
        self.derived: list[Derived] = []
        self.posteriors: list[Posterior] = []
        self._room = MOST_FOLLOWED
        self.aliases: dict[str, exp.Expr] = {}

    @property
    def calls(self) -> list[AggregateCall]:
        """The released aggregates, in the order of the text."""
        return [replace(call, name=name) for call, name in self._called.items()]

    def translate(self, node: exp.Expr) -> exp.Expr:
        """Translate an expression to one over the released table."""
        key = self._key(node)
        if key is not None:
            return quoted(key, self.name)
        if isinstance(node, exp.Query | exp.Exists) or node.args.get("query") is not None:
            return self._subquery(node)
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, exp.Grouping | exp.GroupingId):
            return self._grouping_call(node)
        if is_end(node):
            return self._end(node)
        called, place = field_of(node)
        if is_posterior(called):
            return self._posterior(called, place)
        listed = expand_places(self.text, node)
        if listed:
            return exp.Array(expressions=[self.translate(quantile) for quantile in listed])
        counts = histogram_counts(self.text, node, self.scalars)
        if counts is not None and not self.name:
            raise refuse(
                "D253",
                "HISTOGRAM over the rows of one unit is not answered",
                span_of(node, self.text),
                help="count with conditions: COUNT(*) FILTER (WHERE x <= 10)",
            )
        if counts is not None:
            return self._children(counts)
        determined = self._determined(node)
        if determined is not None:
            return determined
        call = self._aggregate(node)
        if call is not None:
            return quoted(self._register(call), self.name)
        if isinstance(node, exp.Column):
            return self._alias(node)
        return self._children(node)

    def _determined(self, node: exp.Expr) -> exp.Expr | None:
        """Return x for MAX(x), ANY_VALUE(x) and the like, where the group keys determine x; else None.

        x must be a key or a column: an expression over them could fail above the release.
        """
        argument = None if self.lookup is None else _any_of(node)
        if self.lookup is None or argument is None:
            return None
        while isinstance(argument, exp.Paren):
            argument = argument.this
        key = self._key(argument)
        if key is not None:
            return quoted(key, self.name)
        scalar = self._bind_or_none(argument) if isinstance(argument, exp.Column) else None
        return None if scalar is None else self.lookup(scalar)

    def ordered(self, clause: exp.Expr) -> exp.Expr:
        """Translate ORDER BY or DISTINCT ON: there a name alone is an alias, and only then a column."""
        name = unwrapped(clause)
        if isinstance(name, exp.Column) and not name.table and name.name.casefold() in self.aliases:
            return quoted(name.name)
        if not isinstance(clause, exp.Order | exp.Ordered | exp.Distinct | exp.Tuple):
            return self.translate(clause)
        translated = clause.copy()
        for key, value in clause.args.items():
            if isinstance(value, exp.Expr):
                translated.set(key, self.ordered(value))
            elif isinstance(value, list):
                translated.set(key, [self.ordered(part) for part in value])
        return translated

    def computed(self, expression: exp.Expr) -> bool:
        """Whether an output is computed from released numbers, and is not one of them."""
        columns = {column.name for column in expression.find_all(exp.Column) if column.table == self.name}
        return bool(columns & self._noised) and not isinstance(unwrapped(expression), exp.Column)

    def margins(self, expression: exp.Expr, ends: bool) -> tuple[exp.Expr, ...]:
        """Return the half-width of an output and, if ``ends`` is set, the ends of its interval."""
        name = self._margin_column(expression)
        if name is None:
            return self._of_histogram(unaliased(expression))
        column_names = (margin_of, low_of, high_of) if ends else (margin_of,)
        return tuple(quoted(column_name(name), self.name) for column_name in column_names)

    def total(self, output: exp.Expr) -> exp.Expr | None:
        """Return GROUPING of an output that is a key as it is; None for any other."""
        column = unwrapped(output)
        if self.grouping is None or not isinstance(column, exp.Column) or column.table != self.name:
            return None
        return self.grouping([self._places[column.name]]) if column.name in self._places else None

    def _of_histogram(self, expression: exp.Expr) -> tuple[exp.Expr, ...]:
        """Return the largest half-width of the counts of a histogram; () for any other expression."""
        if not isinstance(expression, exp.Map) or not isinstance(expression.args.get("values"), exp.Array):
            return ()
        counts = expression.args["values"].expressions
        if not all(isinstance(each, exp.Column) and each.name in self._noised for each in counts):
            return ()
        first, *others = (quoted(margin_of(each.name), self.name) for each in counts)
        return (exp.Greatest(this=first, expressions=others),)

    def _end(self, node: exp.Expr) -> exp.Expr:
        """Translate DP_INTERVAL_LOW(n), where n is an aggregate, an alias, or arithmetic over them."""
        if not self.name:
            refuse_end(node, self.text, NOT_RELEASED)
        number = number_of(node, self.text)
        name = self._margin_column(self._argument(number))
        if name is None:
            refuse_end(node, self.text, "this is no released number, and no arithmetic with released numbers")
        return quoted((low_of if node.name.casefold() == LOW else high_of)(name), self.name)

    def _posterior(self, node: exp.Expr, place: int | None) -> exp.Expr:
        """Translate DP_BETA(yes, no), where yes and no are aggregates, aliases, or sums of such."""
        if not self.name:
            refuse_posterior(node, self.text, NOT_RELEASED)
        first, second = (self.summed(self._argument(number)) for number in numbers_of(node, self.text))
        if first is None or second is None or not columns_in(first):
            refuse_posterior(node, self.text, NO_NUMBERS)
        constants = constants_of(node, self.text)
        asked = Posterior("", node.name.casefold(), (first, second), constants)
        known = next((each for each in self.posteriors if replace(each, name="") == asked), None)
        if known is None:
            known = replace(asked, name=self._fresh("posterior"))
            self.posteriors.append(known)
        return struct_of(known, self.name, place)

    def _argument(self, number: exp.Expr) -> exp.Expr:
        """Translate what a function of released numbers is given: an expression, or the alias of one."""
        named = number.name.casefold() if isinstance(number, exp.Column) and not number.table else ""
        return self.aliases[named] if named in self.aliases else self.translate(number)

    def summed(self, expression: exp.Expr) -> Formula | None:
        """Return the formula of an output that is linear in counts and sums; None for any other."""
        formula = formula_of(expression, self.name, self.aliases)
        if formula is None or not is_linear(formula):
            return None
        return formula if columns_in(formula) <= self._sums else None

    def _margin_column(self, expression: exp.Expr) -> str | None:
        """Return the released number or the formula with the half-width of an output, or None."""
        formula = formula_of(expression, self.name, self.aliases)
        if formula is None or not columns_in(formula) & self._noised:
            return None
        if isinstance(formula, str):
            return formula
        known = next((derived.name for derived in self.derived if derived.formula == formula), None)
        if known is not None:
            return known
        self._room -= size_of(formula)
        if self._room < 0 or not columns_in(formula) <= self._noised | self._places.keys():
            return None
        self.derived.append(Derived(self._fresh("formula"), formula))
        return self.derived[-1].name

    def correlated(self, node: exp.Expr, tree: exp.Expr) -> exp.Expr:
        """Replace the keys of this SELECT in a bound subquery, named with their table, by released keys."""
        if isinstance(node, exp.In):
            tree.set("query", self._with_keys(tree.args["query"]))
            tree.set("this", self.translate(node.this))
            return tree
        return self._with_keys(tree)

    def _with_keys(self, tree: exp.Expr) -> exp.Expr:
        inside = {item.alias_or_name.casefold() for item in tree.find_all(exp.Table, exp.Subquery)}
        outer = {column.qualifier.casefold() for column in self.scalars.scope.columns} - inside - {""}
        for column in list(tree.find_all(exp.Column)):
            if column.table.casefold() in outer:
                column.replace(self.translate(column))
        return tree

    def _grouping_call(self, node: exp.Grouping | exp.GroupingId) -> exp.Expr:
        """Translate GROUPING(a, b), which is a constant per grouping set."""
        keys = [self._key(node) for node in node.expressions]
        if self.grouping is None or not self._places or not keys or None in keys:
            raise refuse(
                "D205",
                "GROUPING takes keys of this GROUP BY",
                span_of(node, self.text),
                help="name keys of its ROLLUP, CUBE or GROUPING SETS, spelled as there",
            )
        return self.grouping([self._places[key] for key in keys if key is not None])

    def _children(self, node: exp.Expr) -> exp.Expr:
        """Translate the children of a node."""
        translated = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                translated.set(key, self.translate(value))
            elif isinstance(value, list):
                translated.set(
                    key, [self.translate(child) if isinstance(child, exp.Expr) else child for child in value]
                )
        return translated

    def _window(self, node: exp.Window) -> exp.Expr:
        """Translate a window over released rows; its function is no aggregate of private rows."""
        if isinstance(node.this, Sample):
            raise refuse(
                "D254",
                "DP_SAMPLE is no window function",
                span_of(node.this, self.text),
                help="use it with GROUP BY, and compare the groups in an outer query: SELECT x, "
                "DP_SAMPLE(mad(y), 0, 9) ...",
            )
        translated = node.copy()
        translated.set("this", self._children(node.this))
        for key, value in node.args.items():
            if key == "this":
                continue
            if isinstance(value, exp.Expr):
                translated.set(key, self.translate(value))
            elif isinstance(value, list):
                translated.set(key, [self.translate(child) for child in value])
        return translated

    def _register(self, call: AggregateCall) -> str:
        unnamed = replace(call, name="")
        if unnamed not in self._called:
            self._called[unnamed] = self._fresh(call.function)
            self._noised.add(self._called[unnamed])
            if _is_sum(call):
                self._sums.add(self._called[unnamed])
        return self._called[unnamed]

    def _key(self, node: exp.Expr) -> str | None:
        """Return the name of the key that an expression equals, as written or as bound; else None."""
        if is_hidden_unit(node):
            return self._key_of_scalar.get(self.scalars.bind(node))
        if node in self._key_of_node:
            return self._key_of_node[node]
        if isinstance(node, exp.Column):
            plain = isinstance(node.this, exp.Identifier)
            columns = self.scalars.scope.find(node.name, node.table) if plain else ()
            return self._key_of_scalar.get(columns[0].scalar) if len(columns) == 1 else None
        if type(node) not in self._kinds or isinstance(node, exp.Literal) or has_query(node):
            return None
        scalar = self._bind_or_none(node)
        return None if scalar is None else self._key_of_scalar.get(scalar)

    def _bind_or_none(self, node: exp.Expr) -> Scalar | None:
        try:
            return self.scalars.bind(node)
        except Error:
            return None

    def _alias(self, node: exp.Column) -> exp.Expr:
        """Return an alias of the select list, which HAVING, ORDER BY and later items may use."""
        if not node.table and node.name.casefold() in self.aliases:
            return node.copy()
        columns = self.scalars.scope.find(node.name, node.table)
        if not columns:
            self.scalars.bind(node)
        ranged = isinstance(fact_of(columns[0].scalar, self.scalars.facts).domain, Interval)
        other = f"AVG({node.name})" if ranged else f"COUNT(DISTINCT {node.name})"
        raise refuse(
            "D402",
            f"{node.name} is neither grouped nor aggregated",
            span_of(node, self.text),
            label="it has a value per row, not per group",
            help=f"add it to GROUP BY, or aggregate it: {other}, COUNT({node.name})",
        )


def _is_sum(call: AggregateCall) -> bool:
    """Whether an aggregate is a noised sum or a noised count."""
    needs = aggregates()[call.function].needs
    return needs in ((Need.ROWS,), (Need.UNITS,), (Need.TOTAL,))


_ANY_OF = frozenset(("arbitrary", "any_value", "first", "last"))


def _any_of(node: exp.Expr) -> exp.Expr | None:
    """Return the argument of an aggregate that gives one of its values (MIN, ANY_VALUE, ...); else None."""
    if isinstance(node, exp.IgnoreNulls):
        node = node.this
    if isinstance(node, exp.Anonymous):
        arguments = node.expressions if node.name.casefold() in _ANY_OF else []
    elif isinstance(node, exp.Min | exp.Max | exp.AnyValue | exp.First | exp.Last):
        modifiers = [key for key, value in node.args.items() if value and key not in ("this", "big_int")]
        distinct = isinstance(node.this, exp.Distinct) and not node.this.args.get("on")
        arguments = [] if modifiers else node.this.expressions if distinct else [node.this]
    else:
        return None
    return (
        arguments[0]
        if len(arguments) == 1 and not isinstance(arguments[0], exp.Order | exp.HavingMax)
        else None
    )
