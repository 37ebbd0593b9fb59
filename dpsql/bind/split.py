"""Query -> Split: what do the words mean, and where does privacy end?

Bottom-up, every FROM item and every query is Private (rows that belong to units) or Open (released or
public). The first aggregate that drops the unit turns Private into Open: it becomes a Measure, and what
stands around it becomes SQL over the released table.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from dpsql.aggregates import Unbounded
from dpsql.aggregates import shelf as aggregates
from dpsql.bind.froms import Froms, Kept
from dpsql.bind.given import Evaluate, given_fact, given_value
from dpsql.bind.names import Fresh, Scope, Visible
from dpsql.bind.opened import (
    exactly,
    identifier,
    open_select,
    open_set_operation,
    open_table,
    replace_queries,
    wrapped,
)
from dpsql.bind.released import Released, margin
from dpsql.bind.scalars import Scalars
from dpsql.bind.sources import Open, Private, scan
from dpsql.errors import Error, refuse
from dpsql.facts.identity import identifying
from dpsql.facts.ownership import FAN_OUT, Owned, ownership_of, rows_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import shelf as functions
from dpsql.functions.reading import literal_of
from dpsql.ir.column import BIGINT, DOUBLE, Categories, Kind, Listed, Type, Value, type_named
from dpsql.ir.plan import Measure, Post, Split, Stage
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Filter,
    Given,
    Named,
    Project,
    Relation,
    ScanColumn,
    Union,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs
from dpsql.ir.source import Span
from dpsql.parse.allowed import check_printed, unknown_function
from dpsql.parse.parse import Query
from dpsql.parse.spans import span_of
from dpsql.policy.catalogue import Known

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.CountIf: "count_if",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_GROUPABLE = frozenset(Kind) - {Kind.INTERVAL, Kind.OPAQUE, Kind.NULL}


def bind(query: Query, known: Known, evaluate: Evaluate) -> Split:
    """The query as measures and the SQL over what they release, or a refusal that points at the text."""
    source = query.source
    try:
        return _Binder(source.text, known, query.tree, evaluate).split(query)
    except Error as error:
        raise error.within(source.text, source.name) from None


@dataclass(slots=True)
class Cte:
    """A WITH entry: bound anew for each use of private rows, once for a release."""

    node: exp.Expr
    names: tuple[str, ...]
    env: Mapping[str, Cte]
    opened: Open | None = None


class _Binder:
    def __init__(self, text: str, known: Known, tree: exp.Expr, evaluate: Evaluate) -> None:
        self.text, self.known, self._evaluate = text, known, evaluate
        words = {each.name for each in tree.find_all(exp.Identifier)}
        self.fresh = Fresh(words | {table.name for table in known.tables})
        self.measures: list[Measure] = []
        self.tables: dict[str, None] = {}
        self.recursive: set[str] = set()

    def span(self, node: exp.Expr | None) -> Span | None:
        return None if node is None else span_of(node, self.text)

    # ---- the whole query ---------------------------------------------------------------------------

    def split(self, query: Query) -> Split:
        bound = self.query(query.tree, {})
        if isinstance(bound, Private):
            self._refuse_rows(bound, query.tree)
        hidden = [name for name in bound.margins if name is not None]
        outputs = (*bound.columns, *hidden)
        self._only_ours(bound.tree)
        sql = bound.tree.sql(dialect="duckdb")
        check_printed(sql)
        post = Post(
            sql,
            bound.columns,
            self._tables_in(bound.tree),
            tuple(
                None if name is None else outputs.index(name, len(bound.columns)) for name in bound.margins
            ),
        )
        return Split(query.source, (Stage(tuple(self.measures), post),))

    def _only_ours(self, tree: exp.Expr) -> None:
        """Every table that ordinary SQL reads is released or public: nothing slipped through unbound."""
        ours = {measure.name for measure in self.measures} | set(self.tables) | self.recursive
        for table in tree.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier) and (table.name not in ours or table.db):
                raise refuse(
                    "D105",
                    "this way of reading a table is not answered",
                    self.span(table),
                    help="name it plainly",
                )

    def _tables_in(self, tree: exp.Expr) -> tuple[str, ...]:
        """The public tables that ordinary SQL reads."""
        named = {table.name for table in tree.find_all(exp.Table)}
        return tuple(name for name in self.tables if name in named)

    def _refuse_rows(self, bound: Private, tree: exp.Expr) -> NoReturn:
        owned = ownership_of(bound.relation)
        assert isinstance(owned, Owned)
        secret = identifying(bound.relation)
        shown = [each for each in bound.scope.columns if refs(each.scalar) & secret]
        listed = tree.expressions if isinstance(tree, exp.Select) else []
        inner = bound.relation
        while isinstance(inner, Project | Filter):
            inner = inner.input
        if shown and isinstance(inner, Aggregate):
            raise refuse(
                "D403",
                f"this lists single {self.known.unit}s",
                self.span(listed[0]) if listed else None,
                label=f"{shown[0].name} tells one {self.known.unit} from another",
                help=f"aggregate once more over the {self.known.unit}s: SELECT AVG(n) FROM (SELECT ..., "
                "COUNT(*) AS n ... GROUP BY ...)",
            )
        raise refuse(
            "D402",
            "single private rows are never shown",
            self.span(listed[0]) if listed else None,
            label="this query returns rows, not aggregates",
            help="aggregate them: SELECT COUNT(*), AVG(...) FROM ... GROUP BY ...",
        )

    # ---- queries -----------------------------------------------------------------------------------

    def query(self, node: exp.Expr, env: Mapping[str, Cte]) -> Private | Open:
        env = self._with(node, env)
        match node:
            case exp.Select():
                return self.select(node, env)
            case exp.SetOperation():
                return self.set_operation(node, env)
            case exp.Subquery():
                return self._parenthesised(node, env)
            case exp.Values():
                return self.values(node, env)
            case exp.Table():
                return self.table(node, env)
        raise refuse("D105", "this is not a query that we read", self.span(node), help="write a SELECT")

    def values(self, node: exp.Values, env: Mapping[str, Cte]) -> Open:
        """VALUES as a subquery with columns col0, col1..."""
        rows = [replace_queries(each, self._subqueries(env)) for each in node.expressions]
        width = len(node.expressions[0].expressions)
        columns = tuple(f"col{i}" for i in range(width))
        alias = exp.TableAlias(this=identifier(self.fresh("v")), columns=[identifier(c) for c in columns])
        tree = exp.select("*").from_(exp.Values(expressions=rows, alias=alias))
        return Open(tree, columns, (None,) * width)

    def _with(self, node: exp.Expr, env: Mapping[str, Cte]) -> Mapping[str, Cte]:
        clause = node.args.get("with_")
        if clause is None:
            return env
        inner = dict(env)
        for cte in clause.expressions:
            names = tuple(each.name for each in cte.args["alias"].columns)
            made = Cte(cte.this, names, dict(inner))
            if clause.args.get("recursive") and _reads(cte.this, cte.alias):
                made.opened = self._recursive(cte, names, inner)
            inner[cte.alias.casefold()] = made
        return inner

    def _recursive(self, cte: exp.CTE, names: tuple[str, ...], env: Mapping[str, Cte]) -> Open:
        """A CTE that reads itself, over public rows: kept as it was written."""
        body = cte.this
        if not isinstance(body, exp.Union):
            raise refuse("D252", "this recursion is not answered", self.span(cte), help="write a UNION ALL")
        first = self.query(body.left, env)
        if isinstance(first, Private) or first.released:
            raise refuse(
                "D252",
                "a recursion over private or released rows is not answered",
                self.span(cte),
                help="recursion is for public tables and constants",
            )
        name = self.fresh(cte.alias)
        self.recursive.add(name)
        columns = names + first.columns[len(names) :]
        nothing: tuple[str | None, ...] = (None,) * len(columns)
        itself = Cte(body, (), env, Open(exp.Table(this=identifier(name)), columns, nothing))
        whole = self.query(body, {**env, cte.alias.casefold(): itself})
        if isinstance(whole, Private) or whole.released:
            raise refuse(
                "D252",
                "a recursion over private or released rows is not answered",
                self.span(cte),
                help="recursion is for public tables and constants",
            )
        alias = exp.TableAlias(this=identifier(name), columns=[identifier(each) for each in columns])
        tree = exp.select("*").from_(exp.Table(this=identifier(name)))
        tree.set(
            "with_",
            exp.With(recursive=True, expressions=[exp.CTE(this=exactly(whole, self.fresh), alias=alias)]),
        )
        return Open(tree, columns, nothing)

    def _parenthesised(self, node: exp.Subquery, env: Mapping[str, Cte]) -> Private | Open:
        bound = self.query(node.this, env)
        extra = [key for key in ("order", "limit", "offset") if node.args.get(key)]
        if not extra:
            return bound
        if isinstance(bound, Private):
            self._refuse_picking(node.args[extra[0]])
        return wrapped(bound, {key: node.args[key].copy() for key in extra}, self.fresh)

    def table(self, node: exp.Table, env: Mapping[str, Cte]) -> Private | Open:
        """A name in FROM: a CTE, or a table that the policy mentions."""
        if isinstance(node.this, exp.Func):
            return self._series(node)
        self._plain_table(node)
        cte = env.get(node.name.casefold()) if not node.db else None
        if cte is not None:
            return self._cte(cte)
        name = node.name if node.db.casefold() in ("", "main") else f"{node.db}.{node.name}"
        known = self.known.table(name)
        if known is None:
            raise refuse(
                "D201",
                f"there is no table {name}",
                self.span(node),
                help=self._nearest_table(name, env),
            )
        bound = scan(known, self.known, known.name, self.fresh, self.span(node))
        if not known.public:
            return bound
        self.tables[known.name] = None
        return open_table(known, bound)

    def _series(self, node: exp.Table) -> Open:
        """range(...) and generate_series(...) over constants."""
        call = node.this
        name = call.name if isinstance(call, exp.Anonymous) else type(call).sql_name()
        name = "range" if call.args.get("is_end_exclusive") else name.casefold()
        if name not in ("range", "generate_series"):
            raise unknown_function(name, self.span(node))
        arguments = [each for each in call.iter_expressions() if not isinstance(each, exp.Identifier)]
        if not arguments or any(literal_of(each) is None for each in arguments):
            raise refuse(
                "D252",
                f"{name} is answered over constants only",
                self.span(node),
                help="write the numbers: range(10)",
            )
        written = exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])
        alias = exp.TableAlias(this=identifier(self.fresh("series")), columns=[identifier(name)])
        tree = exp.select("*").from_(exp.Table(this=written, alias=alias))
        return Open(tree, (name,), (None,))

    def _plain_table(self, node: exp.Table) -> None:
        if not isinstance(node.this, exp.Identifier) or node.catalog:
            shown = ".".join(part.name for part in node.parts)
            raise refuse(
                "D201",
                f"there is no table {shown}",
                self.span(node),
                help="name a table of the policy, with its schema at most",
            )
        extra = [
            key for key, value in node.args.items() if value and key not in ("this", "alias", "db", "joins")
        ]
        if extra:
            raise refuse(
                "D105", "this way of reading a table is not answered", self.span(node), help="name it plainly"
            )

    def _nearest_table(self, name: str, env: Mapping[str, Cte]) -> str:
        names = sorted({*(each.name for each in self.known.tables), *env})
        close = difflib.get_close_matches(name.casefold(), names, 1)
        return f"did you mean {close[0]}?" if close else f"the tables here are {', '.join(names)}"

    def _cte(self, cte: Cte) -> Private | Open:
        if cte.opened is None:
            bound = self.query(cte.node, cte.env)
            if isinstance(bound, Private):
                return Private(bound.relation, bound.scope.under("", cte.names)) if cte.names else bound
            cte.opened = bound
        return cte.opened

    def set_operation(self, node: exp.SetOperation, env: Mapping[str, Cte]) -> Private | Open:
        left, right = self.query(node.left, env), self.query(node.right, env)
        if isinstance(left, Open) and isinstance(right, Open):
            return open_set_operation(node, left, right, self._subqueries(env), self.fresh)
        what = type(node).__name__.upper()
        if isinstance(left, Open) or isinstance(right, Open):
            raise refuse(
                "D406",
                f"{what} of private rows with public or released ones",
                self.span(node.right if isinstance(right, Open) else node.left),
                help="aggregate the private side first, then combine",
            )
        if not isinstance(node, exp.Union) or node.args.get("distinct") or node.args.get("by_name"):
            raise refuse(
                "D406",
                f"{what} of private rows compares single rows",
                self.span(node.right),
                help="use UNION ALL with the unit among the columns of both sides",
            )
        for key in ("order", "limit", "offset"):
            if node.args.get(key):
                self._refuse_picking(node.args[key])
        return self._union(node, left, right)

    def _union(self, node: exp.Union, left: Private, right: Private) -> Private:
        ours, theirs = ownership_of(left.relation), ownership_of(right.relation)
        assert isinstance(ours, Owned)
        assert isinstance(theirs, Owned)
        mine, others = left.scope.starred, right.scope.starred
        if len(mine) != len(others):
            raise refuse(
                "D205",
                "the sides of UNION have different numbers of columns",
                self.span(node.right),
                help="select as many columns on both sides",
            )
        at = [i for i, each in enumerate(mine) if refs(each.scalar) and refs(each.scalar) <= ours.units]
        if not any(isinstance(others[i].scalar, Ref) and refs(others[i].scalar) <= theirs.units for i in at):
            raise refuse(
                "D406",
                f"UNION ALL needs the {self.known.unit} in the same position on both sides",
                self.span(node.right),
                help=f"select the column that holds the {self.known.unit} first on both sides",
            )
        names = [self.fresh(each.name) for each in mine]
        sides = []
        for side, columns in ((left, mine), (right, others)):
            listed = tuple(Named(name, each.scalar) for name, each in zip(names, columns, strict=True))
            sides.append(Project(side.relation, listed))
        first, second = (facts_of(each) for each in sides)
        for name, each in zip(names, mine, strict=True):
            if first[name].type != second[name].type:
                target = _common(first[name].type, second[name].type)
                if name in {names[i] for i in at} and target == BIGINT:
                    continue  # whole numbers are equal whatever their width
                if target is None or name in {names[i] for i in at}:
                    title = f"{each.name} has different types in UNION"
                    raise refuse("D205", title, self.span(node.right), help="CAST one side")
                sides = [_cast(side, name, target) for side in sides]
        relation = Union(sides[0], sides[1])
        visible = tuple(Visible("", each.name, Ref(name)) for each, name in zip(mine, names, strict=True))
        return Private(relation, Scope(visible))

    # ---- SELECT ------------------------------------------------------------------------------------

    def select(self, node: exp.Select, env: Mapping[str, Cte]) -> Private | Open:
        froms = Froms(
            self.text,
            self.known,
            self.fresh,
            lambda each: self.query(each, env),
            self.given,
            self._constants(env),
        )
        items = froms.items(node)
        if all(isinstance(item.source, Open) for item in items):
            aliases = frozenset(item.alias.casefold() for item in items)
            subqueries = self._subqueries(env, aliases)
            return open_select(node, items, subqueries, self.fresh, self.text, output_name)
        relation, scope, kept = froms.joined(node, items)
        bound = self._private_select(node, Private(relation, scope), env)
        if kept is not None and not (isinstance(bound, Open) and self._means_the_same(kept)):
            froms.refuse_kept(kept)
        return bound

    def _means_the_same(self, kept: Kept) -> bool:
        """Whether the measure just made gives with an inner join what it would with the kept rows:

        groups of the public side, which appear anyway, and aggregates that a row of NULLs leaves as they are.
        """
        measure = self.measures[-1]
        facts = facts_of(measure.relation)
        listed = all(
            refs(key.scalar) <= kept.public
            and isinstance(fact_of(key.scalar, facts).domain, Listed | Categories)
            for key in measure.keys
        )
        return listed and all(
            call.function == "count_units"
            or (call.argument is not None and _null_of_nulls(call.argument, kept.private))
            for call in measure.aggregates
        )

    # ---- public parts among private rows -----------------------------------------------------------

    def _rows_of(self, bound: Open, span: Span | None) -> tuple[list[Type], list[tuple[Value, ...]]]:
        """What ordinary SQL over public tables gives: few enough rows to hand down."""
        tree = exactly(bound, self.fresh)
        self._only_ours(tree)
        sql = tree.sql(dialect="duckdb")
        check_printed(sql)
        spelled, rows = self._evaluate(sql, self._tables_in(tree), FAN_OUT)
        if len(rows) > FAN_OUT:
            raise refuse(
                "D303",
                f"this public part has more than {FAN_OUT:,} rows",
                span,
                label="one private row could meet every one of them",
                help=f"keep it under {FAN_OUT:,} rows, or join with a public table on its declared key",
            )
        types = [type_named(each) for each in spelled]
        if any(each.kind in (Kind.OPAQUE, Kind.INTERVAL) for each in types):
            raise refuse("D205", "a column of this public part is of no plain type", span, help="cast it")
        return types, rows

    def given(self, bound: Open, span: Span | None) -> Private:
        """Public SQL as a relation: its rows, with the facts that they show."""
        types, rows = self._rows_of(bound, span)
        columns = tuple(
            ScanColumn(self.fresh(name), types[i].sql, given_fact(types[i], tuple(row[i] for row in rows)))
            for i, name in enumerate(bound.columns)
        )
        visible = tuple(
            Visible("", name, Ref(column.name)) for name, column in zip(bound.columns, columns, strict=True)
        )
        return Private(Given(columns, tuple(rows), span), Scope(visible))

    def _constants(self, env: Mapping[str, Cte]) -> Callable[[exp.Expr], tuple[Literal, ...]]:
        """The values of a subquery among private rows: public ones only."""

        def constants(node: exp.Expr) -> tuple[Literal, ...]:
            inner = node.this if isinstance(node, exp.Subquery) else node
            try:
                bound = self.query(inner, env)
            except Error as error:
                if error.code != "D202":
                    raise
                bound = None
            if bound is None or isinstance(bound, Private) or bound.released or len(bound.columns) != 1:
                raise refuse(
                    "D255",
                    "this subquery stands among private rows",
                    self.span(node),
                    label="one row's outcome would depend on rows of other units",
                    help="write it as a join on the unit, or ask it as a query of its own",
                )
            types, rows = self._rows_of(bound, self.span(node))
            return tuple(Literal(given_value(row[0], types[0]), types[0]) for row in rows)

        return constants

    def _subqueries(
        self, env: Mapping[str, Cte], outer: frozenset[str] = frozenset()
    ) -> Callable[[exp.Expr], exp.Expr]:
        """What replaces a subquery in ordinary SQL: its own bound tree."""

        def replaced(node: exp.Expr) -> exp.Expr:
            inner = node.this if isinstance(node, exp.Subquery | exp.Exists) else node
            if isinstance(node, exp.In):
                inner = node.args["query"]
                inner = inner.this if isinstance(inner, exp.Subquery) else inner
            try:
                bound = self.query(inner, env)
            except Error as error:
                correlated = any(each.table.casefold() in outer for each in inner.find_all(exp.Column))
                if error.code != "D202" or not correlated:
                    raise
                raise refuse(
                    "D255" if isinstance(node, exp.Subquery | exp.Select) else "D405",
                    "public rows would be chosen or filled by private ones, row by row",
                    self.span(inner),
                    help="release the groups first: SELECT ..., COUNT(*) ... GROUP BY, then join with them",
                ) from None
            if isinstance(bound, Private):
                raise refuse(
                    "D405" if not isinstance(node, exp.Subquery | exp.Select) else "D402",
                    "rows here would be chosen by single private rows",
                    self.span(inner),
                    help="release the keys first: SELECT ... GROUP BY, then join with the released groups",
                )
            tree = exactly(bound, self.fresh)
            if isinstance(node, exp.Exists):
                return exp.Exists(this=tree)
            if isinstance(node, exp.In):
                turned = node.copy()
                turned.set("query", exp.Subquery(this=tree))
                return turned
            return exp.Subquery(this=tree)

        return replaced

    def _refuse_picking(self, node: exp.Expr) -> NoReturn:
        raise refuse(
            "D252",
            "ORDER BY, LIMIT and OFFSET would pick single private rows",
            self.span(node),
            help="order and limit the released groups, outside the aggregate",
        )

    def _private_select(self, node: exp.Select, source: Private, env: Mapping[str, Cte]) -> Private | Open:
        scalars = Scalars(self.text, source.scope, facts_of(source.relation), self._constants(env))
        items = self._items(node, source.scope)
        keys = self._keys(node, items, scalars)
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise refuse(
                "D252",
                "DISTINCT ON picks single private rows",
                self.span(distinct),
                help="aggregate per unit: MIN or MAX with GROUP BY the unit",
            )
        clauses = [node.args.get(each) for each in ("having", "qualify", "order")]
        grouped = bool(node.args.get("group")) or any(
            _has_aggregate(each) for each in (*items, *(c for c in clauses if c is not None))
        )
        if not grouped and distinct is None:
            return self._projected(node, source, items, scalars)
        owned = ownership_of(source.relation)
        assert isinstance(owned, Owned)
        if not grouped:
            keys = [(each, self._named(each, scalars.bind(each))) for each in items]
        if any(isinstance(each.scalar, Ref) and each.scalar.name in owned.units for _, each in keys):
            return self._per_unit(node, source, items, keys, scalars)
        return self._release(node, source, items, keys, scalars, env, only_keys=not grouped)

    def _items(self, node: exp.Select, scope: Scope) -> list[exp.Expr]:
        """The select list with its stars written out."""
        items: list[exp.Expr] = []
        for each in node.expressions:
            star = each if isinstance(each, exp.Star) else each.this if isinstance(each, exp.Column) else None
            if not isinstance(star, exp.Star):
                items.append(each)
                continue
            if any(star.args.get(key) for key in ("except_", "replace", "rename")):
                raise refuse(
                    "D252",
                    "star modifiers are not answered over private rows yet",
                    self.span(each),
                    help="name the columns",
                )
            table = each.table.casefold() if isinstance(each, exp.Column) else ""
            items += [
                exp.column(v.name, v.qualifier or None, quoted=True)
                for v in scope.starred
                if not table or v.qualifier.casefold() == table
            ]
        return items

    def _projected(
        self, node: exp.Select, source: Private, items: list[exp.Expr], scalars: Scalars
    ) -> Private:
        """Rows go in, rows come out: the hidden unit column always among them."""
        for key in ("order", "limit", "offset"):
            if node.args.get(key):
                self._refuse_picking(node.args[key])
        if node.args.get("qualify"):
            raise refuse(
                "D254",
                "QUALIFY looks at several units",
                self.span(node.args["qualify"]),
                help="aggregate first, then use the window over the released groups",
            )
        bound = [scalars.bind(each) for each in items]
        return self._selected(source.relation, [output_name(each) for each in items], bound)

    # ---- groups ------------------------------------------------------------------------------------

    def _keys(
        self, node: exp.Select, items: list[exp.Expr], scalars: Scalars
    ) -> list[tuple[exp.Expr, Named]]:
        group = node.args.get("group")
        if group is None:
            return []
        if any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals")) or any(
            isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets) for each in group.expressions
        ):
            raise refuse(
                "D252",
                "ROLLUP, CUBE and GROUPING SETS are not answered yet",
                self.span(group),
                help="ask each grouping as a query of its own",
            )
        written = [each for each in items if not _has_aggregate(each)] if group.args.get("all") else []
        written += [each for each in group.expressions if each != exp.Tuple()]
        keys: list[tuple[exp.Expr, Named]] = []
        for each in written:
            target = self._key_target(each, items, scalars)
            scalar = scalars.bind(target)
            if not any(named.scalar == scalar for _, named in keys):
                keys.append((_unaliased(target), self._named(target, scalar)))
        return keys

    def _key_target(self, node: exp.Expr, items: list[exp.Expr], scalars: Scalars) -> exp.Expr:
        """What GROUP BY names: an ordinal, a column, an alias of the select list, or an expression."""
        if isinstance(node, exp.Literal) and not node.is_string:
            index = int(node.this) if node.this.isdigit() else 0
            if not 1 <= index <= len(items):
                raise refuse(
                    "D202",
                    f"GROUP BY {node.this} is not a position of the select list",
                    self.span(node),
                    help=f"the select list has {len(items)} columns",
                )
            return _unaliased(items[index - 1])
        if isinstance(node, exp.Column) and not node.table and not scalars.scope.find(node.name):
            for item in items:
                if isinstance(item, exp.Alias) and item.alias.casefold() == node.name.casefold():
                    return _unaliased(item)
        return node

    def _named(self, node: exp.Expr, scalar: Scalar) -> Named:
        return Named(self.fresh(output_name(node)), scalar)

    # ---- aggregates --------------------------------------------------------------------------------

    def aggregate(self, node: exp.Expr, scalars: Scalars) -> AggregateCall | None:
        """An aggregate call, or None when the node is something else."""
        condition: Scalar | None = None
        outer = node
        if isinstance(node, exp.Filter):
            condition = scalars.condition(node.expression.this)
            node = node.this
        if not isinstance(node, exp.AggFunc):
            return None
        function = _AGGREGATES.get(type(node))
        extra = [key for key, value in node.args.items() if value and key not in ("this", "big_int")]
        if function is None or extra:
            raise refuse(
                "D253",
                f"{_function_name(node, self.text)} is not answered yet",
                self.span(outer),
                help="COUNT, SUM and AVG are answered, with FILTER and COUNT(DISTINCT unit)",
            )
        argument = node.this
        distinct = isinstance(argument, exp.Distinct)
        if distinct:
            if len(argument.expressions) != 1 or argument.args.get("on"):
                raise refuse(
                    "D253",
                    "DISTINCT over several columns is not answered",
                    self.span(outer),
                    help="count the units, or group by the columns",
                )
            argument = argument.expressions[0]
        if _has_aggregate(argument):
            raise refuse("D253", "an aggregate inside an aggregate", self.span(outer), help="use a subquery")
        star = isinstance(argument, exp.Star) or argument is None
        scalar = None if star else scalars.bind(argument)
        if function == "count_if":
            assert scalar is not None
            function, condition, scalar = "count", _both(condition, scalars.condition(argument)), None
        return AggregateCall("", function, scalar, distinct, condition, self.span(outer))

    def _per_unit(
        self,
        node: exp.Select,
        source: Private,
        items: list[exp.Expr],
        keys: list[tuple[exp.Expr, Named]],
        scalars: Scalars,
    ) -> Private:
        """GROUP BY with the unit among its keys: exact, one unit's rows at a time, and still private."""
        for key in ("order", "limit", "offset", "qualify"):
            if node.args.get(key):
                self._refuse_picking(node.args[key])
        owned = ownership_of(source.relation)
        assert isinstance(owned, Owned)

        def register(each: exp.Expr) -> AggregateCall | None:
            call = self.aggregate(each, scalars)
            if call is None:
                return None
            if call.distinct and call.function not in ("min", "max"):
                self._refuse_distinct(call)
            return call

        def refused(each: exp.Expr) -> exp.Expr:
            scalars.bind(each)
            return each

        turner = Released(self.text, "", scalars, keys, register, refused, self.fresh)
        turned = [turner.turn(_unaliased(each)) for each in items]
        having = node.args.get("having")
        kept = turner.turn(having.this) if having is not None else None
        self._groupable(keys, scalars)
        grouped = Aggregate(source.relation, tuple(named for _, named in keys), tuple(turner.calls))
        names = [named.name for _, named in keys] + [call.name for call in turner.calls]
        self._computable(grouped)
        inner = Scope(tuple(Visible("", each, Ref(each)) for each in names))
        over = Scalars(self.text, inner, facts_of(grouped), scalars.constants)
        base = grouped if kept is None else Filter(grouped, over.condition(kept))
        scalars_out = [over.bind(each) for each in turned]
        return self._selected(base, [output_name(each) for each in items], scalars_out)

    def _computable(self, grouped: Aggregate) -> None:
        """Every per-unit aggregate is one that can be computed exactly in any order of the rows."""
        facts = facts_of(grouped.input)
        for call in grouped.aggregates:
            argument = None if call.argument is None else fact_of(call.argument, facts)
            try:
                aggregates()[call.function].result(argument, rows_of(grouped.input))
                aggregates()[call.function].per_unit("x", argument)
            except Unbounded as finding:
                raise refuse(finding.code, finding.title, call.span, help=finding.help) from None

    def _selected(self, relation: Relation, names: list[str], scalars: list[Scalar]) -> Private:
        """A projection to these outputs, the hidden unit column always among them."""
        owned = ownership_of(relation)
        assert isinstance(owned, Owned)
        hidden = self.fresh(owned.unit)
        columns, visible = [Named(hidden, Ref(owned.unit))], []
        for name, scalar in zip(names, scalars, strict=True):
            if isinstance(scalar, Ref) and scalar.name in owned.units:
                visible.append(Visible("", name, Ref(hidden)))
                continue
            columns.append(Named(self.fresh(name), scalar))
            visible.append(Visible("", name, Ref(columns[-1].name)))
        return Private(Project(relation, tuple(columns)), Scope(tuple(visible)))

    def _refuse_distinct(self, call: AggregateCall) -> NoReturn:
        raise refuse(
            "D253",
            f"{call.function.upper()}(DISTINCT ...) is answered for the {self.known.unit} only",
            call.span,
            help=f"count the {self.known.unit}s: COUNT(DISTINCT ...) on the column that holds them",
        )

    def _groupable(self, keys: list[tuple[exp.Expr, Named]], scalars: Scalars) -> None:
        for node, named in keys:
            fact = fact_of(named.scalar, scalars.facts)
            if fact.type.kind not in _GROUPABLE:
                raise refuse(
                    "D205",
                    f"{fact.type.sql} values cannot be grouped",
                    self.span(node),
                    help="cast the column to text or a number first",
                )

    def _release(
        self,
        node: exp.Select,
        source: Private,
        items: list[exp.Expr],
        keys: list[tuple[exp.Expr, Named]],
        scalars: Scalars,
        env: Mapping[str, Cte],
        only_keys: bool,
    ) -> Open:
        """The release point: a Measure, and the rest of the SELECT over its released table."""
        owned = ownership_of(source.relation)
        assert isinstance(owned, Owned)
        self._groupable(keys, scalars)
        self._refuse_identity(source, keys)
        name = self.fresh("release")

        def register(each: exp.Expr) -> AggregateCall | None:
            call = self.aggregate(each, scalars)
            return None if call is None else self._released_call(call, owned)

        turner = Released(self.text, name, scalars, keys, register, self._subqueries(env), self.fresh)
        columns: list[str] = []
        turned: list[exp.Expr] = []
        for each in items:
            expression = turner.turn(_unaliased(each))
            columns.append(output_name(each))
            turned.append(exp.alias_(expression, columns[-1], quoted=True))
            if isinstance(each, exp.Alias):
                turner.aliases.add(each.alias.casefold())
        select = exp.Select(expressions=turned)
        select.set("from_", exp.From(this=exp.to_table(f'"{name}"', dialect="duckdb")))
        having = node.args.get("having")
        if having is not None:
            select.set("where", exp.Where(this=turner.turn(having.this)))
        for key in ("qualify", "order", "limit", "offset"):
            clause = node.args.get(key)
            if clause is not None:
                select.set(key, turner._children(clause))
        if node.args.get("windows"):
            raise refuse(
                "D252", "named windows are not answered yet", self.span(node), help="write OVER (...)"
            )
        distinct = node.args.get("distinct") is not None and not only_keys
        if distinct:
            select.set("distinct", exp.Distinct())
        margins: list[str | None] = []
        for each in list(select.expressions):
            half = None if distinct else margin(each, name, turner.calls)
            margins.append(None if half is None else self.fresh("margin"))
            if half is not None:
                select.append("expressions", exp.alias_(half, margins[-1], quoted=True))
        self.measures.append(
            Measure(
                name,
                source.relation,
                tuple(named for _, named in keys),
                tuple(turner.calls),
                self.span(node.args.get("group")) or self.span(node),
            )
        )
        return Open(select, tuple(columns), tuple(margins), released=True)

    def _released_call(self, call: AggregateCall, owned: Owned) -> AggregateCall:
        if call.function in ("min", "max"):
            raise refuse(
                "D253",
                f"{call.function.upper()} at the release point is not answered yet",
                call.span,
                label="the extreme value is one unit's exact value",
                help="ask for AVG, or count the rows above a limit: COUNT(*) FILTER (WHERE x > 100)",
            )
        if not call.distinct:
            return call
        if call.function == "count" and isinstance(call.argument, Ref) and call.argument.name in owned.units:
            return AggregateCall("", "count_units", None, True, call.condition, call.span)
        self._refuse_distinct(call)

    def _refuse_identity(self, source: Private, keys: list[tuple[exp.Expr, Named]]) -> None:
        secret = identifying(source.relation)
        for node, named in keys:
            if refs(named.scalar) & secret:
                raise refuse(
                    "D403",
                    f"this key tells one {self.known.unit} from another",
                    self.span(node),
                    label=f"every group would be about one {self.known.unit}",
                    help=f"group by something that many {self.known.unit}s share, and aggregate",
                )


