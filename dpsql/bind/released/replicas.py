"""SQL that computes the outputs above a release again, over replicas of the released tables.

    SELECT ward, 100.0 * n / SUM(n) OVER () AS share FROM (SELECT ward, count AS n FROM release) AS t

    SELECT ward, 100.0 * n / SUM(n) OVER (PARTITION BY "#replica") AS share, "#replica", "#id" FROM (...) AS t

Replica 0 holds the numbers as released; in each other one all numbers have further noise of the same law
(post/replicas.py). How far an output is from that of replica 0 tells its margin.

Claim   an output gets a margin only if its rows, their order in windows and its NULLs are the same in every
        replica, and if it is linear in the numbers, or a product or a ratio of such.
Proof   by induction over the tree. What an output may be made of is listed in ``_Select.kind``; everything
        else is OPEN. A clause that selects, merges or orders rows by a number makes OPEN what it yields.
Test    tests/unit/test_replicas.py

``#id`` names a row by the rows that it is made of: it is the same in all replicas and in the answer. A ratio
needs a denominator beyond ``BEYOND`` deviations of zero, in each row: its ``guards``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import IntEnum

from sqlglot import exp, parse_one

from dpsql.aggregates import Need, shelf
from dpsql.bind.expressions.aggregates import has_aggregate, is_named_aggregate
from dpsql.bind.released.error_formulas import places_of
from dpsql.bind.released.public_sql import aliased, column, identifier
from dpsql.facts.released_columns import released_columns
from dpsql.ir.measure import BEYOND, REPLICA_ID, REPLICA_NUMBER, REPLICAS, Measure, Replicated, replicas_of
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.allow_list import check_printed


class Kind(IntEnum):
    """How an expression depends on the noise."""

    EXACT = 0
    DRAWN = 1
    OPEN = 2


def replicated(
    tree: exp.Expr, measures: Sequence[Measure], columns: int, margins: Sequence[int | None]
) -> tuple[Replicated | None, tuple[int, ...]]:
    """Return the SQL over replicas, and the outputs with noise that have no margin at all.

    Outputs with a half-width of their own are left as they are.
    """
    rows = _analysed(tree, {measure.name: measure for measure in measures})
    if rows is None or rows.names is None:
        return None, tuple(i for i in range(columns) if margins[i] is None)
    wanted = [i for i in range(columns) if margins[i] is None and rows.kinds[i] is Kind.DRAWN]
    without = tuple(i for i in range(columns) if margins[i] is None and rows.kinds[i] is Kind.OPEN)
    if not wanted or not rows.plain:
        return None, (*sorted((*without, *wanted)),)
    hides = any(listed is None for measure in measures for listed in measure.lists)
    if hides:
        _keep_missing(rows)
    shown = rows.written(drawn=False)
    drawn = rows.written(drawn=True, last=True)
    texts = [shown.sql(dialect="duckdb"), drawn.sql(dialect="duckdb")]
    for text in texts:
        check_printed(text)
    filled = hides and any(_FILLS in each.meta for each in tree.find_all(exp.Coalesce))
    return Replicated(texts[0], _half_widths(texts[1], rows, wanted, filled), tuple(wanted), filled), without


def _half_widths(sql: str, rows: _Rows, wanted: list[int], filled: bool) -> str:
    """Return SQL for the half-width of each wanted output of each row, by its id.

    What is the same in every replica is made of what COALESCE ``filled``, and has none.
    """
    names = [f"c{i}" for i in range(len(rows.kinds))]
    guards = [(i, f"g{i}_{n}") for i, found in enumerate(rows.guards) for n in range(len(found))]
    listed = [*names, *(name for _, name in guards), "r", "id"]
    used = [f"c{i}" for i in wanted] + [name for i, name in guards if i in wanted]
    gathered = ", ".join(
        f"max(CAST({name} AS DOUBLE)) FILTER (WHERE r = 0) AS {name}, "
        f"list(CAST({name} AS DOUBLE)) FILTER (WHERE r > 0) AS all_{name}"
        for name in used
    )
    outputs = []
    for i in wanted:
        tests = [f"list_count(all_c{i}) = {REPLICAS}"]
        tests += [f"list_unique(list_append(all_c{i}, c{i})) > 1"] if filled else []
        tests += [
            f"list_count(all_{name}) = {REPLICAS} AND abs({name}) > {BEYOND} * {_deviation(name)}"
            for at, name in guards
            if at == i
        ]
        outputs.append(f"CASE WHEN {' AND '.join(tests)} THEN {_half_width(f'c{i}')} END")
    return (
        f"SELECT id, {', '.join(outputs)} FROM (SELECT CAST(id AS VARCHAR) AS id, {gathered} "
        f"FROM ({sql}) AS t({', '.join(listed)}) GROUP BY ALL)"
    )


def _half_width(name: str) -> str:
    """Print two deviations; of a number in coarse steps, at least what 95 % of its replicas keep.

    Noise that is 0 or a whole step is beyond two deviations whenever it is not 0.
    """
    away = f"list_transform(all_{name}, lambda z: abs(z - {name}) * (1 + 1e-9))"
    middle = f"list_aggregate({away}, 'quantile_disc', 0.95)"
    coarse = f"CASE WHEN list_unique(all_{name}) <= {_STEPS} THEN {middle} END"
    return f"greatest(2 * {_deviation(name)}, {coarse})"


_STEPS = 16
"""A number with so few different replicas is in coarse steps."""


def _deviation(name: str) -> str:
    return f"sqrt(list_avg(list_transform(all_{name}, lambda z: (z - {name}) * (z - {name}))))"


@dataclass()
class _Rows(ABC):
    """What a FROM item or a query yields.

    ``names`` is None for a public table, of which only that it is exact matters. ``chosen``: which rows there
    are depends on the noise. ``plain``: it can be written over replicas.
    """

    names: list[str] | None
    kinds: list[Kind]
    guards: list[list[exp.Expr]] = field(default_factory=list)
    chosen: bool = False
    plain: bool = True

    @abstractmethod
    def written(self, drawn: bool, last: bool = False) -> exp.Query:
        """Return the query with ``#id``, and with ``#replica`` if it is ``drawn``."""


