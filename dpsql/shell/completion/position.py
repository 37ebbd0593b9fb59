"""The kind of text that SQL allows at the cursor.

SELECT AVG(|                   OPERAND, in the call avg
SELECT age | FROM people       FOLLOWING, after an operand of SELECT
... WHERE ward = '|            OPERAND, compared with ward
"""

from __future__ import annotations

from enum import Enum

from dpsql.lazy_dataclass import dataclass
from dpsql.shell.completion.keywords import AFTER, CLAUSES, OPENERS, RESERVED
from dpsql.shell.completion.scope import distinct_from, segment
from dpsql.shell.completion.tokens import Kind, Token
from dpsql.shell.completion.trees import Group, Item, Place, name, query_of, sign, word


class Wants(Enum):
    NOTHING = "a new name or a number: nothing to complete"
    STATEMENT = "the first word of a statement"
    QUERY = "the first word of a query"
    TABLE = "a table or a view"
    OPERAND = "a column, a function, a constant"
    FOLLOWING = "a keyword after an operand"
    WORD = "a keyword that must follow another word"
    SHARED = "a column that two tables have in common"
    OPTION = "an option of a query"
    SETTING = "a setting of the shell"


@dataclass(frozen=True, slots=True)
class Position:
    """The position of the cursor.

    ``clause`` is the clause and ``call`` the function call around the cursor; ``first`` if it is the call's
    first argument. ``qualifier`` is the name before a dot. ``compared`` is the column that is compared with
    the value at the cursor. ``word`` is the preceding word, a key of AFTER.
    """

    wants: Wants
    clause: str = ""
    call: str = ""
    first: bool = False
    qualifier: str = ""
    compared: tuple[str, ...] = ()
    word: str = ""


_FROM_IN_CALLS = ("extract", "trim", "substring", "overlay", "position")


def position(place: Place) -> Position:
    """Return the position of a place in a statement."""
    level = segment(place.levels[-1])
    before = level.before
    parent = segment(place.levels[-2]) if len(place.levels) > 1 else None
    if parent is None:
        if not before:
            first = level.items == place.levels[-1].items
            return Position(Wants.STATEMENT if first else Wants.QUERY)
        if word(before[0]) == "SET":
            return Position(Wants.SETTING if len(before) == 1 else Wants.NOTHING)
        if word(before[-1]) == "EXPLAIN":
            return Position(Wants.QUERY)
        return _within(before, _clause(before), "")
    opener = parent.before[-1] if parent.before else None
    outer = _clause(parent.before)
    if word(opener) in ("IN", "EXISTS", "AS") or _table_wanted(parent.before, outer):
        if not before and word(opener) != "IN":
            return Position(Wants.QUERY)
        if word(opener) == "IN" and not query_of(before):
            return Position(Wants.OPERAND, outer, compared=_compared(parent.before))
    if word(opener) == "OPTIONS":
        return Position(Wants.OPTION if not before or sign(before[-1], ",") else Wants.NOTHING)
    if outer == "USING" and word(opener) == "USING":
        return Position(Wants.SHARED)
    if word(opener) in ("OVER", "FILTER") and not before:
        return Position(Wants.WORD, word=word(opener))
    call = name(opener) if word(opener) not in RESERVED else ""
    if call in _FROM_IN_CALLS:
        return _within(before, outer, call)
    return _within(before, _clause(before) or outer, "" if _clause(before) else call)


def _within(before: tuple[Item, ...], clause: str, call: str) -> Position:
    """Return the position after these items of a clause, or of a call in it."""
    last = before[-1] if before else None
    first = call != "" and (not before or (len(before) == 1 and word(last) in ("DISTINCT", "ALL")))
    if sign(last, "."):
        return Position(
            Wants.OPERAND, clause, call, first, qualifier=name(before[-2]) if len(before) > 1 else ""
        )
    if _table_wanted(before, clause) and not call:
        return Position(Wants.TABLE, clause)
    if word(last) in AFTER:
        return Position(Wants.WORD, clause, word=word(last))
    if word(last) in ("AS", "WITH") or clause in ("LIMIT", "WINDOW") or (clause == "WITH" and not before):
        return Position(Wants.NOTHING, clause)
    if _operand_ends(before):
        return Position(Wants.FOLLOWING, clause, call)
    return Position(Wants.OPERAND, clause, call, first, compared=_equal_to(before))


def _clause(items: tuple[Item, ...]) -> str:
    """Return the clause that is open after these items."""
    last = ""
    for at, item in enumerate(items):
        clause = CLAUSES.get(word(item))
        if clause is not None and not (clause == "FROM" and distinct_from(items, at)):
            last = clause
    return last


def _table_wanted(before: tuple[Item, ...], clause: str) -> bool:
    if clause not in ("FROM", "ON", "USING") or not before:
        return False
    last = before[-1]
    if CLAUSES.get(word(last)) == "FROM":
        return not distinct_from(before, len(before) - 1)
    return clause == "FROM" and sign(last, ",")


def _operand_ends(before: tuple[Item, ...]) -> bool:
    """Whether the last of these items ends an operand."""
    last = before[-1] if before else None
    match last:
        case Group():
            return True
        case Token(kind=Kind.SIGN, text="*"):
            earlier = before[-2] if len(before) > 1 else None
            return earlier is None or sign(earlier, ",") or sign(earlier, ".") or word(earlier) in OPENERS
        case Token(kind=Kind.SIGN, text=text):
            return text in "]?"
        case Token(kind=Kind.WORD):
            return last.word not in OPENERS
        case Token():
            return True
        case _:
            return False


def _equal_to(before: tuple[Item, ...]) -> tuple[str, ...]:
    """Return the name before =, <> or LIKE."""
    if not before:
        return ()
    if word(before[-1]) in ("LIKE", "ILIKE"):
        return _name_at_end(before[:-1])
    if sign(before[-1], "=") or sign(before[-1], ">"):
        signs = 1
        while len(before) > signs and any(sign(before[-1 - signs], char) for char in "<!="):
            signs += 1
        if sign(before[-1], "=") or signs > 1:
            return _name_at_end(before[:-signs])
    return ()


def _compared(before: tuple[Item, ...]) -> tuple[str, ...]:
    """Return the name before IN."""
    before = before[:-1]
    return _name_at_end(before[:-1] if before and word(before[-1]) == "NOT" else before)


def _name_at_end(items: tuple[Item, ...]) -> tuple[str, ...]:
    """Return the name at the end of these items: ward, or p.ward."""
    if not items or not name(items[-1]) or word(items[-1]) in RESERVED:
        return ()
    if len(items) > 2 and sign(items[-2], ".") and name(items[-3]):
        return name(items[-3]), name(items[-1])
    return (name(items[-1]),)
