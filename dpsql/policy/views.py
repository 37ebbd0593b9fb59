"""The owner's views: queries with a name, written in the order in which they may use each other.

    [views.adults]
    sql = "SELECT * FROM patients WHERE age >= 18"

What the SQL says is looked at where queries are bound: that is ``bind.views``.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.policy.model import TableRule, ViewRule
from dpsql.policy.names import fold
from dpsql.policy.toml_keys import VIEW
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import regular_values


def read_views(section: Section, tables: Iterable[TableRule]) -> tuple[ViewRule, ...]:
    """Every [views.<name>], none of them called like a table."""
    section.distinct()
    names = {fold(each.name): each.name for each in tables}
    rules = []
    for name, each in section.tables():
        each.allow(VIEW)
        each.need(VIEW["sql"])
        if not name.strip() or not name.isprintable() or "." in name:
            raise section.wrong(
                name, "a view needs a plain name", on_key=True, help="one word, without a schema"
            )
        if fold(name) in names:
            raise section.wrong(
                name,
                f"there is a table called {names[fold(name)]}",
                on_key=True,
                label="a view needs a name of its own",
                help="analysts could not tell the view from the table: choose another name",
            )
        rules.append(ViewRule(name=name, line=section.line(name), **regular_values(each, VIEW)))
    return tuple(rules)
