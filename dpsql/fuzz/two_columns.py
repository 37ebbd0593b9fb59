"""A query of units of one column, as it is written where a second column, ``club``, is part of the unit.

    USING (patient_id)                          USING (patient_id, club)
    s.c1 = v.patient_id                         s.c1 = v.patient_id AND s.c1_too = v.club
    PARTITION BY v.patient_id                   PARTITION BY v.patient_id, v.club
    SELECT v.patient_id AS c1 ... GROUP BY 1    SELECT v.patient_id AS c1, ..., v.club ... GROUP BY 1, v.club
    COUNT(DISTINCT s.c1)                        COUNT(DISTINCT (s.c1, s.c1_too))
    s.c1 IN (SELECT v.patient_id ...)           (s.c1, s.c1_too) IN (SELECT v.patient_id, v.club ...)

Column names of drawn queries are unique, so a name tells whether a column is the unit. Some places are left
as they are, at random: what joins, groups or counts by one of the columns is then refused, or answered as
what it says.
"""

from __future__ import annotations

import random
import re
import zlib

import sqlglot
from sqlglot import exp

LEFT = 0.05
"""How often a place is left as it is."""

_OPTIONS = re.compile(r"OPTIONS\([^)]*\) ")


def by_two_columns(sql: str, one: str, too: str) -> str:
    """The query where ``one`` and ``too`` are the unit together; as it is if it cannot be read."""
    options = _OPTIONS.findall(sql)
    marked = sql
    for place, each in enumerate(options):
        marked = marked.replace(each, f"'option {place}' AS option{place}, ", 1)
    try:
        tree = sqlglot.parse_one(marked, read="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):  # of those that are drawn to be refused
        return sql
    _Twins(tree, random.Random(zlib.crc32(sql.encode())), one, too).write()
    written = tree.sql(dialect="duckdb")
    for place, each in enumerate(options):
        written = written.replace(f"'option {place}' AS option{place}, ", each, 1)
    return written


class _Twins:
    def __init__(self, tree: exp.Expr, rng: random.Random, one: str, second: str) -> None:
        self.tree, self.rng, self.one, self.second = tree, rng, one, second
        self.units = {one}
        found = 0
        while len(self.units) > found:
            found = len(self.units)
            for alias in tree.find_all(exp.Alias):
                if self.is_unit(alias.this):
                    self.units.add(alias.alias)
            for table in tree.find_all(exp.Subquery):
                self.units |= {name for name, each in _called(table) if self.is_unit(each)}

    def is_unit(self, node: object) -> bool:
        node = node.this if isinstance(node, exp.Alias) else node
        return isinstance(node, exp.Column) and node.name in self.units

    def too(self, column: exp.Expr) -> exp.Expr:
        """The other column of the unit, beside this one."""
        assert isinstance(column, exp.Column)
        return exp.column(self._too(column.name), column.table or None)

    def write(self) -> None:
        """Change all places; what is added is not looked at again."""
        nodes = list(self.tree.walk())
        for node in nodes:
            if self.rng.random() >= LEFT:
                self._change(node)

    def _change(self, node: exp.Expr) -> None:
        match node:
            case exp.EQ() if self.is_unit(node.this) and self.is_unit(node.expression):
                same = exp.EQ(this=self.too(node.this), expression=self.too(node.expression))
                node.replace(exp.paren(exp.and_(node.copy(), same, wrap=False)))
            case exp.Join() if node.args.get("using"):
                named = [each for each in node.args["using"] if each.name in self.units]
                node.args["using"] += [exp.to_identifier(self._too(each.name)) for each in named]
            case exp.In() if self.is_unit(node.this) and node.args.get("query") is not None:
                self._in(node)
            case exp.Window() if node.args.get("partition_by"):
                node.args["partition_by"] += [
                    self.too(each) for each in node.args["partition_by"] if self.is_unit(each)
                ]
            case exp.Distinct() if isinstance(node.parent, exp.Count) and len(node.expressions) == 1:
                [counted] = node.expressions
                if self.is_unit(counted):
                    node.set("expressions", [exp.Tuple(expressions=[counted.copy(), self.too(counted)])])
            case exp.Select() if node.parent is not None:
                self._select(node)
            case exp.TableAlias() if node.columns:
                named = [each for each in node.columns if each.name in self.units]
                node.args["columns"] += [exp.to_identifier(self._too(each.name)) for each in named]

    def _in(self, node: exp.In) -> None:
        query = (
            node.args["query"].this if isinstance(node.args["query"], exp.Subquery) else node.args["query"]
        )
        if (
            isinstance(query, exp.Select)
            and len(query.expressions) == 1
            and self.is_unit(query.expressions[0])
        ):
            if not isinstance(query.expressions[0], exp.Alias):
                query.append("expressions", self.too(query.expressions[0]))
            node.set("this", exp.Tuple(expressions=[node.this.copy(), self.too(node.this)]))

    def _select(self, select: exp.Select) -> None:
        units = [each for each in select.expressions if isinstance(each, exp.Alias) and self.is_unit(each)]
        group = select.args.get("group")
        for each in units:
            select.append("expressions", exp.alias_(self.too(each.this), self._too(each.alias)))
            if group is not None and group.expressions:
                group.append("expressions", self.too(each.this))

    def _too(self, name: str) -> str:
        return self.second if name == self.one else f"{name}_too"


def _called(table: exp.Subquery) -> list[tuple[str, exp.Expr]]:
    """The names that an alias list gives to columns."""
    alias = table.args.get("alias")
    select = table.this
    while isinstance(select, exp.Union):
        select = select.this
    if alias is None or not alias.columns or not isinstance(select, exp.Select):
        return []
    return list(zip((each.name for each in alias.columns), select.expressions, strict=False))
