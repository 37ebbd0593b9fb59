"""A pytest plugin: runs that are smaller than the whole.

    pytest -m quick          every refusal, meaning, sensitivity with 3 of the 27 neighbours, fast unit tests
    pytest -m "not sweep"    all but what takes longest; a case meets 1 neighbour of each of three families
    pytest                   everything; a case meets 2 neighbours of each
    pytest --all-neighbours  ... and all 27 of them
    pytest --touched         the tests of what is changed since the branch left main, and in the work tree
    pytest --touched=REF     ... since REF

A changed file touches

    itself                   where it holds tests, or cases: of a file of fixtures its own cases run
    its importers            the test files that import it; where none does, those that import from its room
    its namesakes            cases in a file or a folder called like the module: ``joins.py``, ``joins/``
    its readers              the test files that name it in quotes, where it is no Python module
    its folder               all tests there, for a ``conftest.py`` and for the worlds of the fixtures

Imports count where they are written: what a change reaches through other modules, the full run tells.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from zlib import crc32

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("tests", "grammar_tests")
FIXTURES = "grammar_tests"

CASES = f"{FIXTURES}/test_cases.py"

QUICK_CASES = ("test_refused", "test_meaning", "test_sensitivity")
"""What ``quick`` runs of it."""

QUICK_FILES = tuple(
    f"tests/{room}/test_{name}.py"
    for room, names in {
        "unit": "bins catalogue conjuncts density functions_reading key_lists other_group tiers",
        "cli": "completion policy_check readme_figures rooms scripts",
        "privacy": "attack_chances audit_chances exponential geometric mechanisms min_units oracles "
        "ownership_rules randomized_response threshold what_a_repeat_rests_on",
    }.items()
    for name in names.split()
)
"""Test files that are quick altogether: none of them starts processes or asks how long something takes."""


# ---- the options -------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--touched",
        nargs="?",
        const="",
        metavar="REF",
        help="run the tests of what is changed since REF (since the branch left main)",
    )
    parser.addoption("--all-neighbours", action="store_true", help="let each case meet all 27 neighbours")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: what takes a few minutes on two cores")
    config.addinivalue_line("markers", "sweep: takes long: kills, limits, disks, thousands of cases")
    if (ref := config.getoption("touched")) is not None:
        config.stash[TOUCHED] = Touched(ROOT, tuple(changed(ROOT, ref)))


def quick(config: pytest.Config) -> bool:
    """Whether this is a quick run, in which each case meets 3 of the 27 neighbours."""
    return str(config.getoption("markexpr")).strip() == "quick"


def without_sweeps(config: pytest.Config) -> bool:
    """Whether this run leaves out what takes longest, and asks less of what it has."""
    return str(config.getoption("markexpr")).strip() == "not sweep"


def most_neighbours(config: pytest.Config) -> int:
    """Return how many neighbours of each of the three families a case meets."""
    if config.getoption("all_neighbours"):
        return 27
    return 1 if quick(config) or without_sweeps(config) else 2


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no test file that has nothing to run."""
    if not collection_path.name.startswith("test_"):
        return None
    name = _name(collection_path)
    if quick(config) and name not in (*QUICK_FILES, CASES):
        return True
    touched = config.stash.get(TOUCHED, None)
    return True if touched is not None and not touched.may_hold(name) else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str) -> list[pytest.Item] | None:
    """Make none of the thousands of tests of cases that a quick run leaves out."""
    if quick(collector.config) and _name(collector.path) == CASES and name.startswith("test_"):
        return None if name in QUICK_CASES else []
    return None


