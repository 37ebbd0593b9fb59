"""What may be typed at the prompt: SQL, a backslash command, or what such a command takes.

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
from dpsql.shell.commands.other_shells import DOTTED, alike
from dpsql.shell.completion.candidates import Candidate, about, candidates
from dpsql.shell.settings import SETTINGS

_FILES = 200


def completions_at(
    text: str, at: int, tables: Sequence[Table], columns: Sequence[str] = ()
) -> list[Candidate]:
    """The candidates at a place of what is being typed; ``columns`` are the last answer's."""
    begin = len(text) - len(text.lstrip())
    ours = alike(text[begin:at])
    if ours:
        found = completions_at(ours, len(ours), tables, columns)
        return [replace(each, start=each.start + at - len(ours)) for each in found]
    if text[begin : begin + 1] == ".":
        return _begun([Candidate(each, begin, f"as {like}") for each, like in DOTTED.items()], text[begin:at])
    if not text[begin:].startswith("\\"):
        names = [each.name for each in SETTINGS]
        return candidates(text, at, tables, names)
    name, space, argument = text[begin + 1 : at].partition(" ")
    if not space:
        found = [Candidate(f"\\{each.name}", begin, each.help) for each in COMMANDS]
        return _begun(found, f"\\{name}")
    command = next((each for each in COMMANDS if each.name == name), None)
    if command is None:
        return []
    start = at - len(argument)
    if command.takes == "sql":
        inner = candidates(text[start:], at - start, tables)
        return [replace(each, start=each.start + start) for each in inner]
    word = argument.rpartition(" ")[2]
    offered = _taken(command, argument, tables, columns)
    return _begun([Candidate(each, at - len(word), meta) for each, meta in offered.items()], word)


def _taken(command: Command, said: str, tables: Sequence[Table], columns: Sequence[str]) -> Mapping[str, str]:
    """What a command takes, and a word about each."""
    words = said.split(" ")
    match command.takes, len(words):
        case "table", 1:
            return {each.name: about(each) for each in tables}
        case "code", 1:
            return CODES
        case "setting", 1:
            return {each.name: each.help for each in SETTINGS}
        case "setting", 2:
            values = [each.values for each in SETTINGS if each.name == words[0].casefold()]
            return {each: "" for value in values for each in value.split("|") if each.islower()}
        case "switch", 1:
            return {"on": "", "off": ""}
        case "column", _:
            return dict.fromkeys(columns, "of the last answer")
        case "file", 1:
            return dict.fromkeys(_files(words[0]), "")
        case _:
            return {}


def _files(begun: str) -> Iterator[str]:
    """Files and folders whose names begin like this; hidden ones only if they are asked for."""
    folder, _, name = begun.rpartition("/")
    with suppress(OSError):
        place = Path(os.path.expanduser(f"{folder}/") if "/" in begun else ".")
        found = islice(sorted(place.iterdir()), _FILES)
        for each in found:
            if each.name.startswith(name) and (name or not each.name.startswith(".")):
                yield f"{begun[: len(begun) - len(name)]}{each.name}{'/' if each.is_dir() else ''}"


def _begun(found: list[Candidate], begun: str) -> list[Candidate]:
    return [each for each in found if each.text.casefold().startswith(begun.casefold())]
