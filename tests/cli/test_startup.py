"""What is not loaded before it is needed, looked at in processes of their own. How fast is not asked here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpsql

CODE = """
import json, sys
from contextlib import suppress
with suppress(SystemExit):  # --help and --version exit
    if len(sys.argv) == 1:
        import dpsql
    else:
        from dpsql.cli import main
        main()
sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""

NEVER = {
    *("mpmath", "pandas", "polars", "pyarrow", "matplotlib", "sqlalchemy", "prompt_toolkit", "asyncio"),
    *("numpy.random", "numpy.typing", "numpy.ma", "sqlglot.optimizer.annotate_types", "sqlglot.executor"),
    *("concurrent.futures", "http", "xml", "unittest", "pydoc"),
}
"""What no question on the command line needs."""

ENGINES = {"numpy", "duckdb", "_duckdb", "sqlglot", "sqlite3", "tomllib"}
"""What reads files and text, and what computes."""


def loaded(*words: str | Path) -> tuple[set[str], str]:
    """The modules of a fresh process after it has done what these words say, and its standard output."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, words)], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1])), done.stdout


def rooms(modules: set[str]) -> set[str]:
    return {each.split(".")[1] for each in modules if each.startswith("dpsql.")}


def test_import_loads_no_engine() -> None:
    modules, _ = loaded()
    assert "dpsql.dbapi" in modules
    assert not modules & (NEVER | ENGINES)
    assert rooms(modules) <= {"answer", "dbapi", "errors", "ir", "lazy_dataclass", "render"}


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["query", "--help"], ["policy", "check", "--help"]]
)
def test_help_loads_no_engine(words: list[str]) -> None:
    modules, said = loaded(*words)
    assert "dpsql" in said
    assert not modules & (NEVER | ENGINES)
    assert not rooms(modules) & {"bind", "parse", "plan", "release", "engines", "policy", "session"}


def test_a_query_loads_what_it_needs(clinic: Path) -> None:
    modules, said = loaded("query", clinic, "--format", "csv", "-c", "SELECT COUNT(*) AS n FROM patients")
    assert said.startswith("n\n")
    assert {"numpy", "sqlglot", "dpsql.release.release"} <= modules
    assert not modules & NEVER
    assert "duckdb" not in modules, "the driver is the compiled module alone"
    assert not rooms(modules) & {"audit", "bridges", "aio", "batch", "shell", "estimates", "export"}
    unused = {"mechanisms.synthetic", "bind.released.replicas", "policy.picture", "pricing"}
    assert not modules & {f"dpsql.{each}" for each in unused}


def test_a_query_loads_no_functions_that_it_does_not_call(clinic: Path) -> None:
    """Nor mechanisms: those that are loaded are imported by the plan or by the release."""
    modules, _ = loaded("query", clinic, "-c", "SELECT COUNT(*) AS n FROM patients WHERE age > 40")
    assert "dpsql.functions.core.comparison" in modules
    assert not modules & {"dpsql.functions.lists", "dpsql.functions.nested", "dpsql.functions.numbers.bits"}
    assert not modules & {"dpsql.mechanisms.density", "dpsql.mechanisms.matching", "dpsql.mechanisms.holdout"}


def test_a_repeat_prints_no_sql(clinic: Path) -> None:
    """It was printed before it was paid for, and no private row is read again."""
    words = ("query", clinic, "--format", "csv", "-c", "SELECT COUNT(*) AS n FROM patients WHERE age > 40")
    printers = {"dpsql.engines.measure_sql", "dpsql.engines.exact_tables"}
    first, said = loaded(*words)
    again, repeated = loaded(*words)
    assert printers <= first
    assert not again & (printers | {"numpy"}), "a count is shown as it is stored"
    assert said == repeated


def test_what_a_count_would_cost_is_said_without_numpy(clinic: Path) -> None:
    modules, said = loaded("explain", clinic, "-c", "SELECT COUNT(*) AS n FROM patients WHERE age > 40")
    assert "epsilon" in said
    assert "numpy" not in modules


def test_a_refusal_loads_no_numpy(clinic: Path) -> None:
    script = [sys.executable, "-c", CODE, "query", str(clinic), "-c", "SELECT nothing FROM patients"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert "D202" in done.stderr
    modules = set(json.loads(done.stderr.splitlines()[-1]))
    assert "dpsql.plan.plan" in modules
    assert "numpy" not in modules


def test_numpy_that_cannot_be_loaded_costs_nothing(clinic: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "numpy"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('broken')\n")
    script = [sys.executable, "-m", "dpsql.cli", "query", str(clinic), "-c", "SELECT COUNT(*) FROM patients"]
    path = os.pathsep.join([str(broken.parent), *sys.path])
    done = subprocess.run(
        script, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    with dpsql.connect(clinic) as db:
        assert db.purchases == ()


def test_the_end_leaves_nothing(clinic: Path, tmp_path: Path) -> None:
    """The folder for rows that spill is removed, although nothing else is taken apart."""
    words = ("query", clinic, "--format", "csv", "-c", "SELECT COUNT(*) AS n FROM patients")
    script = [sys.executable, "-m", "dpsql.cli", *map(str, words)]
    folder = tmp_path / "temporary"
    folder.mkdir()
    there = os.environ | {"TMPDIR": str(folder)}
    done = subprocess.run(script, capture_output=True, text=True, env=there, check=True)
    assert done.stdout.startswith("n\n")
    assert "cost epsilon" in done.stderr or "repeated" in done.stderr
    assert not list(folder.iterdir())


def test_a_budget_loads_no_parser(clinic: Path) -> None:
    modules, said = loaded("budget", clinic)
    assert "database" in said
    assert not modules & (NEVER | {"numpy", "sqlglot", "duckdb"})
    assert not rooms(modules) & {"bind", "parse", "release"}
