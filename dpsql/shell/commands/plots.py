"""``\\plot``: plot the last answer as bars or a line with error bars, on the screen or into an SVG file.

\\plot                     plot all numbers of the answer
\\plot ward age            plot age by ward
\\plot ward age wards.svg  write the same plot to a file
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.answer import Answer
from dpsql.errors import InterfaceError, refuse
from dpsql.policy.names import fold, perhaps
from dpsql.render.digits import printable
from dpsql.shell.commands.command import Command
from dpsql.shell.commands.files import file_named
from dpsql.shell.state import Shell
from dpsql.terminal.new_files import check_new, new_file
from dpsql.terminal.output import look, put, tell


def _plot(shell: Shell, argument: str) -> None:
    if shell.last is None:
        raise InterfaceError("there is no answer to plot yet", help="run a query first, then \\plot")
    names = _split_names(argument)
    file = None
    if names and names[-1].casefold().endswith(".svg"):
        file = file_named(names.pop())
        check_new(file)
    answer = select_columns(shell.last, names) if names else shell.last
    if file is None:
        from dpsql.render.bar_chart import chart_text

        put(chart_text(answer, look()))
        return
    from dpsql.render.svg import chart_svg

    new_file(chart_svg(answer).encode("utf-8"), file)
    tell(printable(f"wrote {file}"))


def _split_names(argument: str) -> list[str]:
    """Split the argument into names; a name with spaces is in quotes."""
    import shlex

    reader = shlex.shlex(argument.replace(",", " "), posix=True, punctuation_chars=False)
    reader.whitespace_split, reader.commenters, reader.escape = True, "", ""
    try:
        return list(reader)
    except ValueError:
        raise InterfaceError("a quote is not closed", help='write \\plot ward "my number"') from None


def select_columns(answer: Answer, names: list[str]) -> Answer:
    """Return an answer with the named columns only."""
    indices = []
    for name in names:
        matches = [at for at, column in enumerate(answer.columns) if fold(column) == fold(name)]
        if not matches:
            raise refuse(
                "D202",
                f"the last answer has no column {name}",
                help=perhaps(name, answer.columns) or f"it has {', '.join(answer.columns)}",
            )
        indices.append(matches[0])
    return replace(
        answer,
        columns=tuple(answer.columns[at] for at in indices),
        types=tuple(answer.types[at] for at in indices),
        rows=[tuple(row[at] for at in indices) for row in answer.rows],
        margins=[tuple(row[at] for at in indices) for row in answer.margins],
        open=tuple(index for index, at in enumerate(indices) if at in answer.open),
        without=tuple(index for index, at in enumerate(indices) if at in answer.without),
        totals=frozenset(
            (row, index) for row, found in answer.totals for index, at in enumerate(indices) if at == found
        ),
    )


COMMANDS = (
    Command("plot", "\\plot [COLUMNS] [FILE.svg]", "plot the last answer as bars or a line", _plot, "column"),
)