# ---- small helpers -----------------------------------------------------------------------------------


def _has_aggregate(node: exp.Expr | None) -> bool:
    """Whether an aggregate of this SELECT stands here (not a window's own, not a subquery's)."""
    if node is None or isinstance(node, exp.Query):
        return False
    if isinstance(node, exp.Window):
        inner = node.this.this if isinstance(node.this, exp.IgnoreNulls | exp.RespectNulls) else node.this
        parts = [*inner.iter_expressions(), *(n for n in node.iter_expressions() if n is not node.this)]
        return any(_has_aggregate(each) for each in parts)
    if isinstance(node, exp.AggFunc | exp.Filter):
        return True
    return any(_has_aggregate(each) for each in node.iter_expressions())


def _common(first: Type, second: Type) -> Type | None:
    """The type of a UNION's column whose sides are numbers of different types."""
    if not (first.numeric and second.numeric):
        return None
    signed = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
    return BIGINT if first.sql in signed and second.sql in signed else DOUBLE


def _cast(side: Project, name: str, target: Type) -> Project:
    """The side with one of its columns cast (NULL where the value does not fit)."""
    columns = tuple(
        Named(each.name, Call("cast", (each.scalar,), target)) if each.name == name else each
        for each in side.columns
    )
    return Project(side.input, columns)


