"""Completion by position in the statement, and colours, from what is publicly known of the tables.

    typed("SELECT AVG(", 11, db.tables)

tokens.py -> trees.py -> scope.py, position.py -> candidates.py -> typed.py
"""

from dpsql.console.completion.candidates import Candidate
from dpsql.console.completion.colours import colours
from dpsql.console.completion.typed import typed

__all__ = ["Candidate", "colours", "typed"]
