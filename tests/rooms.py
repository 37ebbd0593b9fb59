"""The README's "Where things are", from the first lines of the rooms, in the order of the import contract.

python tests/rooms.py --write
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FIRST = "<!-- Written by `python tests/rooms.py --write`; a test compares the two. -->\n"
LAST = "<!-- Here ends what is written. -->\n"

BESIDE = {
    "tests/unit/": "What one module does.",
    "tests/cli/": "The command line, the shell, terminals, files and pages, as people and scripts meet them.",
    "tests/privacy/": "Oracles, attacks, the ledger, noise, sensitivity, audits, found bounds.",
    "tests/drivers/": "Other people's tools, against the installed package.",
    "tests/server/": "What PostgreSQL's clients send, and what is right to answer.",
    "grammar_tests/": "The language: cases in SQL, the worlds that judge them, queries drawn at random.",
    "benchmarks/": "How fast and how exact: `python -m benchmarks`.",
    "examples/": "Short programs, numbered.",
}
"""What lies beside the package."""


def written() -> str:
    """Write the table: from the front doors down to the types, then what lies beside the package."""
    rows = [(name, first_line(ROOT / path)) for name, path in rooms()] + list(BESIDE.items())
    lines = ["| where | what |", "|---|---|", *(f"| `{name}` | {_cell(said)} |" for name, said in rows)]
    return FIRST + "\n" + "\n".join(lines) + "\n\n" + LAST


def rooms() -> Iterator[tuple[str, str]]:
    """Name each room and module of the package, and the file that says what it is."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    for layer in layers:
        for name in layer.replace("(", "").replace(")", "").split("|"):
            yield from _room(f"dpsql/{name.strip()}")


def _room(name: str) -> Iterator[tuple[str, str]]:
    if not (ROOT / name).is_dir():
        yield f"{name}.py", f"{name}.py"
        return
    yield f"{name}/", f"{name}/__init__.py"
    if name == "dpsql/bind":
        for inner in sorted((ROOT / name).glob("*/__init__.py")):
            yield f"{name}/{inner.parent.name}/", inner.relative_to(ROOT).as_posix()


def first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def replaced(page: str) -> str:
    """Give the page with its part as it is to be written."""
    before, _, rest = page.partition(FIRST)
    _, _, after = rest.partition(LAST)
    return before + written() + after


if __name__ == "__main__":
    if "--write" in sys.argv:
        README.write_text(replaced(README.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(written(), end="")
