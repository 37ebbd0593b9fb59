"""Views of the policy: named queries, each of which may use the views above it.

    [views.adults]
    sql = "SELECT * FROM patients WHERE age >= 18"

The SQL is checked when queries are bound: see ``bind.views``.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.policy.model import TableRule, ViewRule
from dpsql.policy.names import fold
from dpsql.policy.toml_keys import VIEW
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import regular_values


def read_views(section: Section, tables: Iterable[TableRule]) -> tuple[ViewRule, ...]:
    """Read every [views.<name>]; none may have the name of a table."""
    section.distinct()
    names = {fold(table.name): table.name for table in tables}
    rules = []
    for name, view in section.tables():
        view.allow(VIEW)
        view.need(VIEW["sql"])
        if not name.strip() or not name.isprintable() or "." in name:
            raise section.wrong(
                name, "a view needs a plain name", on_key=True, help="use one word, without a schema"
            )
        if fold(name) in names:
            raise section.wrong(
                name,
                f"there is a table called {names[fold(name)]}",
                on_key=True,
                label="a view needs a name of its own",
                help="analysts could not tell the view from the table: choose another name",
            )
        rules.append(ViewRule(name=name, line=section.line(name), **regular_values(view, VIEW)))
    return tuple(rules)
