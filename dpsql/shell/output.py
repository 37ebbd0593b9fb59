"""Where an answer goes: the screen, in the format that is set, or a new file where ``\\o`` named one."""

from __future__ import annotations

from dataclasses import replace

from dpsql.answer import Answer
from dpsql.render.box import answer_text, summary
from dpsql.render.digits import printable
from dpsql.render.formats import FORMATS, content
from dpsql.shell.state import Shell
from dpsql.terminal.new_files import check_new, free, new_file
from dpsql.terminal.output import look, put, put_data, tell

_ALL = "\\o FILE writes all"


def ready(shell: Shell) -> None:
    """Before anything is paid: the place that the answer goes to must be one."""
    if shell.out is not None:
        check_new(free(shell.out))


def show(shell: Shell, answer: Answer) -> None:
    """The answer and its price."""
    if shell.out is not None:
        file = free(shell.out)
        new_file(content(answer, FORMATS[file.suffix.casefold()], shell.margins), file)
        tell(printable(f"{len(answer.rows)} {'row' if len(answer.rows) == 1 else 'rows'} in {file}"))
        tell(summary(answer))
    elif shell.format == "table":
        put(answer_text(answer, replace(look(_ALL), records=shell.expanded)))
    else:
        put_data(content(answer, shell.format, shell.margins))
        tell(summary(answer))