@dataclass()
class _Unknown(_Rows):
    """Rows of a FROM item that is not looked into: what reads them is not plain."""

    def written(self, drawn: bool, last: bool = False) -> exp.Query:
        raise AssertionError("only plain rows are written over replicas")


@dataclass()
class _Public(_Rows):
    """Rows that are the same in every replica."""

    tree: exp.Expr = field(default_factory=exp.Select)

    def written(self, drawn: bool, last: bool = False) -> exp.Query:
        named = "#numbered"
        numbered = exp.Window(this=exp.RowNumber())
        star: list[exp.Expr] = [exp.Column(this=exp.Star(), table=identifier("#public"))]
        listed = [*star, exp.alias_(numbered, REPLICA_ID, quoted=True)]
        inner = exp.Select(expressions=listed, from_=exp.From(this=aliased(self.tree, "#public")))
        if not drawn:
            return inner
        every: exp.Query = exp.Select(
            expressions=[
                exp.Column(this=exp.Star(), table=identifier(named)),
                column(REPLICA_NUMBER, "#every"),
            ],
            from_=exp.From(this=aliased(inner, named)),
            joins=[exp.Join(this=_every_replica("#every"), kind="CROSS")],
        )
        return every


@dataclass()
class _Released(_Rows):
    """A released table."""

    table: str = ""

    def written(self, drawn: bool, last: bool = False) -> exp.Query:
        name = replicas_of(self.table) if drawn else self.table
        assert self.names is not None
        listed = [
            column(each, name) for each in (*self.names, *([REPLICA_NUMBER] if drawn else []), REPLICA_ID)
        ]
        return exp.Select(expressions=listed, from_=exp.From(this=exp.Table(this=identifier(name))))