def _null_of_nulls(scalar: Scalar, private: frozenset[str]) -> bool:
    """Whether a scalar is NULL wherever all private columns are."""
    match scalar:
        case Ref(name):
            return name in private
        case Literal():
            return False
        case Call(function, arguments):
            strict = functions()[function].strict
            return strict and any(_null_of_nulls(each, private) for each in arguments)


def _reads(node: exp.Expr, name: str) -> bool:
    """Whether a CTE's body names the CTE itself."""
    return any(each.name.casefold() == name.casefold() for each in node.find_all(exp.Table))


def _unaliased(node: exp.Expr) -> exp.Expr:
    bare: exp.Expr = node.this if isinstance(node, exp.Alias) else node
    return bare


def _both(first: Scalar | None, second: Scalar) -> Scalar:
    return second if first is None else Call("and", (first, second))


def _function_name(node: exp.Expr, text: str) -> str:
    span = span_of(node, text)
    return text[span.start : span.end].split("(")[0].strip().upper() if span else type(node).__name__.upper()


def output_name(node: exp.Expr) -> str:
    """The name of an output column: its alias, its column's name, or the words as DuckDB names them."""
    if isinstance(node, exp.Alias):
        return node.alias
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return "count_star()"
    if isinstance(node, exp.Literal):
        return str(node.this)
    return str(node.sql(dialect="duckdb", normalize_functions="lower"))
