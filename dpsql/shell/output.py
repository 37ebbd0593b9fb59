"""Show answers: on the screen in the chosen format, or in new files after ``\\o FILE``."""

from __future__ import annotations

from dataclasses import replace

from dpsql.answer import Answer
from dpsql.render.box import answer_text, summary
from dpsql.render.digits import printable
from dpsql.render.formats import FORMATS, content
from dpsql.shell.state import Shell
from dpsql.terminal.new_files import check_new, new_file, unused_name
from dpsql.terminal.output import look, put, put_data, tell

_HINT = "\\o FILE writes all"


def check_output(shell: Shell) -> None:
    """Refuse an output file that cannot be created, before anything is paid."""
    if shell.out is not None:
        check_new(unused_name(shell.out))


def show(shell: Shell, answer: Answer) -> None:
    """Show an answer and its price."""
    if shell.out is not None:
        file = unused_name(shell.out)
        new_file(content(answer, FORMATS[file.suffix.casefold()], shell.margins), file)
        tell(printable(f"wrote {len(answer.rows)} {'row' if len(answer.rows) == 1 else 'rows'} to {file}"))
        tell(summary(answer))
    elif shell.format == "table":
        put(answer_text(answer, replace(look(_HINT), records=shell.expanded)))
    else:
        put_data(content(answer, shell.format, shell.margins))
        tell(summary(answer))
