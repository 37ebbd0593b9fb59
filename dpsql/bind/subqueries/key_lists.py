"""Public lists of the keys that a subquery is correlated with, so that its groups are known.

    FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand = 'Brand#23'
      AND l_quantity < (SELECT AVG(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)

    the groups of the subquery: SELECT DISTINCT p_partkey FROM part WHERE p_brand = 'Brand#23'

All keys of a small public table are a list. Of a larger one, those that the conditions around leave are, if
they are few: no other group is ever asked for. Keys that are columns of one row around have one list, of the
combinations that its table has.

Claim   the query around has the same rows, whether the subquery has groups beside the list or not. (A group
        of the list that has no rows is there, as in every list: its SUM is 0.)
Proof   The list leaves out keys of rows for which a part of WHERE is not true. All joins are inner joins, so
        such a row is in no result, whatever the subquery gives for it. The parts read columns of that table,
        and public rows beside them, and give the same for the same row, so they choose the same rows in the
        list as around it. A row around asks for keys of one row of its table: their combination is listed.
Test    tests/unit/test_narrowed_keys.py
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from sqlglot import exp

from dpsql.bind.private.conditions import parts_of
from dpsql.bind.private.items import Item
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries.evaluation import are_short, post_of
from dpsql.errors import Error
from dpsql.facts.origin import Origin
from dpsql.facts.ownership import FAN_OUT
from dpsql.facts.public_keys import MOST_GROUPS
from dpsql.ir.column import type_named
from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold

_SMALL = 1_000
"""All keys of a table of so many rows are a list."""

MOST_LISTED = MOST_GROUPS
"""A longer list of keys is no list: groups are released as if the keys were private."""

_MOST_LONG = 4
"""The most lists of more than ``FAN_OUT`` keys in a query: anybody may ask for plans, which hold them."""

_STEADY = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Tuple),
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Exists, exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Where, exp.Subquery),
)
"""What gives the same for the same row and the same public rows, and never fails."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A key that the subquery is asked for: the column of a table, and the item of FROM that it belongs to.

    Keys with the same ``row`` are columns of one row of that table.
    """

    origin: Origin | None
    alias: str | None
    row: Hashable = None


@dataclass(frozen=True, slots=True)
class ListedKeys:
    """The query of a list, a column for each of the keys at these places."""

    places: tuple[int, ...]
    query: exp.Select


@dataclass(frozen=True, slots=True)
class Narrowed:
    """An item of FROM that is a public table, and the parts of WHERE that read it alone."""

    table: str
    alias: str
    parts: tuple[exp.Expr, ...]


def narrowed_items(node: exp.Select, items: Sequence[Item]) -> tuple[Narrowed, ...]:
    """Return the public tables in FROM that WHERE makes smaller."""
    where = node.args.get("where")
    joins = node.args.get("joins") or ()
    if where is None or any(join.side or join.kind not in ("", "INNER", "CROSS") for join in joins):
        return ()
    names = [_names(item) for item in items]
    if any(each is None for each in names):
        return ()
    found = []
    for item, own in zip(items, names, strict=True):
        source = item.source
        if not isinstance(source, Open) or not isinstance(source.tree, exp.Table) or item.names:
            continue
        others = {name for each in names if each is not own for name in each or ()}
        parts = [
            part
            for part in parts_of(where.this)
            if _reads_alone(part, fold(item.alias), (own or frozenset()) - others)
        ]
        if parts:
            found.append(Narrowed(source.tree.name, item.alias, tuple(parts)))
    return tuple(found)


def _names(item: Item) -> frozenset[str] | None:
    """Return the folded names of an item's columns; None for what is no table or subquery."""
    if isinstance(item.source, Private):
        return frozenset(fold(column.name) for column in item.source.scope.columns)
    return frozenset(map(fold, item.columns)) if isinstance(item.source, Open) else None


