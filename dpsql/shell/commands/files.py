"""``\\o`` and ``\\i``: write answers to files, and run the statements of a file.

\\o wards.csv      each answer goes to a new file: wards.csv, wards-2.csv, ...
\\o                answers go to the screen again
\\i wards.sql      run the file as if it were typed, up to the first refusal
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

_MAX_DEPTH = 8
_MAX_BYTES = 16_000_000


def _output(shell: Shell, argument: str) -> None:
    if not argument:
        shell.out = None
        tell("answers go to the screen")
        return
    file = file_named(argument)
    if file.suffix.casefold() not in FORMATS:
        raise InterfaceError(
            f"{file.name} has no known file extension",
            help=f"end the name with one of {', '.join(FORMATS)}",
        )
    check_new(file)
    shell.out = file
    second = file.with_stem(f"{file.stem}-2").name
    tell(printable(f"answers go to {file}, {second} and so on; \\o alone shows them on the screen again"))


def _include(shell: Shell, argument: str) -> None:
    if not argument:
        raise InterfaceError("\\i needs a file name", help="write \\i queries.sql")
    if shell.depth >= _MAX_DEPTH:
        raise InterfaceError(
            f"files are included at most {_MAX_DEPTH} levels deep", help="does one of them include itself?"
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
            content = stream.read(_MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InterfaceError(f"{file} is not text in UTF-8") from None
    except OSError as error:
        raise InterfaceError(f"{file} cannot be read: {error.strerror}", help="check the path") from None
    if len(content) > _MAX_BYTES:
        raise InterfaceError(f"{file} is larger than {_MAX_BYTES // 1_000_000} MB", help="is it SQL?")
    return text


def file_named(argument: str) -> Path:
    """Return the path of a typed file name: with or without quotes, ~ is the home folder."""
    if len(argument) > 1 and argument[0] == argument[-1] and argument[0] in "'\"":
        argument = argument[1:-1]
    if "\0" in argument or not argument.strip():
        raise InterfaceError("this is not a file name")
    try:
        return Path(argument).expanduser()
    except RuntimeError:
        raise InterfaceError(f"there is no home folder {argument.partition('/')[0]}") from None


COMMANDS = (
    Command("o", "\\o [FILE]", "write answers to files: .csv .json .parquet .txt", _output, "file"),
    Command("i", "\\i FILE", "run a file, up to the first refusal", _include, "file"),
)
