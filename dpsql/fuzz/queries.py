"""The query over a tree: group keys of every kind, several aggregates, and clauses above the release.

SELECT ward, SUM(LEAST(...)) FILTER (WHERE ...) FROM <tree> WHERE ... GROUP BY 1 HAVING COUNT(*) > 2
SELECT OPTIONS(max_rows_contributed = 3) ward, sex, GROUPING(sex), COUNT(*) FROM <tree> GROUP BY CUBE (1, 2)
"""

from __future__ import annotations

import random

from dpsql.fuzz.bounded_units import BoundedUnits
from dpsql.fuzz.printing import Hand, numbers
from dpsql.fuzz.relations import Sub, Tree, Trees, unit_of
from dpsql.fuzz.scalars import NUMBERS, SHOWN, Expressions, Scope
from dpsql.fuzz.schemas import Schema, Sort
from dpsql.lazy_dataclass import dataclass

SPREADS = ("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP")
PAIRS = (
    *("COVAR_POP", "COVAR_SAMP", "REGR_COUNT", "REGR_AVGX", "REGR_AVGY"),
    *("REGR_SXX", "REGR_SYY", "REGR_SXY"),
)
RATIOS = ("CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2")

CROSSINGS = 0.35
"""How many of the queries have a list of aggregates under conditions that cross."""

BOUNDED = 0.1
"""How many of the others are about what bounds a unit besides its rows."""

GROUPINGS = {
    1: ("ROLLUP ({0})", "CUBE ({0})", "GROUPING SETS (({0}), ())", "GROUPING SETS (({0}), ({0}))"),
    2: (
        "ROLLUP ({0}, {1})",
        "CUBE ({0}, {1})",
        "ROLLUP (({0}, {1}))",
        "{0}, ROLLUP ({1})",
        "GROUPING SETS (({0}), ({1}), ())",
        "GROUPING SETS (({0}, {1}), CUBE ({1}))",
        "ROLLUP ({0}), CUBE ({1})",
    ),
}
"""Groups of several grains over one key, and over two."""


@dataclass(frozen=True, slots=True)
class Query:
    """Keys and aggregates over a tree, in tokens.

    ``grouping`` has ``{0}``, ``{1}`` for its keys; ``above`` is what happens to the released table.
    """

    tree: Tree
    where: str
    keys: tuple[str, ...]
    calls: tuple[str, ...]
    above: str = ""
    subs: tuple[Sub, ...] = ()
    grouping: str = ""
    levels: bool = False
    options: str = ""

    @property
    def labels(self) -> int:
        """How many columns come before the aggregates: the keys, and GROUPING of each."""
        return len(self.keys) * (1 + self.levels)

    def printed(self, rng: random.Random) -> str:
        """The query in one hand."""
        hand = Hand(rng, self.subs)
        texts = (self.where, *self.keys, *self.calls)
        block = hand.block(self.tree, frozenset().union(*(numbers(each) for each in texts)))
        if self.where:
            block.where.append(block.fill(self.where))
        keys = [block.fill(each) for each in self.keys]
        listed = [f"{key} AS k{i}" for i, key in enumerate(keys)]
        listed += [f"GROUPING({key}) AS g{i}" for i, key in enumerate(keys) if self.levels]
        listed += [f"{block.fill(call)} AS a{i}" for i, call in enumerate(self.calls)]
        select = f"SELECT {self.options}{', '.join(listed)}{block.tail()}"
        if keys:
            places, names = ([f"{i + 1}" for i in range(len(keys))], [f"k{i}" for i in range(len(keys))])
            if self.grouping:
                select += f" GROUP BY {self.grouping.format(*rng.choice((keys, places)))}"
            else:
                select += f" GROUP BY {', '.join(rng.choice((keys, places, names, ['ALL'])))}"
        return hand.query(self._finished(select))

    def as_view(self, rng: random.Random) -> str:
        """A private view of the rows, by the keys; by one that is the same for all where there are none."""
        hand = Hand(rng, self.subs)
        texts = (self.where, *self.keys)
        block = hand.block(self.tree, frozenset().union(*(numbers(each) for each in texts)))
        if self.where:
            block.where.append(block.fill(self.where))
        keys = [f"{block.fill(key)} AS k{i}" for i, key in enumerate(self.keys)] or ["true AS k0"]
        select = hand.query(f"SELECT {', '.join(keys)}{block.tail()}")
        options = rng.choice(("", " WITH (epsilon = 1)", " WITH (ranges = (k0))", " WITH (dimensions = k0)"))
        return f"CREATE PRIVATE VIEW drawn{options} AS {select}"

    def _finished(self, select: str) -> str:
        match self.above:
            case "having":
                return f"{select} HAVING COUNT(*) > 2"
            case "order":
                return f"{select} ORDER BY {', '.join(str(i + 1) for i in range(len(self.keys)))} LIMIT 7"
            case "outer":
                more = "1 + a0" if _adds_up(self.calls[0]) else "a0 IS NULL"
                return f"SELECT x.*, {more} AS more FROM ({select}) AS x WHERE a0 IS NOT NULL"
            case _:
                return select


