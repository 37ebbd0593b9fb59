"""What a change touches, in a repository made for it; and which tests are quick."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import tiers
from cases import all_cases
from tiers import Touched, changed

FILES = {
    "README.md": "",
    "dpsql/__init__.py": "",
    "dpsql/aggregates/__init__.py": "",
    "dpsql/aggregates/avg.py": "",
    "dpsql/bind/joins.py": "",
    "dpsql/bind/split.py": "",
    "tests/helper.py": "",
    "tests/unit/conftest.py": "",
    "tests/unit/test_one.py": "import helper\nfrom dpsql.aggregates import avg\n",
    "tests/unit/test_two.py": "from dpsql.bind.split import split\n",
    "tests/cli/test_page.py": 'TEXT = ROOT / "README.md"\n',
    "grammar_tests/world.toml": "",
    "grammar_tests/test_cases.py": "from dpsql.audit import plan_of\n",
    "grammar_tests/aggregates/avg.sql": "",
    "grammar_tests/joins/outer.sql": "",
    "grammar_tests/joins/inner.sql": "",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "files", "fixtures"),
    [
        ("tests/unit/test_two.py", {"tests/unit/test_two.py"}, set()),
        ("tests/helper.py", {"tests/unit/test_one.py"}, set()),
        ("tests/unit/conftest.py", {"tests/unit/test_one.py", "tests/unit/test_two.py"}, set()),
        ("dpsql/aggregates/avg.py", {"tests/unit/test_one.py"}, {"grammar_tests/aggregates/avg.sql"}),
        ("dpsql/bind/split.py", {"tests/unit/test_two.py"}, set()),
        (  # no test imports it: those of its room
            "dpsql/bind/joins.py",
            {"tests/unit/test_two.py"},
            {"grammar_tests/joins/outer.sql", "grammar_tests/joins/inner.sql"},
        ),
        ("README.md", {"tests/cli/test_page.py"}, set()),
        ("grammar_tests/joins/outer.sql", set(), {"grammar_tests/joins/outer.sql"}),
        ("grammar_tests/world.toml", {"grammar_tests/test_cases.py"}, set()),
        ("LICENSE", set(), set()),
    ],
)
def test_what_a_changed_file_touches(
    name: str, files: set[str], fixtures: set[str], repository: Path
) -> None:
    touched = Touched(repository, (name,))
    assert (touched.files, touched.fixtures) == (files, fixtures)


def test_what_is_changed_since_the_branch_left_main(repository: Path) -> None:
    """Committed on the branch, or in the work tree; known to git or not."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *words], cwd=repository, check=True)

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    assert list(changed(repository, "")) == []
    git("switch", "-q", "-c", "branch")
    (repository / "README.md").write_text("committed")
    git("commit", "-q", "-a", "-m", "second")
    (repository / "tests/helper.py").write_text("changed")
    (repository / "tests/unit/test_new.py").write_text("")
    assert list(changed(repository, "")) == ["README.md", "tests/helper.py", "tests/unit/test_new.py"]
    assert list(changed(repository, "HEAD")) == ["tests/helper.py", "tests/unit/test_new.py"]
    with pytest.raises(pytest.UsageError, match="nowhere"):
        list(changed(repository, "nowhere"))


@dataclass(frozen=True)
class Param:
    params: dict[str, object]


@dataclass(frozen=True)
class Item:
    """What is asked of a collected test."""

    path: Path
    callspec: Param


def test_of_the_other_tests_those_of_a_changed_fixture_run() -> None:
    touched = Touched(tiers.ROOT, ("grammar_tests/joins/full_joins.sql",))
    judged = all_cases()
    held = {
        case.file.name
        for case in judged
        if touched.holds(Item(tiers.ROOT / tiers.CASES, Param({"case": case})))  # type: ignore[arg-type]  # what it reads of one
    }
    assert held == {"full_joins.sql"}
    assert touched.may_hold(tiers.CASES)
    assert not touched.may_hold("tests/unit/test_tiers.py")


def test_quick_files_are_there() -> None:
    assert [name for name in tiers.QUICK_FILES if not (tiers.ROOT / name).is_file()] == []
