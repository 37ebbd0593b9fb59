"""``python -m dpsql.shell`` is ``dpsql``."""

from dpsql.shell import program

program()
