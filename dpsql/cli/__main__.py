"""``python -m dpsql.cli`` is ``dpsql``."""

from dpsql.cli import program

program()
