"""A number as it is, of which nothing is known but its type. In SQL its argument stands alone.

least(greatest(unranged(n), 0), 40)    [0, 40], whatever range n is thought to have
"""

from __future__ import annotations

from dpsql.functions import Arguments, Function
from dpsql.functions.core.ranges import any_null, within
from dpsql.functions.numbers.operands import check_numbers
from dpsql.ir.column import Fact, Type, type_range


def _result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "unranged")
    (argument,) = arguments
    return within(argument.type, type_range(argument.type), any_null(arguments))


FUNCTIONS = (Function("unranged", _result, lambda texts, _, __: texts[0], "unranged(i)"),)
