"""Queries with something in them that must be refused: raw rows, joins off the unit, the unit as a key...

A legal query is drawn first and then spoilt. What is spoilt may happen to be answered all the same (the
window stood over a subquery that is a release, say): then it is judged like any other query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsql.fuzz.printing import Hand
from dpsql.fuzz.queries import Queries, Query
from dpsql.fuzz.relations import Join, Project, Table, Tree, Trees, Union, unit_of
from dpsql.fuzz.scalars import SHOWN
from dpsql.fuzz.schemas import Sort
from drawn.tables import PRIVATE, PUBLIC

Spoiler = Callable[["Draw"], str]


class Draw:
    """What a spoiler works with."""

    def __init__(self, queries: Queries) -> None:
        self.queries, self.rng, self.expressions = queries, queries.rng, queries.expressions
        self.trees = Trees(self.rng, self.expressions)

    def text(self) -> str:
        return self.queries.draw().printed(self.rng)

    def tree(self, most: int = 2) -> Tree:
        return self.trees.draw(self.rng.randint(0, most))

    def over(self, tree: Tree, call: str = "COUNT(*)", keys: tuple[str, ...] = (), where: str = "") -> str:
        return Query(tree, where, keys, (call,), "", tuple(self.trees.subs)).printed(self.rng)

    def value(self, tree: Tree, *sorts: Sort) -> str:
        return self.expressions.draw(tree.columns, self.rng.choice(sorts or SHOWN), 1)


# ---- text, names and types ---------------------------------------------------------------------------


def not_sql(d: Draw) -> str:
    text = d.text()
    return d.rng.choice(
        (text.replace("SELECT", "SELEC", 1), text + ")", text.replace("FROM", "FROM FROM", 1))
    )


def two_statements(d: Draw) -> str:
    return f"{d.text()}; {d.rng.choice((d.text(), 'DROP TABLE patients'))}"


def too_deep(d: Draw) -> str:
    depth = d.rng.choice((150, 400, 3000))
    return (
        f"SELECT COUNT(*) FROM patients WHERE {'(' * depth}{d.rng.choice(('age > 3', 'smoker'))}{')' * depth}"
    )


def other_statement(d: Draw) -> str:
    table = d.rng.choice(tuple(PRIVATE))
    return d.rng.choice(
        (f"DELETE FROM {table}", f"CREATE TABLE copied AS {d.text()}", f"DROP TABLE {table}",
         f"COPY ({d.text()}) TO 'out.csv'", f"INSERT INTO {table} {d.text()}", "SET threads = 1")
    )  # fmt: skip


def unread_syntax(d: Draw) -> str:
    sample = f"SELECT COUNT(*) FROM {d.rng.choice(tuple(PRIVATE))} TABLESAMPLE 10%"
    return d.rng.choice(
        (sample, f"{d.text()} USING SAMPLE 5", f"SELECT {d.text().removeprefix('SELECT')} FOR UPDATE")
    )


def a_parameter(d: Draw) -> str:
    tree = d.tree()
    return d.over(tree, where=f"{d.value(tree, Sort.INTEGER)} > ?")


def no_table(d: Draw) -> str:
    name = d.rng.choice(
        ("patient", "staff", "orders", "visits_old", "information_schema.tables", "'patients.csv'")
    )
    return d.over(
        Table(name, (d.trees.fresh(Sort.INTEGER, name="age"), d.trees.fresh(Sort.TEXT, name="ward")))
    )


def no_column(d: Draw) -> str:
    tree = d.trees.table(PRIVATE[d.rng.choice(tuple(PRIVATE))])
    wrong = d.trees.fresh(Sort.INTEGER, True, d.rng.choice(("agee", "notes", "rowid", "costs")))
    return d.over(Table(tree.name, (*tree.columns, wrong)), f"COUNT({wrong.token})")


def two_meanings(d: Draw) -> str:
    name = d.rng.choice(("patient_id", "patient_id", "kind", "cost"))
    both = "visits a JOIN visits b ON a.patient_id = b.patient_id"
    return f"SELECT COUNT({name}) FROM {both} WHERE {name} IS NOT NULL"


def no_function(d: Draw) -> str:
    tree = d.tree()
    return d.over(tree, f"SUM({d.rng.choice(('average', 'rond', 'isodd', 'flor'))}({d.value(tree)}))")


def wrong_types(d: Draw) -> str:
    tree = d.tree()
    number, text, date = (d.value(tree, sort) for sort in (Sort.INTEGER, Sort.TEXT, Sort.DATE))
    wrong = (f"SUM({number} + {text})", f"AVG({date})", f"COUNT_IF({number} > {date})", f"SUM({text})",
             f"COUNT_IF({number} LIKE 'a%')", f"COUNT(year({text}))")  # fmt: skip
    return d.over(tree, d.rng.choice(wrong))


def unvetted(d: Draw) -> str:
    tree = d.tree()
    text, number = d.value(tree, Sort.TEXT), d.value(tree, Sort.INTEGER)
    names = (f"error({text})", f"hash({number})", f"sleep_ms({number})", "random()",
             f"repeat({text}, {number})", "current_setting('threads')", f"[{number}]")  # fmt: skip
    return d.over(tree, f"COUNT({d.rng.choice(names)})")


# ---- clauses -----------------------------------------------------------------------------------------


def rows_picked(d: Draw) -> str:
    """LIMIT, OFFSET and joins by position over several units' rows."""
    inner, _ = Hand(d.rng, d.trees.subs).select(d.tree(1), frozenset())
    table = d.rng.choice(("visits", "patients"))
    number = d.rng.randint(1, 9)
    return d.rng.choice(
        (
            f"SELECT COUNT(*) FROM (SELECT * FROM {table} ORDER BY 1 LIMIT {number}) AS s",
            f"SELECT COUNT(*) FROM (SELECT * FROM ({inner}) AS i LIMIT {number}) AS s",
            f"SELECT COUNT(*) FROM (SELECT * FROM {table} OFFSET {number}) AS s",
            f"SELECT COUNT(*) FROM {table} AS a POSITIONAL JOIN patients AS b",
        )
    )