SWEEPS = (
    # processes that are killed, starved or filled up
    "tests/cli/test_batch.py::test_a_run_goes_on_under_another_budget",
    "tests/cli/test_batch.py::test_killed_anywhere",
    "tests/privacy/test_batch_kill.py",
    "tests/privacy/test_kill.py",
    "tests/privacy/test_disk.py",
    "tests/privacy/test_limits.py",
    "tests/privacy/test_attacks.py::test_a_child_is_told",
    "tests/privacy/test_attacks.py::test_constants_are_not_compared",
    "tests/privacy/test_attacks.py::test_threads_forks",
    "tests/privacy/test_attacks.py::test_what_grows",
    "tests/privacy/test_attacks.py::test_what_runs_above",
    "tests/cli/test_cli.py::test_a_locked_ledger_is_waited_for",
    "tests/privacy/test_alerts.py::test_it_survives_a_kill",
    "tests/privacy/test_alerts.py::test_many_processes",
    "tests/privacy/test_attacks.py::test_a_child_ends_in_order",
    "tests/privacy/test_block_accounts.py::test_many_processes",
    "tests/privacy/test_joint_files.py::test_kill_9",
    "tests/privacy/test_joint_files.py::test_two_runs_at_once",
    "tests/privacy/test_ledger.py::test_a_kill_loses",
    "tests/privacy/test_logistic.py::test_kill_between_steps",
    "tests/privacy/test_postgres_kill.py",
    "tests/privacy/test_units_seen.py::test_many_processes",
    "tests/privacy/test_units_seen.py::test_what_was_asked_about",
    # planted errors: whether a check would find something, which only a change of the check changes
    "grammar_tests/test_corrected.py::test_planted",
    "grammar_tests/test_one_digest.py::test_a_digest_without",
    "grammar_tests/test_planted.py",
    "tests/privacy/test_attack_command.py::test_a_planted",
    "tests/privacy/test_audit_attack.py::test_a_planted",
    "tests/privacy/test_block_columns.py::test_a_stage_that_is_left_out",
    "tests/privacy/test_blocks_of_files.py::test_one_statement_that_is_left_out",
    "tests/privacy/test_fuzz.py::test_a_planted",
    "tests/privacy/test_kept_plans.py::test_a_file_that_is_not_looked_at",
    "tests/privacy/test_kept_plans.py::test_a_key_without",
    "tests/privacy/test_kept_plans.py::test_a_query_that_is_kept_longer",
    "tests/privacy/test_kept_plans.py::test_a_question_that_is_not_asked",
    "tests/privacy/test_kept_plans.py::test_plans_that_sessions_share",
    "tests/privacy/test_law_of_noise.py::test_planted",
    "tests/privacy/test_light_units.py::test_planted",
    "tests/privacy/test_planted_errors.py::test_an_a",
    "tests/privacy/test_units_seen.py::test_planted",
    # many draws of one law
    "tests/privacy/test_attacks.py::test_a_range_found_from_few",
    "tests/privacy/test_attacks.py::test_bounds_found_together",
    "tests/privacy/test_attacks.py::test_units_of_any_two_integer_types",
    "tests/privacy/test_accountants.py::test_charges_do_not_depend",
    "tests/privacy/test_fitted_clips.py::test_every_clip_is_enforced",
    "tests/privacy/test_mutations.py",
    "tests/unit/test_linear.py::test_no_number_has_more_noise",
    "tests/unit/test_margins.py::test_counts_near_a_threshold",
    "tests/unit/test_replicas.py::test_margins",
    "tests/unit/test_staged_margins.py::test_in_every_fixture",
    "tests/unit/test_staged_margins.py::test_its_own_noise",
    "tests/unit/test_staged_margins.py::test_what_rests_on_no_noise",
    "tests/unit/test_within.py::test_no_number_is_off",
    "tests/privacy/test_attack_command.py::test_no_attack_beats",
    "tests/privacy/test_divergences.py::test_no_event_costs_more",
    "tests/privacy/test_found_range.py::test_the_choice_follows",
    "tests/privacy/test_found_range.py::test_error_of_a_sum",
    "tests/privacy/test_joint.py::test_margins_hold",
    "tests/privacy/test_many_cells.py::test_margins_hold",
    "tests/privacy/test_many_cells.py::test_the_error_is",
    "tests/privacy/test_models.py::test_margins_hold",
    "tests/privacy/test_private_views.py::test_margins_hold",
    "tests/privacy/test_sums_of_views.py::test_margins_hold",
    "tests/unit/test_replicas.py::test_what_is_shown",
    # thousands of values, files or queries of one kind
    "grammar_tests/drawn/test_drawn.py::test_a_violation_is_shrunk",
    "grammar_tests/drawn/test_drawn.py::test_no_violations_under_another_seed",
    "grammar_tests/drawn/test_drawn.py::test_planted",
    "grammar_tests/layouts",
    "tests/cli/test_awkward_files.py::test_the_same_rows",
    "tests/cli/test_benchmarks.py::test_prints",
    "tests/cli/test_csv_lines.py::test_rows_are_those",
    "tests/cli/test_csv_lines.py::test_rows_do_not_depend",
    "tests/cli/test_init.py::test_leaving_leaves_no_file",
    "tests/cli/test_report.py::test_nothing_is_wider",
    "tests/privacy/test_atoms.py::test_more_nested_conditions",
    "tests/privacy/test_found_range.py::test_what_holds_nobody",
    "tests/privacy/test_fuzz.py::test_models_are_drawn",
    "tests/privacy/test_joined_rows.py::test_joins_of_joins",
    "tests/privacy/test_joint.py::test_the_error_is",
    "tests/privacy/test_light_units.py::test_one_stray",
    "tests/unit/test_histogram.py::test_as_many_bins",
    "tests/unit/test_functions.py::test_nested_expressions",
    "tests/unit/test_functions.py::test_nothing_raises",
    "tests/unit/test_functions.py::test_plain_values",
    "tests/unit/test_legal.py::test_values_inside",
    "tests/cli/test_benchmarks.py::test_a_benchmark_with_a_picture",
    "tests/privacy/test_atoms.py::test_runs_and_cells",
    "tests/privacy/test_block_columns.py::test_no_unit_of_another_block",
    "tests/privacy/test_unit_blocks.py::test_no_unit_of_another_block",
    "tests/privacy/test_versions.py::test_a_month_of_daily_files",
    "tests/unit/test_functions_literals.py::test_calendar",
    "tests/unit/test_functions_zones.py::test_every_zone",
    "tests/unit/test_policy.py::test_every_path_of_a_random_document",
)
"""What takes longest and says least of a change elsewhere: before a release, and where these rooms change."""


