"""Kinds of details: each a folder with all its parts, and a new one is answered with nothing else touched."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import math
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql import aggregates, audit, detail_kinds, details
from dpsql.audit import plan_of
from dpsql.audit.oracles import sensitivity
from dpsql.cli import main
from dpsql.detail_kinds import Kind
from dpsql.ir.detail import Detail

HERE = Path(dpsql.__file__).parent
KINDS = sorted(each.name for each in pkgutil.iter_modules(details.__path__) if each.ispkg)
PARTS = [field.name for field in dataclasses.fields(Kind)]


def test_all_kinds_are_known() -> None:
    """Add one, and name it here."""
    assert KINDS == ["blocks", "bound_search", "clip_search", "matching", "quantiles", "votes"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_all_its_parts(kind: str) -> None:
    """The same files in every folder, and in each what its Protocol asks for, with the same parameters."""
    files = {each.stem for each in (HERE / "details" / kind).glob("*.py")}
    assert files == {"__init__", "detail", *PARTS}
    assert "Kind" in names_in(HERE / "details" / kind / "__init__.py"), "mypy checks the parts of a Kind"
    for name, hint in inspect.get_annotations(Kind).items():
        protocol = getattr(detail_kinds, str(hint).partition("[")[0])
        part = importlib.import_module(f"dpsql.details.{kind}.{name}")
        for function, signature in vars(protocol).items():
            if function[0] != "_" and callable(signature):
                _, *parameters = inspect.signature(signature).parameters
                assert list(inspect.signature(getattr(part, function)).parameters) == parameters


@pytest.mark.parametrize("kind", KINDS)
def test_details_name_their_kind(kind: str) -> None:
    module = importlib.import_module(f"dpsql.details.{kind}.detail")
    (made,) = {
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Detail) and each is not Detail
    }
    assert made.kind == kind


def test_aggregates_name_kinds_that_there_are() -> None:
    answered = {name: rule.detail for name, rule in aggregates.shelf().items()}
    asked = {name for name, rule in aggregates.shelf().items() if aggregates.Need.DETAIL in rule.needs}
    assert {name for name, kind in answered.items() if kind} == asked
    assert {kind for kind in answered.values() if kind} == {*KINDS} - {"bound_search", "clip_search"}


# ---- exact numbers -------------------------------------------------------------------------------------


def names_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text())
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return words | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def test_exact_weights_are_read_where_they_may_be() -> None:
    """No part is given an exact table; weights are made in ``sql``, and released in ``release``.

    The owner's audit reads those of a bound.
    """
    files = [file for kind in KINDS for file in (HERE / "details" / kind).glob("*.py")]
    assert not [file for file in files if names_in(file) & {"ExactTable", "ExactExport"}]
    hot = {f"{file.parent.name}/{file.stem}" for file in files if "Masses" in names_in(file)}
    assert hot == {f"{kind}/{part}" for kind in KINDS for part in ("sql", "release")} | {
        "bound_search/audit",
        "clip_search/audit",
    }


def imported(tree: ast.Module, module: str) -> set[str]:
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == module)
    return {alias.name for node in found for alias in node.names}


def test_every_room_asks_for_its_own_part() -> None:
    """Exact numbers become released ones through ``dpsql/release`` alone."""
    rooms = dict(zip(PARTS, "rewrite plan engines release post explain audit".split(), strict=True))
    asking = {name: set[str]() for name in PARTS}
    for file in HERE.rglob("*.py"):
        text = file.read_text()
        tree = ast.parse(text if "detail_kinds" in text else "")
        if "part" not in imported(tree, "dpsql.detail_kinds"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "part":
                name = node.args[0]
                assert isinstance(name, ast.Constant), "a part is asked for by a word"
                asking[name.value].add(file.relative_to(HERE).parts[0])
    assert asking == {name: {room} for name, room in rooms.items()}


# ---- a sixth kind --------------------------------------------------------------------------------------

TALLY = {
    "__init__": "",
    "detail": '''
from dataclasses import dataclass
from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.scalar import Scalar


@dataclass(frozen=True, slots=True)
class Tally(Detail):
    """How many units have a value."""

    kind: ClassVar[str] = "tally"
    written: ClassVar[str] = "Tally argument condition"

    argument: Scalar
    condition: Scalar | None

    @property
    def width(self):
        return 1
''',
    "measure": """
from dpsql.details.tally.detail import Tally


def made(measure, calls, bounds):
    return Tally(calls[0].argument, calls[0].condition), {calls[0]: (0,)}
""",
    "plan": '''
from dpsql.ir.plan import DetailPlan, Noise
from dpsql.mechanisms import mechanism


def planned(detail, measure, rows, groups, share, ask):
    """A unit counts once in each of its groups."""
    assert groups is not None
    laplace = mechanism("laplace")
    scale = laplace.scale_for(groups, 1 / ask(share).laplace)
    event = laplace.event(groups, scale, None, None)
    return DetailPlan(detail, 0, groups, (event,), Noise("laplace", laplace.NORM, groups, scale, event))


def own_rows(detail):
    return 0
''',
    "sql": """
import numpy as np

from dpsql.detail_kinds import Reads
from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import key_sql, relation_sql, scalar_sql
from dpsql.facts.ownership import ownership_of


def reads(planned, detail_plan, dialect=None):
    m = planned.measure
    unit, value = quote(ownership_of(m.relation).unit), scalar_sql(detail_plan.detail.argument, m.relation)
    keys = "".join(f"{key_sql(key.scalar, m.relation)} AS k{i}, " for i, key in enumerate(m.keys))
    rows = f"SELECT {keys}{unit} AS u FROM ({relation_sql(m.relation)}) WHERE {value} IS NOT NULL"
    names = "".join(f"k{i}, " for i in range(len(m.keys)))
    by = f" GROUP BY {names[:-2]}" if names else ""
    return Reads(rows=(f"SELECT {names}count(DISTINCT u) FROM ({rows}){by}",))