def raw_aggregate(d: Draw) -> str:
    tree = d.tree()
    name = d.rng.choice(("first", "any_value", "list", "string_agg", "arg_max", "last", "array_agg"))
    value = d.value(tree, Sort.TEXT)
    rest = {"string_agg": ", ','", "arg_max": f", {d.value(tree, Sort.INTEGER)}"}.get(name, "")
    return d.over(tree, f"{name}({value}{rest})")


def window_of_many(d: Draw) -> str:
    tree = d.tree()
    number = d.value(tree, Sort.INTEGER)
    part = d.rng.choice(("", f"PARTITION BY {d.value(tree, Sort.TEXT)} "))
    call = d.rng.choice(
        ("ROW_NUMBER()", f"SUM({number})", f"MAX({number})", "COUNT(*)", "RANK()", f"LAG({number})")
    )
    text = f"{call} OVER ({part}ORDER BY {number})"
    new = d.trees.fresh(Sort.INTEGER)
    return d.over(Project(tree, (*d.trees.items(tree, 1), (new, text))), f"COUNT({new.token})")


def subquery_of_many(d: Draw) -> str:
    tree = d.tree(1)
    inner = d.rng.choice(("SELECT AVG(v.age) FROM patients AS v", "SELECT v.age FROM patients AS v"))
    number = d.value(tree, Sort.INTEGER)
    return d.over(tree, where=d.rng.choice(
        (f"{number} IN (SELECT v.minutes FROM visits AS v)",
         f"{number} NOT IN (SELECT v.age FROM patients AS v)",
         f"EXISTS (SELECT 1 FROM visits AS v WHERE v.minutes = {number})", f"{number} > ANY ({inner})",
         f"{number} > (SELECT MAX(v.minutes) FROM visits AS v WHERE v.kind = {d.value(tree, Sort.TEXT)})")
    ))  # fmt: skip


# ---- bounds ------------------------------------------------------------------------------------------


def no_bound(d: Draw) -> str:
    tree = d.trees.on_unit(1) if d.rng.random() < 0.5 else d.trees.table(PRIVATE["patients"])
    score = next((each.token for each in tree.columns if each.name == "score"), "1e0")
    wide = (score, f"({score} + 1)", f"coalesce({score}, 0)", f"exp({d.value(tree, Sort.INTEGER)})")
    return d.over(tree, f"{d.rng.choice(('SUM', 'AVG'))}({d.rng.choice(wide)})")


def no_rows_per_unit(d: Draw) -> str:
    seconds = d.rng.choice(("COUNT(*)", "SUM(seconds)", "AVG(seconds)", "COUNT(called_at)"))
    table = d.rng.choice(("calls", "calls JOIN patients USING (patient_id)"))
    return f"SELECT {seconds} FROM {table}"


def far_fan_out(d: Draw) -> str:
    tree = d.tree(1)
    size = d.rng.choice((10_001, 20_000, 3_000_000))
    series = Table(f"range({size})", (d.trees.fresh(Sort.INTEGER, name="range"),), public=True)
    return d.over(d.trees.joined("INNER", tree, series, ["true"]))


def beyond_grid(d: Draw) -> str:
    tree = d.tree(1)
    number = d.value(tree, Sort.INTEGER)
    return d.over(
        tree, f"SUM(LEAST(GREATEST({number}, {d.rng.choice((0, -1))}), 1) * 1e{d.rng.randint(301, 305)})"
    )


