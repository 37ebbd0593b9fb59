"""The page of commands: dpsql/docs/commands.md, written from the parser.

    python tests/commands_page.py --write

A test compares the page with ``page()``, and runs every example on it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from dpsql.cli.command_list import parser
from dpsql.cli.shared_arguments import EXITS

PAGE = Path(__file__).parent.parent / "dpsql" / "docs" / "commands.md"

INTRODUCTION = f"""# The commands

<!-- Written by `python tests/commands_page.py --write`; a test compares the two. -->

`dpsql COMMAND --help` says the same. For `clinic.duckdb` the policy is `clinic.toml` and the ledger
`clinic.ledger`, for the folder `data` they are `data.toml` and `data.ledger`, unless options name others.
An answer goes to standard output, all else to standard error. {EXITS[0].upper()}{EXITS[1:]}.
"""


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that runs something, with its whole name."""
    yield from _leaves("dpsql", parser())


def _leaves(name: str, made: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    below = [each for each in made._actions if isinstance(each, argparse._SubParsersAction)]
    if not below:
        yield name, made
    for each in below:
        for word, inner in each.choices.items():
            yield from _leaves(f"{name} {word}", inner)


def arguments(made: argparse.ArgumentParser) -> list[argparse.Action]:
    """What a command takes, but for --help."""
    return [each for each in made._actions if not isinstance(each, argparse._HelpAction)]


def examples(made: argparse.ArgumentParser) -> list[str]:
    """The command lines under a command's help."""
    return re.findall(r"^  (dpsql .*)$", made.epilog or "", re.M)


def page() -> str:
    lines = [line for each in commands() for line in _command(*each)]
    return "\n".join([INTRODUCTION, *lines]).rstrip() + "\n"


def _command(name: str, made: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## {name}\n"
    yield " ".join((made.description or "").split()) + "\n"
    yield "| | |"
    yield "|---|---|"
    for each in arguments(made):
        yield f"| `{_written(each)}` | {(each.help or '').replace('|', chr(92) + '|')} |"
    yield ""
    if examples(made):
        yield "```bash"
        yield from examples(made)
        yield "```\n"


def _written(each: argparse.Action) -> str:
    what = str(each.metavar or "\\|".join(map(str, each.choices or ())))
    if not each.option_strings:
        return f"[{what}]" if each.nargs == "?" else what
    return f"{', '.join(each.option_strings)} {what}".strip()


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
