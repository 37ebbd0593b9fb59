"""sqlglot may be there in its compiled form (sqlglotc), whose classes allow no subclasses."""

from __future__ import annotations

from sqlglot import exp

import dpsql.bind
import dpsql.parse
from dpsql.shelf import modules


def classes(above: type) -> set[type]:
    return {above}.union(*map(classes, above.__subclasses__()))


def test_no_node_of_a_tree_is_of_a_class_of_our_own() -> None:
    for room in (dpsql.parse, dpsql.bind):
        assert list(modules(room.__name__, room.__path__))
    ours = [each for each in classes(exp.Expr) if each.__module__.startswith("dpsql")]
    assert ours == []