def _reads_alone(part: exp.Expr, alias: str, names: frozenset[str]) -> bool:
    """Whether a part of WHERE reads columns of one item, and nothing else that could change.

    What a subquery reads is found when the list is bound, where there is no other item.
    """
    inner = {id(each) for query in part.find_all(exp.Select) for each in query.find_all(exp.Column)}
    columns = [each for each in part.find_all(exp.Column) if id(each) not in inner]
    return (
        bool(columns)
        and all(isinstance(node, _STEADY) for node in part.walk())
        and all(_is_asked_whether(node) for node in part.find_all(exp.Select))
        and all(fold(each.table) == alias if each.table else fold(each.name) in names for each in columns)
    )


def _is_asked_whether(inner: exp.Select) -> bool:
    """Whether a subquery is asked for no value: of several rows one would be chosen."""
    holder = inner.parent
    while isinstance(holder, exp.Subquery):
        holder = holder.parent
    return isinstance(holder, exp.In | exp.Exists)


def alias_of(scalar: Scalar, scope: Scope) -> str | None:
    """Return the alias of the item of FROM that a column belongs to; None where there is none, or several."""
    aliases = {column.qualifier for column in scope.columns if column.scalar == scalar}
    return aliases.pop() if len(aliases) == 1 else None


def key_lists_of(
    ctx: Context,
    env: Mapping[str, Cte],
    asked: Sequence[Asked],
    narrowed: Sequence[Narrowed],
    most: int = FAN_OUT,
) -> tuple[ListedKeys, ...]:
    """Return the lists of keys that have one; those of one row around have one list together.

    A list of whole numbers may have up to ``most`` keys, others ``FAN_OUT``.
    """
    rows: dict[Hashable, list[int]] = {}
    for place, each in enumerate(asked):
        if each.origin is not None and each.row is not None:
            rows.setdefault(each.row, []).append(place)
    alone, found = set(range(len(asked))), []
    for places in rows.values():
        several = len(places) > 1
        together = key_list(ctx, env, [asked[place] for place in places], narrowed, most) if several else None
        if together is not None:
            found.append(ListedKeys(tuple(places), together))
            alone -= set(places)
    for place in sorted(alone):
        listed = key_list(ctx, env, [asked[place]], narrowed, most)
        if listed is not None:
            found.append(ListedKeys((place,), listed))
    return tuple(found)


def key_list(
    ctx: Context,
    env: Mapping[str, Cte],
    asked: Sequence[Asked],
    narrowed: Sequence[Narrowed],
    most: int,
) -> exp.Select | None:
    """Return the query of all keys of public columns of one row, or of those that WHERE leaves, if few."""
    origins = [each.origin for each in asked if each.origin is not None]
    if len(origins) < len(asked) or origins[0][0].casefold() in env:
        return None
    table, columns, alias = origins[0][0], [column for _, column in origins], asked[0].alias
    known = ctx.known.table(table)
    if known is None or not known.public:
        return None
    if (known.size or 0) <= _SMALL:
        return _list_of(table, columns, table, ())
    for item in narrowed:
        if alias is not None and fold(item.alias) == fold(alias) and fold(item.table) == fold(table):
            listed = _list_of(table, columns, item.alias, item.parts)
            return listed if _are_few(ctx, env, listed, most) else None
    return None


def _list_of(table: str, columns: Sequence[str], alias: str, parts: Sequence[exp.Expr]) -> exp.Select:
    keys: list[exp.Expr] = [exp.Column(this=exp.to_identifier(name, quoted=True)) for name in columns]
    present = (exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null())) for key in keys)
    read = exp.to_table(table)
    if alias != table:
        read.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    listed = exp.Select(expressions=keys, distinct=exp.Distinct()).from_(read)
    return listed.where(exp.and_(*present, *(part.copy() for part in parts)))


def _are_few(ctx: Context, env: Mapping[str, Cte], listed: exp.Select, most: int) -> bool:
    """Whether a public list has at most so many keys: it is read, which costs nothing."""
    try:
        bound = ctx.query(listed.copy(), env)
        assert isinstance(bound, Open)
        post = post_of(ctx, bound.tree, bound.columns, (None,) * len(bound.columns))
        types, rows = ctx.evaluate(post.sql, post.tables, most)
    except Error:  # it takes too long: then nothing is known of it
        return False
    if len(rows) <= FAN_OUT:
        return True
    ctx.long_lists += 1
    return len(rows) <= most and ctx.long_lists <= _MOST_LONG and are_short([*map(type_named, types)])
