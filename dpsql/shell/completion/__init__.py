"""Completion and colours for SQL, from the public facts of the tables.

    completions_at("SELECT AVG(", 11, db.tables)

tokens.py -> trees.py -> scope.py, position.py -> candidates.py -> completions.py
"""

from dpsql.shell.completion.candidates import Candidate
from dpsql.shell.completion.colours import colours
from dpsql.shell.completion.completions import completions_at

__all__ = ["Candidate", "colours", "completions_at"]