@dataclass()
class _Union(_Rows):
    """UNION ALL."""

    sides: tuple[_Rows, ...] = ()
    node: exp.Union = field(default_factory=exp.Union)

    def written(self, drawn: bool, last: bool = False) -> exp.Query:
        made: list[exp.Query] = []
        for number, side in enumerate(self.sides):
            alias, names = "#side", [f"c{i}" for i in range(len(self.kinds))]
            extra = ["#r", "#i"] if drawn else ["#i"]
            ids = exp.Struct(
                expressions=[
                    exp.PropertyEQ(this=exp.to_identifier("side"), expression=exp.Literal.number(number)),
                    exp.PropertyEQ(
                        this=exp.to_identifier("row"),
                        expression=exp.cast(column("#i", alias), "VARCHAR", dialect="duckdb"),
                    ),
                ]
            )
            assert self.names is not None
            listed = [
                exp.alias_(column(c, alias), name, quoted=True)
                for c, name in zip(names, self.names, strict=True)
            ]
            if drawn:
                listed.append(exp.alias_(column("#r", alias), REPLICA_NUMBER, quoted=True))
            listed.append(exp.alias_(ids, REPLICA_ID, quoted=True))
            source = aliased(side.written(drawn), alias, (*names, *extra))
            made.append(exp.Select(expressions=listed, from_=exp.From(this=source)))
        union = exp.Union(this=made[0], expression=made[1], distinct=False)
        if not drawn:
            for key in ("order", "limit", "offset"):
                if self.node.args.get(key):
                    union.set(key, self.node.args[key].copy())
        return union


def _every_replica(alias: str) -> exp.Expr:
    """Return the numbers of the replicas as a FROM item."""
    numbers = exp.Anonymous(this="range", expressions=[exp.Literal.number(REPLICAS + 1)])
    return exp.Table(
        this=numbers, alias=exp.TableAlias(this=identifier(alias), columns=[identifier(REPLICA_NUMBER)])
    )


def _analysed(tree: exp.Expr, measures: Mapping[str, Measure]) -> _Rows | None:
    """Return what a bound tree yields; None where nothing is known of it."""
    if isinstance(tree, exp.Subquery):
        inside = {key for key, value in tree.args.items() if value} - {"this", "alias"}
        return None if inside else _analysed(tree.this, measures)
    if not any(table.name in measures for table in tree.find_all(exp.Table)):
        return _public(tree)
    if isinstance(tree, exp.Table):
        names, kinds = _released(measures[tree.name])
        return _Released(names, kinds, [[] for _ in names], table=tree.name)
    if isinstance(tree, exp.Select):
        return _Select.analysed(tree, measures)
    if isinstance(tree, exp.Union) and not tree.args.get("distinct"):
        return _union(tree, measures)
    if isinstance(tree, exp.SetOperation) and not tree.args.get("by_name") and not tree.args.get("with_"):
        return _chosen_by_others(tree, measures)
    return None


def _public(tree: exp.Expr) -> _Rows:
    if isinstance(tree, exp.Select) and not any(output.is_star for output in tree.expressions):
        names = [output.alias_or_name for output in tree.expressions]
        return _Public(names, [Kind.EXACT] * len(names), [[] for _ in names], tree=tree)
    return _Public(None, [], tree=tree)


def _released(measure: Measure) -> tuple[list[str], list[Kind]]:
    """Return the columns of a released table: what has additive noise can be drawn again."""
    names = [name for name, _ in released_columns(measure)]
    if measure.model is not None:
        keys, simple = {*measure.model.keys}, {measure.model.numbers[0]}
    else:
        keys = {key.name for key in measure.keys}
        simple = {call.name for call in measure.aggregates if _additive(shelf()[call.function].needs)}
    kinds = [Kind.EXACT if name in keys else Kind.DRAWN if name in simple else Kind.OPEN for name in names]
    return names, kinds


def _additive(needs: tuple[Need, ...]) -> bool:
    """Whether an aggregate is a sum of noised numbers, or the mean of one."""
    return bool(needs) and set(needs) <= {Need.ROWS, Need.UNITS, Need.TOTAL}