def private_key(d: Draw) -> str:
    """Refused where the policy has no delta."""
    tree = d.trees.table(PRIVATE["patients"])
    return d.over(tree, keys=(d.value(tree, Sort.TEXT),))


# ---- ownership ---------------------------------------------------------------------------------------


def off_the_unit(d: Draw) -> str:
    left, right = d.tree(1), d.tree(1)
    sort = d.rng.choice((Sort.INTEGER, Sort.TEXT, Sort.DATE))
    on = f"{d.value(left, sort)} {d.rng.choice(('=', '<', '<>'))} {d.value(right, sort)}"
    ours, theirs = unit_of(left), unit_of(right)
    if ours is not None and theirs is not None and d.rng.random() < 0.5:
        equal = f"{ours.token} = {theirs.token}"
        on = d.rng.choice((f"{equal} OR {on}", f"{ours.token} + 1 = {theirs.token}", f"NOT ({equal})"))
    return d.over(Join(d.trees.kind(), left, right, (on,), (*left.columns, *right.columns)))


def raw_rows(d: Draw) -> str:
    tree = d.tree()
    select, _ = Hand(d.rng, d.trees.subs).select(Project(tree, d.trees.items(tree)), frozenset())
    value = d.value(tree)
    return d.rng.choice(
        (select, f"{select} LIMIT 5", f"{d.over(tree, value)}", d.over(tree, f"COUNT(*), {value}"))
    )


def unit_shown(d: Draw) -> str:
    tree = d.tree()
    column = d.expressions.column(tree.columns, Sort.UNIT, Sort.IDENTITY)
    if column is None:
        return "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id"
    one = column.token
    forms = (one, one, f"{one} % 2", f"CAST({one} AS VARCHAR)", f"{one} = 3", f"coalesce({one}, 0)")
    return d.over(tree, keys=(d.rng.choice(forms),))


def public_kept(d: Draw) -> str:
    """A public table on the kept side, and aggregates that see the rows which nobody has."""
    public = d.trees.table(PUBLIC[d.rng.choice(("places", "wards", "tariffs"))], public=True)
    private = d.tree(1)
    one, other = d.value(public, Sort.TEXT), d.value(private, Sort.TEXT)
    kind = d.rng.choice(("LEFT", "RIGHT"))
    sides = (public, private) if kind == "LEFT" else (private, public)
    columns = (*sides[0].columns, *sides[1].columns)
    return d.over(
        Join(kind, *sides, (f"{one} = {other}",), columns), keys=(one,) if d.rng.random() < 0.5 else ()
    )


def public_chosen(d: Draw) -> str:
    table, column, other = d.rng.choice(
        (
            ("places", "place_id", "SELECT v.place_id FROM visits AS v"),
            ("wards", "ward", "SELECT p.ward FROM patients AS p"),
        )
    )
    word = d.rng.choice(("", "NOT "))
    exists = f"{word}EXISTS ({other} WHERE {other.split()[1]} = w.{column})"
    where = d.rng.choice((exists, f"w.{column} {word}IN ({other})"))
    kept = f"SELECT w.{column} FROM {table} AS w WHERE {where}"
    join = d.rng.choice(("SEMI", "ANTI"))
    joined = f"SELECT w.{column} FROM {table} AS w {join} JOIN visits AS v ON w.{column} = v.kind"
    return kept if table == "places" or d.rng.random() < 0.5 else joined


def sets_apart(d: Draw) -> str:
    """Set operations without the unit on both sides."""
    left = d.tree(1)
    right: Tree = d.tree(1) if d.rng.random() < 0.6 else d.trees.table(PUBLIC["places"], public=True)
    sides = []
    for tree in (left, right):
        items = tuple((d.trees.fresh(sort), d.value(tree, sort)) for sort in (Sort.INTEGER, Sort.TEXT))
        sides.append(Project(tree, items))
    text = d.over(Union(*sides))
    words = ("UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
    return text.replace("UNION ALL", d.rng.choice(words), 1)


SPOILERS: tuple[Spoiler, ...] = (
    not_sql, two_statements, too_deep, other_statement, unread_syntax, a_parameter, no_table, no_column,
    two_meanings, no_function, wrong_types, unvetted, rows_picked, raw_aggregate, window_of_many,
    subquery_of_many, no_bound, no_rows_per_unit, far_fan_out, beyond_grid, private_key, off_the_unit,
    raw_rows, unit_shown, public_kept, public_chosen, sets_apart,
)  # fmt: skip


def spoilt(queries: Queries) -> Iterator[str]:
    """Each kind as often as any other."""
    while True:
        for spoiler in queries.rng.sample(SPOILERS, len(SPOILERS)):
            yield spoiler(Draw(queries))
