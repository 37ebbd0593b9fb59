"""Completion of a whole line: SQL, a backslash command, or the argument of a command.

\\d |         tables          \\set |       settings        \\price |     SQL
\\|           commands        \\set timing |  on, off       \\i |         files
DESCRIBE |    as \\d |           SET format = |  as \\set format |
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from dpsql.errors import CODES
from dpsql.policy.listing import Table
from dpsql.shell.commands import COMMANDS
from dpsql.shell.commands.command import Command
from dpsql.shell.commands.other_shells import DOTTED, translate_prefix
from dpsql.shell.completion.candidates import Candidate, candidates, table_summary
from dpsql.shell.settings import SETTINGS

_MAX_FILES = 200


def completions_at(
    text: str, at: int, tables: Sequence[Table], columns: Sequence[str] = ()
) -> list[Candidate]:
    """Return the candidates at offset ``at`` of the typed text; ``columns`` are those of the last answer."""
    begin = len(text) - len(text.lstrip())
    translated = translate_prefix(text[begin:at])
    if translated:
        translated_candidates = completions_at(translated, len(translated), tables, columns)
        shift = at - len(translated)
        return [replace(candidate, start=candidate.start + shift) for candidate in translated_candidates]
    if text[begin : begin + 1] == ".":
        dotted = [Candidate(word, begin, f"as {same}") for word, same in DOTTED.items()]
        return _with_prefix(dotted, text[begin:at])
    if not text[begin:].startswith("\\"):
        names = [setting.name for setting in SETTINGS]
        return candidates(text, at, tables, names)
    name, space, argument = text[begin + 1 : at].partition(" ")
    if not space:
        commands = [Candidate(f"\\{command.name}", begin, command.help) for command in COMMANDS]
        return _with_prefix(commands, f"\\{name}")
    command = next((command for command in COMMANDS if command.name == name), None)
    if command is None:
        return []
    start = at - len(argument)
    if command.takes == "sql":
        inner = candidates(text[start:], at - start, tables)
        return [replace(candidate, start=candidate.start + start) for candidate in inner]
    word = argument.rpartition(" ")[2]
    values = _argument_values(command, argument, tables, columns)
    return _with_prefix([Candidate(value, at - len(word), meta) for value, meta in values.items()], word)


def _argument_values(
    command: Command, argument: str, tables: Sequence[Table], columns: Sequence[str]
) -> Mapping[str, str]:
    """Return the possible values of a command's argument, each with a short description."""
    words = argument.split(" ")
    match command.takes, len(words):
        case "table", 1:
            return {table.name: table_summary(table) for table in tables}
        case "code", 1:
            return CODES
        case "setting", 1:
            return {setting.name: setting.help for setting in SETTINGS}
        case "setting", 2:
            usages = [setting.values for setting in SETTINGS if setting.name == words[0].casefold()]
            return {value: "" for usage in usages for value in usage.split("|") if value.islower()}
        case "switch", 1:
            return {"on": "", "off": ""}
        case "column", _:
            return dict.fromkeys(columns, "of the last answer")
        case "file", 1:
            return dict.fromkeys(_files(words[0]), "")
        case _:
            return {}


def _files(prefix: str) -> Iterator[str]:
    """Yield the files and folders with this prefix; hidden ones only if the prefix names them."""
    folder, _, name = prefix.rpartition("/")
    with suppress(OSError):  # what cannot be read completes nothing
        directory = Path(os.path.expanduser(f"{folder}/") if "/" in prefix else ".")
        for file in islice(sorted(directory.iterdir()), _MAX_FILES):
            if file.name.startswith(name) and (name or not file.name.startswith(".")):
                yield f"{prefix[: len(prefix) - len(name)]}{file.name}{'/' if file.is_dir() else ''}"


def _with_prefix(options: list[Candidate], prefix: str) -> list[Candidate]:
    return [candidate for candidate in options if candidate.text.casefold().startswith(prefix.casefold())]