def weights(planned, detail_plan, arrays, rows, group):
    return {group(row): (np.zeros(1, np.int64), np.array([row[-1]], np.int64)) for row in rows[0]}
""",
    "release": """
import numpy as np

from dpsql.release.groups import plain


def released(detail_plan, weights, groups, draw, choose):
    held = {plain(group): int(found.sum()) for group, (_, found) in weights.items()}
    counts = np.array([held.get(plain(group), 0) for group in groups], dtype=np.int64)
    return (counts + draw(detail_plan.noise, len(groups))).reshape(-1, 1)
""",
    "finish": """
import numpy as np

from dpsql.ir.finished import Finished
from dpsql.mechanisms import mechanism


def column(finish, planned, detail_plan, released, first):
    numbers = released.sums[:, first]
    half = np.full(len(numbers), reach(detail_plan, 0.95))
    return Finished(finish.call.name, finish.type, numbers.tolist(), half, numbers - half, numbers + half)


def reach(detail_plan, confidence):
    return mechanism(detail_plan.noise.mechanism).half_width(detail_plan.noise.scale, confidence)


def note(detail_plans, unit):
    return f"TALLY counts every {unit} once."
""",
    "explain": """
from dpsql.explain.columns import noise_facts
from dpsql.explain.words import noise_words


def facts(finish, planned, detail_plan):
    return {"sensitivity": float(detail_plan.sensitivity), **noise_facts(detail_plan.noise)}


def words(column, unit):
    return [f"every {unit} counts once", *noise_words(column)]
""",
    "audit": """
def coarseness(detail):
    return 0.0
""",
}

RULE = """
from dpsql.aggregates import Need, Rule
from dpsql.ir.column import ANYTHING, BIGINT, Fact


class Tally(Rule):
    name = "tally"
    needs = (Need.DETAIL,)
    detail = "tally"

    def result(self, argument, rows, *others):
        return Fact(BIGINT, ANYTHING, nullable=False)

    def per_unit(self, argument, fact, over="", *others):
        raise AssertionError("no test asks for it")


RULES = (Tally(),)
"""


MADE = ("dpsql.details.tally", "dpsql.aggregates.tally")


@pytest.fixture
def tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A kind in a folder of its own, and an aggregate in a file of its own."""
    (tmp_path / "kinds" / "tally").mkdir(parents=True)
    for name, text in TALLY.items():
        (tmp_path / "kinds" / "tally" / f"{name}.py").write_text(text)
    (tmp_path / "aggregates").mkdir()
    (tmp_path / "aggregates" / "tally.py").write_text(RULE)
    monkeypatch.setattr(details, "__path__", [*details.__path__, str(tmp_path / "kinds")])
    monkeypatch.setattr(aggregates, "__path__", [*aggregates.__path__, str(tmp_path / "aggregates")])
    caches = (aggregates.shelf, aggregates.by_name, aggregates.by_node)
    for cache in caches:
        cache.cache_clear()
    yield
    for name in [each for each in sys.modules if each.startswith(MADE)]:
        del sys.modules[name]
    for package in (details, aggregates):
        vars(package).pop("tally", None)
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


BY_WARD = "SELECT ward, TALLY(age) AS n, COUNT(*) AS rows FROM patients GROUP BY ward ORDER BY ward"


def test_a_new_kind_is_answered(tally: None, db: dpsql.Connection) -> None:
    """Its count is off by so much once in 10^10 at most: three draws, exp(-reach / scale) each."""
    (planned,) = plan_of(db._open(), BY_WARD, 4.0).measures[0].details
    assert planned.noise is not None
    answer = db.execute(BY_WARD, epsilon=4.0)
    reach = planned.noise.scale * math.log(3e10) + 1
    found = {ward: n for ward, n, _ in answer.fetchall()}
    assert found.keys() == {"A", "B", "C"}
    assert all(abs(found[ward] - true) <= reach for ward, true in (("A", 120), ("B", 120), ("C", 0)))
    again = db.execute(BY_WARD, epsilon=4.0)
    assert {ward: n for ward, n, _ in again.fetchall()} == found, "a repeat is the same answer"


def test_a_new_kind_is_explained_and_audited(
    tally: None, db: dpsql.Connection, clinics: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = str(db.explain(BY_WARD))
    assert "tally BIGINT; every patient counts once; laplace; sensitivity 1" in said
    assert "count(DISTINCT u)" in said
    _, exact = audit.measure(db, BY_WARD)
    assert exact.rows == {("A", 0): (120,), ("B", 0): (120,)}
    assert [(each.mechanism, each.sensitivity) for each in exact.noises] == [("laplace", 1)]
    with dpsql.connect(
        clinics / "neighbour" / "clinic.duckdb", ledger=tmp_path / "neighbour.ledger"
    ) as neighbour:
        plan, without = plan_of(db._open(), BY_WARD, 1.0), neighbour._open()
        assert not sensitivity(plan, db._open().engine, [("patient 1", without.engine)])
    (tmp_path / "questions.sql").write_text(BY_WARD)
    clinic = clinics / "clinic" / "clinic.duckdb"
    words = ["audit", str(clinic), str(tmp_path / "questions.sql"), "--units", "3", "--trials", "100"]
    assert main(words) == 0
    assert "tally" in capsys.readouterr().out