def _union(tree: exp.Union, measures: Mapping[str, Measure]) -> _Rows | None:
    if tree.args.get("by_name") or tree.args.get("with_"):
        return None
    sides = [_analysed(side, measures) for side in (tree.this, tree.expression)]
    left, right = sides
    if left is None or right is None or left.names is None or right.names is None:
        return None
    if len(left.kinds) != len(right.kinds):
        return None  # refused where its types are looked for
    kinds = [max(ours, theirs) for ours, theirs in zip(left.kinds, right.kinds, strict=True)]
    guards: list[list[exp.Expr]] = [[] for _ in kinds]
    plain = left.plain and right.plain and not any(left.guards) and not any(right.guards)
    chosen = left.chosen or right.chosen
    if tree.args.get("limit") or tree.args.get("offset"):
        chosen = True
        kinds = [Kind.OPEN if kind is Kind.DRAWN else kind for kind in kinds]
    return _Union(left.names, kinds, guards, chosen, plain, (left, right), tree)


def _chosen_by_others(tree: exp.SetOperation, measures: Mapping[str, Measure]) -> _Rows | None:
    """Return what UNION, EXCEPT and INTERSECT keep: noise tells which rows are equal."""
    left, right = (_analysed(side, measures) for side in (tree.this, tree.expression))
    if left is None or right is None or left.names is None or len(right.kinds) != len(left.kinds):
        return None
    also = left.kinds if isinstance(tree, exp.Except) else right.kinds
    kinds = [
        Kind.EXACT if max(pair) is Kind.EXACT else Kind.OPEN for pair in zip(left.kinds, also, strict=True)
    ]
    return _Unknown(left.names, kinds, [[] for _ in kinds], chosen=True, plain=False)


_CLAUSES = frozenset(
    (
        *("expressions", "from_", "joins", "where", "group", "having", "qualify", "windows", "order"),
        *("limit", "offset", "distinct"),
    )
)
_LINEAR = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Paren, exp.Alias)
_ADDED = (exp.Sum, exp.Avg)
_PICKED = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_FLOATS = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
_ROUNDS = "rounds"
"""Marks a cast of a number with noise that rounds it: over replicas it is rounded, which fails for none."""


_FILLS = "fills"
"""Marks a COALESCE whose number with noise may be missing: what it puts there has no noise. The mark is the
SELECT, or 0 of what is added up."""


def _keep_missing(rows: _Rows) -> None:
    """Let no COALESCE fill what is missing, where its output is one of the query and in no sum."""
    match rows:
        case _Select():
            rows.fills = False
            if not rows.aggregated and rows.node.find(exp.Window) is None:
                for item in rows.items:
                    _keep_missing(item.rows)
        case _Union():
            for side in rows.sides:
                _keep_missing(side)


def _unfilled(node: exp.Expr, select: int) -> exp.Expr:
    """Return a SELECT with missing numbers for what its own COALESCE puts there, not those of subqueries."""
    for filled in [each for each in node.find_all(exp.Coalesce) if each.meta.get(_FILLS) == select]:
        filled.replace(filled.this)
    return node


def _rounded(node: exp.Expr) -> exp.Expr:
    """Return the SELECT with casts that round numbers with noise as what rounds them."""
    for cast in [each for each in node.find_all(exp.Cast) if _ROUNDS in each.meta]:
        places = cast.meta[_ROUNDS]
        cast.replace(exp.Round(this=cast.this, decimals=exp.Literal.number(places) if places else None))
    return node


@dataclass()
class _Item:
    alias: str
    rows: _Rows
    node: exp.Expr
    names: list[str] | None
    join: exp.Join | None


