"""Completion by position in the statement, from what is publicly known of the tables.

candidates("SELECT AVG(", 11, db.tables)      tokens.py -> trees.py -> scope.py, position.py -> candidates.py
"""

from dpsql.console.completion.candidates import Candidate, candidates

__all__ = ["Candidate", "candidates"]
