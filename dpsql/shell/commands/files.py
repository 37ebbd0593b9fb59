"""``\\o`` and ``\\i``: answers into files, and statements out of one.

\\o wards.csv      each answer goes to a file of its own: wards.csv, wards-2.csv, ...
\\o                and to the screen again
\\i wards.sql      as if it had been typed, up to the first refusal
"""

from __future__ import annotations

from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.render.digits import printable
from dpsql.render.formats import FORMATS
from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell
from dpsql.terminal.new_files import check_new
from dpsql.terminal.output import tell

_DEEP = 8
_MOST = 16_000_000  # bytes of a file


def _output(shell: Shell, argument: str) -> None:
    if not argument:
        shell.out = None
        tell("answers go to the screen")
        return
    file = file_named(argument)
    if file.suffix.casefold() not in FORMATS:
        raise InterfaceError(
            f"the name of {file.name} does not say what to write",
            help=f"end it with one of {', '.join(FORMATS)}",
        )
    check_new(file)
    shell.out = file
    then = file.with_stem(f"{file.stem}-2").name
    tell(printable(f"answers go to {file}, the one after it to {then} and so on; \\o alone ends that"))


def _include(shell: Shell, argument: str) -> None:
    if not argument:
        raise InterfaceError("no file is named", help="write \\i queries.sql")
    if shell.depth >= _DEEP:
        raise InterfaceError(
            f"files are read within files {_DEEP} deep at most", help="does one of them read itself?"
        )
    file = file_named(argument)
    text = _text(file)
    shell.depth += 1
    try:
        shell.read(text, file.name)
    finally:
        shell.depth -= 1


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST + 1)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InterfaceError(f"{file} is not text in UTF-8") from None
    except OSError as error:
        raise InterfaceError(f"{file} cannot be read: {error.strerror}", help="check the path") from None
    if len(content) > _MOST:
        raise InterfaceError(f"{file} is longer than {_MOST // 1_000_000} million bytes", help="is it SQL?")
    return text


def file_named(argument: str) -> Path:
    """A path as it is typed: in quotes, or without, ~ for one's home."""
    if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "'\"":
        argument = argument[1:-1]
    if "\0" in argument or not argument.strip():
        raise InterfaceError("this is not the name of a file")
    try:
        return Path(argument).expanduser()
    except RuntimeError:
        raise InterfaceError(f"nobody knows whose home {argument.partition('/')[0]} is") from None


COMMANDS = (
    Command("o", "\\o [FILE]", "answers into new files: .csv .json .parquet .txt", _output, "file"),
    Command("i", "\\i FILE", "do what a file says, up to the first refusal", _include, "file"),
)
