"""Policy -> the text of its file: what ``read_policy`` reads back, with a word beside what is not plain.

[budget]    # of all analysts together, for good
epsilon = 1.0
delta = 1e-06
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.policy import toml_spelling
from dpsql.policy.file_rules import file_lines
from dpsql.policy.limits import limits_lines
from dpsql.policy.model import MEGABYTES, ColumnRule, Policy, TableRule
from dpsql.policy.names import fold


def compose(policy: Policy, introduction: str) -> str:
    """The text of a policy, from what it says; its own text is not looked at."""
    return "\n".join([f"# {introduction}", *_lines(policy), ""])


def _lines(policy: Policy) -> Iterator[str]:
    word, budget, query = toml_spelling.quoted(policy.unit.name), policy.budget, policy.query
    if policy.timezone != "UTC":
        yield f"timezone = {toml_spelling.quoted(policy.timezone)}"
    yield "[budget]    # of all analysts together, for good"
    yield f"epsilon = {budget.epsilon!r}"
    if budget.delta:
        yield f"delta = {budget.delta!r}"
    yield f"accountant = {toml_spelling.quoted(budget.accountant)}"
    yield ""
    yield "[query]"
    yield f"epsilon = {query.epsilon!r}    # what a query costs that names no price"
    yield f"max_epsilon = {query.max_epsilon!r}    # the most that one may cost"
    if query.min_epsilon is not None:
        yield f"min_epsilon = {query.min_epsilon!r}    # the least that one may cost"
    if not query.find_bounds:
        yield "find_bounds = false    # what is left out below is not found privately"
    if query.min_units > 1:
        yield f"min_units = {query.min_units}    # smaller groups are hidden, unless their keys are listed"
    yield from limits_lines(policy.limits)
    for analyst in policy.analysts:
        yield f"\n[analysts.{toml_spelling.key(analyst.name)}]"
        yield f"epsilon = {analyst.epsilon!r}"
        if analyst.megabytes != MEGABYTES:
            yield f"megabytes = {analyst.megabytes!r}    # of the ledger, at most"
    yield "\n[unit]    # whom the promise protects"
    yield f"name = {word}"
    yield f"table = {toml_spelling.quoted(policy.unit.table)}"
    yield f"key = {toml_spelling.quoted(policy.unit.key)}"
    if policy.unit.about is not None:
        yield f"about = {policy.unit.about}    # so many there are, roughly"
    for table in policy.tables:
        yield from _table(table, own=fold(table.name) == fold(policy.unit.table))
    for view in policy.views:
        yield f"\n[views.{toml_spelling.key(view.name)}]"
        yield f"sql = {toml_spelling.quoted(view.sql)}"


def _table(table: TableRule, own: bool) -> Iterator[str]:
    name = toml_spelling.key(table.name)
    yield f"\n[tables.{name}]"
    if table.public:
        yield "public = true"
    yield from file_lines(table)
    if table.unit is not None:
        path = f"column = {toml_spelling.quoted(table.unit.column)}"
        if table.unit.references is not None:
            path += f", references = {toml_spelling.quoted('.'.join(table.unit.references))}"
        yield f"unit = {{ {path} }}"
    if table.rows_per_unit is not None:
        yield f"rows_per_unit = {table.rows_per_unit}    # where the clipping of one unit's rows starts"
    elif not (table.public or own):
        yield "# rows_per_unit is found privately by the first query that needs it"
    if table.key:
        yield f"key = [{', '.join(map(toml_spelling.quoted, table.key))}]"
    if table.columns:
        yield f"\n[tables.{name}.columns]"
        yield from map(_column, table.columns)


def _column(column: ColumnRule) -> str:
    said = [] if column.type is None else [f"type = {toml_spelling.quoted(column.type)}"]
    if column.range is not None:
        said.append(f"range = [{', '.join(map(toml_spelling.value, column.range))}]")
    elif column.values is not None:
        said.append(f"values = [{', '.join(map(toml_spelling.value, column.values))}]")
    return f"{toml_spelling.key(column.name)} = {'{ ' + ', '.join(said) + ' }' if said else '{}'}"
