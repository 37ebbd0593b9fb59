"""The README says where things are, and docstrings name test files that are there."""

from __future__ import annotations

import re

import rooms


def test_the_readme_holds_what_is_generated() -> None:
    page = rooms.README.read_text(encoding="utf-8")
    assert rooms.FIRST in page
    assert rooms.LAST in page
    assert page == rooms.replaced(page), "run: python tests/rooms.py --write"


def test_every_room_says_what_it_is() -> None:
    said = {name: rooms.first_line(rooms.ROOT / path) for name, path in rooms.rooms()}
    assert [name for name, line in said.items() if not line] == []
    packages = {f"dpsql/{path.parent.name}/" for path in (rooms.ROOT / "dpsql").glob("*/__init__.py")}
    modules = {f"dpsql/{path.name}" for path in (rooms.ROOT / "dpsql").glob("[a-z]*.py")}
    assert {*packages, *modules} <= said.keys()


def test_tests_that_docstrings_name_are_there() -> None:
    named = {
        (name, path.relative_to(rooms.ROOT).as_posix())
        for path in (rooms.ROOT / "dpsql").rglob("*.py")
        for name in re.findall(r"\b((?:grammar_)?tests/[\w/]+\.(?:py|sql))", path.read_text(encoding="utf-8"))
    }
    assert [each for each in sorted(named) if not (rooms.ROOT / each[0]).exists()] == []
