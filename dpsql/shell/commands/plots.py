"""``\\plot``: the last answer as bars or a line, with how far the noise reaches; on the screen, or as a file.

\\plot                     all its numbers
\\plot ward age            one number by one column
\\plot ward age wards.svg  the same as a picture
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
        raise InterfaceError("there is no answer to draw yet", help="ask a query first, then \\plot")
    names = _words(argument)
    file = None
    if names and names[-1].casefold().endswith(".svg"):
        file = file_named(names.pop())
        check_new(file)
    answer = chosen(shell.last, names) if names else shell.last
    if file is None:
        from dpsql.render.bar_chart import chart_text

        put(chart_text(answer, look()))
        return
    from dpsql.render.svg import chart_svg

    new_file(chart_svg(answer).encode("utf-8"), file)
    tell(printable(f"drawn in {file}"))


def _words(argument: str) -> list[str]:
    """Names, in quotes where there are spaces in them."""
    import shlex

    reader = shlex.shlex(argument.replace(",", " "), posix=True, punctuation_chars=False)
    reader.whitespace_split, reader.commenters, reader.escape = True, "", ""
    try:
        return list(reader)
    except ValueError:
        raise InterfaceError("a quote is not closed", help='write \\plot ward "my number"') from None


def chosen(answer: Answer, names: list[str]) -> Answer:
    """Some columns of an answer."""
    places = []
    for name in names:
        found = [at for at, each in enumerate(answer.columns) if fold(each) == fold(name)]
        if not found:
            raise refuse(
                "D202",
                f"the last answer has no column {name}",
                help=perhaps(name, answer.columns) or f"it has {', '.join(answer.columns)}",
            )
        places.append(found[0])
    return replace(
        answer,
        columns=tuple(answer.columns[at] for at in places),
        types=tuple(answer.types[at] for at in places),
        rows=[tuple(row[at] for at in places) for row in answer.rows],
        margins=[tuple(row[at] for at in places) for row in answer.margins],
        open=tuple(place for place, at in enumerate(places) if at in answer.open),
    )


COMMANDS = (
    Command("plot", "\\plot [COLUMNS] [FILE.svg]", "the last answer as bars or a line", _plot, "column"),
)