@dataclass()
class _Select(_Rows):
    """A SELECT over released and public rows."""

    node: exp.Select = field(default_factory=exp.Select)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    items: list[_Item] = field(default_factory=list)
    aggregated: bool = False
    inner: dict[int, tuple[exp.Subquery, _Rows]] = field(default_factory=dict)
    """The scalar subqueries over released rows, by the identity of their nodes."""
    above: bool = False
    """Whether the rows that it reads were chosen by noisy numbers."""
    fills: bool = True
    """Whether COALESCE puts something in the place of a missing number, over replicas too."""

    @classmethod
    def analysed(cls, node: exp.Select, measures: Mapping[str, Measure]) -> _Select:
        made = cls([], [], node=node, measures=measures)
        made._analyse()
        return made

    # ---- what depends on the noise -----------------------------------------------------------------

    def _analyse(self) -> None:
        node = self.node
        outputs = node.expressions
        self.plain = {key for key, value in node.args.items() if value} <= _CLAUSES
        source = node.args.get("from_")
        for part in [] if source is None else [source, *(node.args.get("joins") or [])]:
            self._add(part)
        self.above = any(item.rows.chosen for item in self.items)
        self.plain = self.plain and not any(output.is_star for output in outputs)
        group = node.args.get("group")
        self.aggregated = group is not None or any(has_aggregate(output) for output in outputs)
        if group is not None and {key for key, value in group.args.items() if value} - {"expressions", "all"}:
            self.plain = False
        self.names = []
        for output in outputs:
            guards: list[exp.Expr] = []
            kind = self.kind(output, guards)
            self.names.append(output.alias_or_name)
            self.kinds.append(kind)
            self.guards.append(guards if kind is Kind.DRAWN else [])
        self.chosen = self.chosen or self._chooses()
        if self.chosen:  # how many rows there are depends on the noise
            self.kinds = [
                Kind.OPEN if has_aggregate(output) or output.find(exp.Window) else kind
                for output, kind in zip(outputs, self.kinds, strict=True)
            ]
        self.chosen = self.chosen or self.above
        if self.chosen or not self.plain:
            self.kinds = [Kind.OPEN if kind is Kind.DRAWN else kind for kind in self.kinds]
            self.guards = [[] for _ in self.kinds]

    def _add(self, part: exp.Expr) -> None:
        join = part if isinstance(part, exp.Join) else None
        tree = part.this
        rows = _analysed(tree, self.measures)
        if rows is None or not isinstance(tree, exp.Table | exp.Subquery):
            rows, self.plain = _Unknown(None, [], chosen=True, plain=False), False
        self.plain = self.plain and rows.plain and (not isinstance(rows, _Select) or not rows.limited)
        if join is not None and (
            (join.args.get("side") or "") not in ("", "LEFT")
            or (join.args.get("kind") or "") not in ("", "INNER", "CROSS", "OUTER")
            or join.args.get("method")
        ):
            self.plain = False
        alias = tree.args.get("alias")
        renamed = [each.name for each in alias.columns] if alias is not None else []
        names = None if rows.names is None else renamed + rows.names[len(renamed) :]
        self.items.append(_Item(tree.alias_or_name, rows, tree, names, join))
        args = {} if join is None else join.args
        conditions = [] if args.get("on") is None else [args["on"]]
        conditions += [exp.Column(this=each.copy()) for each in args.get("using") or []]
        if any(self.kind(condition, []) is not Kind.EXACT for condition in conditions):
            self.chosen = True

    @property
    def limited(self) -> bool:
        return bool(self.node.args.get("limit") or self.node.args.get("offset"))

    def _chooses(self) -> bool:
        """Whether rows are selected or merged by noisy numbers."""
        args = self.node.args
        group = args.get("group")
        parts = [args.get(key) for key in ("where", "having", "qualify", "limit", "offset")]
        parts += [] if group is None else group.expressions
        if args.get("limit") or args.get("offset"):
            parts.append(args.get("order"))
        if any(part is not None and self._clause(part) is not Kind.EXACT for part in parts):
            return True
        if group is not None and group.args.get("all"):
            plain = zip(self.node.expressions, self.kinds, strict=True)
            return any(kind is not Kind.EXACT and not has_aggregate(output) for output, kind in plain)
        return bool(args.get("distinct"))

    def _clause(self, node: exp.Expr) -> Kind:
        """Return the kind of a clause, where a number or a name may stand for an output."""
        found = self.kind(node, [])
        for literal in node.find_all(exp.Literal):
            named = isinstance(literal.parent, exp.Ordered | exp.Group)
            if named and not literal.is_string and literal.this.isdigit():
                place = int(literal.this) - 1
                found = max(found, self.kinds[place] if place < len(self.kinds) else Kind.OPEN)
        return found

    def kind(self, node: exp.Expr, guards: list[exp.Expr], inside: bool = False) -> Kind:
        """Return how an expression depends on the noise; add the denominators that it needs to ``guards``.

        ``inside`` is an argument of an aggregate or a window function, where the denominator of one row is
        no guard.
        """
        match node:
            case exp.Column():
                return self._column(node, guards, inside)
            case exp.Subquery() | exp.Exists() | exp.Query():
                return self._subquery(node)
            case exp.Div():
                return self._ratio(node, guards, inside)
            case exp.Window():
                return self._window(node, guards)
            case exp.Case() | exp.If():
                return self._case(node, guards, inside)
        added, needed = isinstance(node, _ADDED), list[exp.Expr]()
        children = list(node.iter_expressions())
        kinds = [self.kind(child, needed, inside or added) for child in children]
        worst = max(kinds, default=Kind.EXACT)
        if self.above and (isinstance(node, exp.AggFunc) or is_named_aggregate(node)):
            return Kind.OPEN
        if worst is not Kind.DRAWN:
            return worst
        to = node.to if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast) else None
        places = None if to is None else places_of(to)
        if places is not None:
            node.meta[_ROUNDS] = places
        first = isinstance(node, exp.Round | exp.Coalesce) or (
            isinstance(node, exp.Filter) and isinstance(node.this, _ADDED)
        )
        if (
            isinstance(node, _LINEAR)
            or (added and not isinstance(node.this, exp.Distinct | exp.Order))
            or (to is not None and (to.this in _FLOATS or places is not None))
            or (first and max(kinds[1:], default=Kind.EXACT) is Kind.EXACT)
        ):
            guards += needed
            if isinstance(node, exp.Coalesce):
                node.meta[_FILLS] = 0 if inside else id(self)
            return Kind.DRAWN
        return Kind.OPEN

    def _column(self, node: exp.Column, guards: list[exp.Expr], inside: bool) -> Kind:
        if not isinstance(node.this, exp.Identifier):
            return Kind.OPEN
        name, table = node.name.casefold(), node.table.casefold()
        found: list[Kind] = []
        unknown = False
        for item in self.items:
            if table and item.alias.casefold() != table:
                continue
            if item.names is None:
                unknown = True
                found += [Kind.OPEN] if item.rows.chosen else []
                continue
            found += [item.rows.kinds[i] for i, each in enumerate(item.names) if each.casefold() == name]
        if not table:
            for output, kind, needed in zip(self.names or (), self.kinds, self.guards, strict=False):
                if output.casefold() == name:
                    found.append(Kind.OPEN if inside and needed else kind)
                    guards += needed
        return max(found) if found else Kind.EXACT if unknown else Kind.OPEN

    def _subquery(self, node: exp.Expr) -> Kind:
        """Return the kind of a subquery: a scalar one may have a number with noise."""
        if not any(table.name in self.measures for table in node.find_all(exp.Table)):
            return Kind.EXACT
        if not isinstance(node, exp.Subquery):
            return Kind.OPEN
        rows = _analysed(node.this, self.measures)
        if (
            not isinstance(rows, _Select)
            or not rows.plain
            or rows.limited
            or rows.kinds != [Kind.DRAWN]
            or any(rows.guards)
        ):
            return Kind.OPEN
        self.inner[id(node)] = node, rows
        return Kind.DRAWN

    def _ratio(self, node: exp.Div, guards: list[exp.Expr], inside: bool) -> Kind:
        divisor = node.expression
        while isinstance(divisor, exp.Paren):
            divisor = divisor.this
        if isinstance(divisor, exp.Nullif) and self.kind(divisor.expression, []) is Kind.EXACT:
            divisor = divisor.this
        below = self.kind(divisor, guards, inside)
        if below is not Kind.EXACT:
            guards.append(divisor)
        return (
            Kind.OPEN if below is Kind.DRAWN and inside else max(below, self.kind(node.this, guards, inside))
        )

    def _case(self, node: exp.Expr, guards: list[exp.Expr], inside: bool) -> Kind:
        """Return the kind of CASE: its conditions must be exact."""
        if isinstance(node, exp.If):
            conditions = [node.this]
            values = [node.args.get("true"), node.args.get("false")]
        else:
            ifs = node.args.get("ifs") or []
            conditions = [node.this, *(each.this for each in ifs)]
            values = [*(each.args.get("true") for each in ifs), node.args.get("default")]
        if any(part is not None and self.kind(part, []) is not Kind.EXACT for part in conditions):
            return Kind.OPEN
        return max(self.kind(value, guards, inside) for value in values if value is not None)

    def _window(self, node: exp.Window, guards: list[exp.Expr]) -> Kind:
        function = node.this
        rest = [child for child in node.iter_expressions() if child is not function]
        named = {each.name.casefold(): each for each in self.node.args.get("windows") or []}
        over, passed = node.args.get("alias"), set[str]()
        while over is not None:  # a named window may be built on another one
            name = over.name.casefold()
            if name not in named or name in passed:
                return Kind.OPEN
            passed.add(name)
            rest += list(named[name].iter_expressions())
            over = named[name].args.get("alias")
        framed = max((self.kind(part, []) for part in rest), default=Kind.EXACT)
        if self.above or framed is not Kind.EXACT:
            return Kind.OPEN
        bare = function.this if isinstance(function, exp.Filter) else function
        if isinstance(bare, _ADDED):
            return self.kind(function, guards, True)
        needed: list[exp.Expr] = []
        kinds = [self.kind(child, needed, True) for child in function.iter_expressions()]
        worst = max(kinds, default=Kind.EXACT)
        if worst is not Kind.DRAWN:
            return worst
        picks = isinstance(function, _PICKED) and max(kinds[1:], default=Kind.EXACT) is Kind.EXACT
        return Kind.DRAWN if picks else Kind.OPEN

    # ---- the same with replicas --------------------------------------------------------------------

    def written(self, drawn: bool, last: bool = False) -> exp.Query:
        """Return the SELECT with ``#id``, and over replicas if ``drawn``; ``last``: with its guards."""
        subqueries = self._subqueries() if drawn else {}
        made = self.node.copy() if not drawn else _rounded(_replaced(self.node, subqueries))
        made = made if self.fills or not drawn else _unfilled(made, id(self))
        assert isinstance(made, exp.Select)
        ids: list[exp.Expr] = []
        for i, item in enumerate(self.items):
            source = aliased(item.rows.written(drawn), item.alias, tuple(_renamed(item.node)))
            ids.append(column(REPLICA_ID, item.alias))
            if item.join is None:
                made.set("from_", exp.From(this=source))
                continue
            joined = made.args["joins"][i - 1]
            joined.set("this", source)
            if drawn:
                self._join(joined, item.alias)
        row = (
            exp.Struct(
                expressions=[
                    exp.PropertyEQ(this=exp.to_identifier(f"i{i}"), expression=one)
                    for i, one in enumerate(ids)
                ]
            )
            if len(ids) > 1
            else ids[0]
            if ids
            else exp.Literal.number(0)
        )
        group = self.node.args.get("group")
        name: exp.Expr = exp.Min(this=row) if group is not None else row
        name = exp.Literal.number(0) if self.aggregated and group is None else name
        if drawn:
            for key in ("order", "limit", "offset"):
                made.set(key, None)
            placed = [guard for found in self.guards for guard in found]
            for guard in placed:
                made.append("expressions", _replaced(guard, subqueries))
            self._partition(made)
            made.append("expressions", exp.alias_(self._number, REPLICA_NUMBER, quoted=True))
        made.append("expressions", exp.alias_(name, REPLICA_ID, quoted=True))
        return made if last or not drawn or not any(self.guards) else self._guarded(made)

    @property
    def _number(self) -> exp.Expr:
        """The number of the replica that a row belongs to."""
        return column(REPLICA_NUMBER, self.items[0].alias if self.items else "#every")

    def _join(self, joined: exp.Join, alias: str) -> None:
        """Join the rows of each replica among themselves."""
        if joined.args.get("using"):
            joined.append("using", identifier(REPLICA_NUMBER))
            return
        same = exp.EQ(
            this=column(REPLICA_NUMBER, self.items[0].alias), expression=column(REPLICA_NUMBER, alias)
        )
        on = joined.args.get("on")
        joined.set("on", same if on is None else exp.and_(exp.Paren(this=on), same))
        if joined.args.get("kind") == "CROSS":
            joined.set("kind", None)

    def _partition(self, made: exp.Select) -> None:
        """Add the replica to GROUP BY and to every window."""
        if not self.items:
            made.set("from_", exp.From(this=_every_replica("#every")))
        if self.aggregated:
            group = made.args.get("group")
            if group is None:
                made.set("group", exp.Group(expressions=[self._number]))
            elif not group.args.get("all"):
                group.append("expressions", self._number)
        windows = list(made.args.get("windows") or [])
        for part in (*made.expressions, made.args.get("qualify")):
            windows += [] if part is None else part.find_all(exp.Window)
        for window in windows:
            if not window.args.get("alias") and window.parent_select is made:
                window.append("partition_by", self._number)

    def _subqueries(self) -> dict[int, exp.Expr]:
        """Return the scalar subqueries over the replica of the row."""
        return {key: self._correlated(node, rows) for key, (node, rows) in self.inner.items()}

    def _correlated(self, node: exp.Subquery, rows: _Rows) -> exp.Expr:
        alias = "#one"
        source = aliased(rows.written(drawn=True), alias, ("#x", "#r", "#i"))
        where = exp.EQ(this=column("#r", alias), expression=self._number)
        one = exp.Select(
            expressions=[column("#x", alias)], from_=exp.From(this=source), where=exp.Where(this=where)
        )
        return exp.Subquery(this=one, alias=node.args.get("alias"))

    def _guarded(self, made: exp.Select) -> exp.Query:
        """Return the rows with NaN for ratios whose denominator is near zero: it stays NaN in all sums."""
        names = [f"c{i}" for i in range(len(self.kinds))]
        placed = [i for i, found in enumerate(self.guards) for _ in found]
        guards = [f"g{n}" for n in range(len(placed))]
        firsts = ", ".join(
            f"max(CAST({name} AS DOUBLE)) FILTER (WHERE r = 0) OVER (PARTITION BY id) AS first_{name}"
            for name in guards
        )
        listed = []
        assert self.names is not None
        for i, (name, called) in enumerate(zip(names, self.names, strict=True)):
            tests = [_far_from_zero(g) for g, at in zip(guards, placed, strict=True) if at == i]
            shown = name
            if tests:
                sound = " AND ".join([f"{name} IS NULL OR r = 0 OR (TRUE", *tests]) + ")"
                shown = f"CASE WHEN {sound} THEN {name} ELSE CAST('nan' AS DOUBLE) END"
            listed.append(f"{shown} AS {identifier(called).sql(dialect='duckdb')}")
        sql = (
            f'SELECT {", ".join(listed)}, r AS "{REPLICA_NUMBER}", id AS "{REPLICA_ID}" '
            f'FROM (SELECT *, {firsts} FROM "#guarded")'
        )
        tree = parse_one(sql, read="duckdb")
        assert isinstance(tree, exp.Select)
        (table,) = tree.find_all(exp.Table)
        table.replace(aliased(made, "#guarded", (*names, *guards, "r", "id")))
        return tree


def _far_from_zero(guard: str) -> str:
    """Return the test that a denominator is beyond ``BEYOND`` deviations of zero, for each row."""
    away = f"({guard} - first_{guard})"
    deviation = f"sqrt(avg({away} * {away}) FILTER (WHERE r > 0) OVER (PARTITION BY id))"
    return f"coalesce(abs(first_{guard}) > {BEYOND} * {deviation}, FALSE)"


def _renamed(item: exp.Expr) -> list[str]:
    alias = item.args.get("alias")
    return [] if alias is None else [each.name for each in alias.columns]


def _replaced(node: exp.Expr, subqueries: Mapping[int, exp.Expr]) -> exp.Expr:
    """Return a copy with other subqueries in the place of some."""
    if id(node) in subqueries:
        return subqueries[id(node)].copy()
    made = node.copy()
    if not subqueries:
        return made
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            made.set(key, _replaced(value, subqueries))
        elif isinstance(value, list):
            made.set(
                key, [_replaced(each, subqueries) if isinstance(each, exp.Expr) else each for each in value]
            )
    return made