def _adds_up(call: str) -> bool:
    """Whether a number comes out: not a list of quantiles, nor the mode of a condition."""
    return not call.startswith("MODE(") and not (call.startswith("QUANTILE") and call.endswith("])"))


class Queries:
    """Draws queries. Calm ones stay under every clip and bound, so that plain DuckDB agrees with them."""

    def __init__(
        self, rng: random.Random, schema: Schema, crossings: float = CROSSINGS, bounded: float = BOUNDED
    ) -> None:
        self.rng, self.schema, self.crossings = rng, schema, crossings
        self.bounded = bounded if schema.many_rows else 0.0
        self.expressions = Expressions(rng, schema)

    def draw(self) -> Query:
        if self.bounded and self.rng.random() < self.bounded:
            units = BoundedUnits(self.rng, self.expressions)
            tree, keys, calls, options = units.draw()
            return Query(tree, "", keys, tuple(calls), subs=tuple(units.trees.subs), options=options)
        rng = self.rng
        trees = Trees(rng, self.expressions)
        crossed = rng.random() < self.crossings
        tree = trees.draw(rng.choice((0, 0, 0, 1, 2) if crossed else (0, 1, 1, 2, 2, 3)))
        drawn = (self.key(tree) for _ in range(rng.choice((0, 0, 1, 1, 1, 2))))
        keys = tuple(dict.fromkeys(each for each in drawn if each))
        calls = [self.call(tree) for _ in range(rng.choice((1, 2, 3, 4) if not keys else (0, 1, 2, 3)))]
        if calls and rng.random() < 0.6:
            calls.append(self.many(tree))
        if crossed:
            calls = self.crossing(tree) if rng.random() < 0.9 else self.nested(tree) or calls
            listed = [each.token for each in tree.columns if each.name in self.schema.listed]
            keys = (rng.choice(listed),) if listed and rng.random() < 0.9 else keys
        elif calls and rng.random() < 0.25:
            calls += self.overlapping(tree)
        where = self.expressions.condition(tree.columns) if rng.random() < 0.3 else ""
        above = rng.choice(("", "", "", "", "having", "order", "outer")) if keys and calls else ""
        grouping = rng.choice(GROUPINGS[len(keys)]) if calls and keys and rng.random() < 0.2 else ""
        levels = bool(grouping) and rng.random() < 0.4
        options = ""
        if calls and not self.expressions.calm and rng.random() < 0.2:
            text = self.expressions.column(tree.columns, Sort.TEXT)
            if text is not None and rng.random() < 0.4:
                keys, grouping, levels, options = (
                    (text.token,),
                    "",
                    False,
                    "OPTIONS(other_group = 'the rest') ",
                )
            else:
                name = rng.choice(("max_rows_contributed", "max_rows_contributed", "max_groups_contributed"))
                options = f"OPTIONS({name} = {rng.choice((1, 2, 3, 20))}) "
                different = len(set(calls)) == len(calls) and not any("DISTINCT" in each for each in calls)
                if different and rng.random() < 0.4:
                    weights = [rng.choice((1, 2, 0.5, 7.25, 40)) for _ in calls]
                    options = f"OPTIONS(weights = {weights}) "
        return Query(tree, where, keys, tuple(calls), above, tuple(trees.subs), grouping, levels, options)

    def model(self) -> str:
        """A fit of some numbers, conditions and listed texts of a tree."""
        rng = self.rng
        trees = Trees(rng, self.expressions)
        tree = trees.draw(rng.choice((0, 0, 1, 1, 2)))
        plain = [each.token for each in tree.columns if each.bounded and each.sort in NUMBERS]
        listed = [
            each.token
            for each in tree.columns
            if each.name in self.schema.listed or each.sort is Sort.BOOLEAN
        ]
        terms = []
        for _ in range(rng.choice((2, 2, 3, 4, 6))):
            drawn = (
                self.expressions.bounded(tree.columns, 0),
                f"({self.expressions.condition(tree.columns, 0)})",
            )
            pool = (*(rng.choice(columns) for columns in (plain, plain, listed) if columns), *drawn)
            terms.append(rng.choice(pool))
        where = self.expressions.condition(tree.columns) if rng.random() < 0.3 else ""
        options = f"OPTIONS(max_rows_contributed = {rng.choice((1, 2, 20))}) " if rng.random() < 0.4 else ""
        rows = Query(tree, where, (), tuple(terms), subs=tuple(trees.subs), options=options).printed(rng)
        return f"SELECT * FROM {rng.choice(('DP_LINEAR', 'DP_COVARIANCE'))}(({rows}))"

    def key(self, tree: Tree) -> str:
        """A key: a column of any kind, declared ones first, or an expression."""
        rng, scope = self.rng, tree.columns
        chance = rng.random()
        enum = self.expressions.column(scope, Sort.ENUM)
        if enum is not None and rng.random() < 0.15:
            return enum.token
        public = [each for each in scope if each.name in self.schema.public_keys]
        if public and rng.random() < 0.2:
            return rng.choice(public).token
        declared = [each for each in scope if each.name in self.schema.keys or each.sort is Sort.BOOLEAN]
        if declared and chance < 0.35:
            return rng.choice(declared).token
        if chance < 0.6:
            sort = rng.choice((*SHOWN, Sort.ENUM, Sort.ENUM, Sort.FLOAT, Sort.FLOAT))
            column = self.expressions.column(scope, sort)
            if column is not None:
                return column.token
        _, drawn = self.expressions.value(scope, rng.choice((1, 1, 2)))
        if numbers(drawn):
            return drawn
        column = self.expressions.column(scope, *SHOWN)  # a constant is no key, a number would be a position
        return "" if column is None else column.token

    def call(self, tree: Tree) -> str:
        rng, scope = self.rng, tree.columns
        only = f" FILTER (WHERE {self.expressions.condition(scope)})" if rng.random() < 0.25 else ""
        unit = unit_of(tree)
        made = [each for each in scope if each.made and each.sort in SHOWN]
        if made and rng.random() < 0.4:  # what the tree computes is read
            one = rng.choice([each for each in made if each.bounded] or made)
            if one.bounded and one.sort in NUMBERS:
                return f"{rng.choice(('SUM', 'SUM', 'AVG'))}({one.token}){only}"
            return f"COUNT_IF({one.token} >= {self.expressions.constant(one.sort)}){only}"
        chance = rng.random()
        if chance < 0.15 and unit is not None:
            return f"COUNT(DISTINCT {unit.token}){only}"
        if chance < 0.25 and not self.expressions.calm:  # a unit may have more values than it may claim
            return f"COUNT(DISTINCT {self.expressions.value(scope, 2)[1]}){only}"
        if chance < 0.33 and not self.expressions.calm:  # between two rows every value is a quantile
            return f"{self.order(tree)}{only}"
        if chance < 0.4:
            what = "*" if rng.random() < 0.4 else self.expressions.value(scope, 2)[1]
            return f"COUNT({what}){only}"
        if chance < 0.5:
            return f"COUNT_IF({self.expressions.condition(scope, 2)}){only}"
        if chance < 0.7:
            return f"{self.many(tree)}{only}"
        if chance < 0.82:
            return f"{self.moment(scope)}{only}"
        return f"{rng.choice(('SUM', 'SUM', 'AVG'))}({self.expressions.bounded(scope, 2)}){only}"

    def order(self, tree: Tree) -> str:
        """An order statistic of a bounded number, several of them, or a mode."""
        rng, number = self.rng, self.expressions.bounded(tree.columns, 2)
        place = rng.choice(("0.5", "0.05", "0.999", "0", "1"))
        several = f"[{place}, 0.25, 0.75]"
        if rng.random() < 0.15:
            return f"MODE({self.expressions.condition(tree.columns)})"
        return rng.choice(
            (
                f"MEDIAN({number})",
                f"{rng.choice(('MIN', 'MAX'))}({number})",
                f"QUANTILE_DISC({number}, {rng.choice((place, several))})",
                f"QUANTILE_CONT({number}, {rng.choice((place, several))})",
                f"PERCENTILE_CONT({place}) WITHIN GROUP (ORDER BY {number}{rng.choice(('', ' DESC'))})",
            )
        )

    def moment(self, scope: Scope) -> str:
        """A spread, or something of a pair; what is not steady near a constant is not compared."""
        rng, one = self.rng, self.expressions.bounded(scope, 1)
        if rng.random() < 0.5:
            return f"{rng.choice(SPREADS)}({one})"
        name = rng.choice(PAIRS if self.expressions.calm else PAIRS + RATIOS)
        return f"{name}({one}, {self.expressions.bounded(scope, 1)})"

    def overlapping(self, tree: Tree) -> list[str]:
        """Aggregates whose conditions hold one another, exclude each other or cross."""
        rng, scope = self.rng, tree.columns
        one, other = (f"({self.expressions.condition(scope)})" for _ in range(2))
        ways = (one, f"NOT {one}", f"{one} AND {other}", f"{one} OR {other}", f"{one} IS NULL", other)
        found = []
        for when in rng.sample(ways, rng.choice((2, 3, 4))):
            number = self.expressions.bounded(scope)
            found.append(
                rng.choice(
                    (
                        f"COUNT(*) FILTER (WHERE {when})",
                        f"COUNT_IF({when})",
                        f"SUM(CASE WHEN {when} THEN 1 ELSE 0 END)",
                        f"SUM(CASE WHEN {when} THEN {number} ELSE 0 END)",
                        f"{rng.choice(('SUM', 'AVG', 'COUNT'))}({number}) FILTER (WHERE {when})",
                    )
                )
            )
        return found

    def crossing(self, tree: Tree) -> list[str]:
        """Two to eight aggregates of one number or two, each under one of a few conditions that cross."""
        rng, scope = self.rng, tree.columns
        plain = [each.token for each in scope if each.bounded and each.sort in NUMBERS]
        numbers = [
            rng.choice(plain) if plain and rng.random() < 0.8 else self.expressions.bounded(scope, 0)
            for _ in range(rng.choice((1, 1, 2)))
        ]
        others = [
            each for each in scope if each.token not in numbers and each.name not in self.schema.keys
        ] or [*scope]
        rng.shuffle(others)
        one, other = (f"({self.expressions.condition([each], 0)})" for each in (others[0], others[-1]))
        side = rng.choice(("SUM", "SUM", "SUM", "SUM", "COUNT", "AVG"))
        drawn = [
            (side, one),
            (side, other),
            (rng.choice(("AVG", "AVG", "AVG", "SUM", "VAR_POP")), f"{one} AND {other}"),
        ]
        ways = ("", one, other, f"{one} AND {other}", f"{one} OR {other}", f"NOT {one}")
        names = ("SUM", "AVG", "COUNT", "VAR_POP", "STDDEV_SAMP")
        drawn += [(rng.choice(names), rng.choice(ways)) for _ in range(rng.choice((0, 0, 0, 1, 2, 5)))]
        found = []
        for name, when in drawn[rng.choice((0, 0, 0, 1)) :]:
            number = rng.choice((numbers[0], numbers[0], numbers[-1]))
            if len(numbers) == 2 and rng.random() < 0.1:
                pair = ", ".join(rng.sample(numbers, 2))
                found.append(f"{rng.choice(PAIRS)}({pair}){when and f' FILTER (WHERE {when})'}")
            elif when and rng.random() < 0.3:
                found.append(f"{name}(CASE WHEN {when} THEN {number} END)")
            else:
                found.append(f"{name}({number}){when and f' FILTER (WHERE {when})'}")
        return found

    def nested(self, tree: Tree) -> list[str]:
        """Nine to twelve counts or sums, the condition of each within that of the one before."""
        rng, scope = self.rng, tree.columns
        column = self.expressions.column(scope, *NUMBERS)
        if column is None:
            return []
        what = rng.choice(("COUNT(*)", f"SUM({self.expressions.bounded(scope, 0)})"))
        first, step = rng.choice((-2, 0, 1)), rng.choice((1, 3, 20))
        ends = range(first, first + step * rng.randint(9, 12), step)
        return [f"{what} FILTER (WHERE {column.token} >= {end})" for end in ends]

    def many(self, tree: Tree) -> str:
        """Several expressions in one aggregate."""
        values = [self.expressions.value(tree.columns, 2)[1] for _ in range(self.rng.randint(3, 6))]
        return f"COUNT_IF({' OR '.join(f'{each} IS NULL' for each in values)})"