HALVED = (
    f"{CASES}::test_answered[",
    f"{CASES}::test_explained_and_priced[",
    f"{CASES}::test_sensitivity[",
    f"{CASES}::test_stability[",
    f"{CASES}::test_what_is_written_instead_is_answered[",
    f"{CASES}::test_priced_where_noise_is_next_to_nothing[",
    "grammar_tests/test_every_help.py::test_what_is_written_instead_means_what_it_says[",
    "grammar_tests/test_folders.py::test_",
    "grammar_tests/test_made_units.py::test_made_up_units",
    "grammar_tests/test_helps.py::test_what_a_help_says",
    "tests/cli/test_documented.py::test_the_examples_of_the_help_run[",
    "tests/privacy/test_atoms.py::test_no_row_adds_more",
    "tests/privacy/test_attacks.py::test_arithmetic_with_a_count",
    "tests/privacy/test_divergences.py::test_divergences_against",
    "tests/privacy/test_every_order.py::test_a_charge",
    "tests/privacy/test_quantiles.py::test_one_unit_with_its_weight",
    "tests/privacy/test_samples.py::test_a_removed_unit",
    "tests/unit/test_functions_total.py::test_nothing_raises",
    "tests/unit/test_other_aggregates.py::test_odd_arguments",
    "tests/unit/test_replicas.py::test_what_is_chosen_by_numbers",
)
"""Of these, every second case is a sweep; another half of the cases of each test."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is quick, before ``-m`` looks at the marks; leave out what is not touched."""
    for item in items:
        if _is_quick(item):
            item.add_marker("quick")
        halved = item.nodeid.startswith(HALVED) and crc32(item.nodeid.encode()) % 2
        if halved or item.nodeid.startswith(SWEEPS):
            item.add_marker("sweep")
    touched = config.stash.get(TOUCHED, None)
    if touched is not None:
        left_out = [item for item in items if not touched.holds(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if touched.holds(item)]


def _is_quick(item: pytest.Item) -> bool:
    name = _name(item.path)
    if name == CASES:
        return item.name.partition("[")[0] in QUICK_CASES
    return name in QUICK_FILES


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


# ---- what is touched ---------------------------------------------------------------------------------


def changed(root: Path, ref: str) -> Iterator[str]:
    """The files that differ from a commit, and those that git does not know yet."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
        if done.returncode:
            raise pytest.UsageError(f"--touched: git {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.splitlines()

    if not ref:
        has_main = git("for-each-ref", "refs/heads/main")
        ref = git("merge-base", "main", "HEAD")[0] if has_main else "HEAD"
    yield from git("diff", "--name-only", "--relative", ref, "--")
    yield from git("ls-files", "--others", "--exclude-standard")


@dataclass(frozen=True)
class Touched:
    """The changed files of a repository, and the tests that they touch."""

    root: Path
    changed: tuple[str, ...]

    @cached_property
    def files(self) -> frozenset[str]:
        """Test files of which all tests run."""
        return frozenset(test for name in self.changed for test in self._tests_of(name))

    @cached_property
    def fixtures(self) -> frozenset[str]:
        """Files of fixtures of which all cases run."""
        return frozenset(sql for name in self.changed for sql in self._fixtures_of(name))

    def may_hold(self, name: str) -> bool:
        """Whether a test file has a test to run."""
        return name in self.files or (bool(self.fixtures) and name.startswith(f"{FIXTURES}/"))

    def holds(self, item: pytest.Item) -> bool:
        if _name(item.path) in self.files:
            return True
        params = item.callspec.params if hasattr(item, "callspec") else {}
        file = getattr(params.get("case"), "file", None)
        return file is not None and _name(file) in self.fixtures

    # ---- from a file to tests --------------------------------------------------------------------

    def _tests_of(self, name: str) -> set[str]:
        path = Path(name)
        if name in self._tests:
            return {name}
        if path.name == "conftest.py" or path.parent == Path(FIXTURES):
            return {test for test in self._tests if Path(test).is_relative_to(path.parent)}
        if path.suffix == ".py":
            module = _module(path)
            importing = self._importing(module)
            room = module.rpartition(".")[0]
            return importing or (self._importing(room, inside=True) if room.count(".") else set())
        if self._is_fixture(name):
            return set()
        said = (f'"{path.name}"', f"/{path.name}", f"'{path.name}'")
        return {test for test, text in self._tests.items() if any(each in text for each in said)}

    def _importing(self, module: str, inside: bool = False) -> set[str]:
        """The test files that import a module, or anything of a room."""
        return {
            test
            for test, imports in self._imports.items()
            if module in imports or (inside and any(each.startswith(f"{module}.") for each in imports))
        }

    def _fixtures_of(self, name: str) -> set[str]:
        if self._is_fixture(name):
            return {name}
        path = Path(name)
        if path.suffix != ".py" or path.parts[0] in PLACES:
            return set()
        stem = _singular(path.stem)
        known = {file.relative_to(self.root) for file in (self.root / FIXTURES).glob("*/*.sql")}
        return {
            each.as_posix() for each in known if stem in (_singular(each.stem), _singular(each.parent.name))
        }

    def _is_fixture(self, name: str) -> bool:
        return name.startswith(f"{FIXTURES}/") and name.count("/") == 2 and name.endswith(".sql")

    # ---- the test files --------------------------------------------------------------------------

    @cached_property
    def _tests(self) -> dict[str, str]:
        """Every test file, and what is written in it."""
        found = (path for place in PLACES for path in sorted((self.root / place).rglob("test_*.py")))
        return {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8") for path in found}

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        return {test: set(imported(text)) for test, text in self._tests.items()}


def imported(text: str) -> Iterator[str]:
    """Every module that a file imports; ``from a import b`` may name the module ``a.b``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _module(path: Path) -> str:
    """``dpsql/bind/split.py`` is ``dpsql.bind.split``; helpers of the tests have no package."""
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] in PLACES else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _singular(name: str) -> str:
    return name.removesuffix("s")


TOUCHED = pytest.StashKey[Touched]()
