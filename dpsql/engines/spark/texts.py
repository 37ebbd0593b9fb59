"""Functions of texts on Spark, which compares all of them by their bytes.

    ward LIKE 'a%'    with a backslash before letters that stand for themselves    DuckDB has no other escape
    a || b            concat(substring(a, 1, 65536), ...), and that cut

Claim   with ANSI off, no text that is printed here raises on a row, and none makes a text that grows with
        each use.
Proof   Positions, lengths, patterns and separators are constants that Spark takes, or there is no text. No
        value has more than ``MOST_BYTES`` bytes, by a check at opening: what makes a text longer has its
        result cut to 65,536 letters of 4 bytes, and what could make one much longer its arguments, too: ||
        has 1,000 at most.
Test    tests/privacy/test_spark_functions.py
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.casts import converted, once, text_sql
from dpsql.engines.vetted_scalars import Render, whole_constant
from dpsql.functions import Argument, Arguments
from dpsql.functions.text.common import LONGEST
from dpsql.ir.column import VARCHAR, Type

MOST_BYTES = 2**19
"""The most bytes of a text that is read: a table with a longer one is not opened.

Spark holds 2^31 bytes in a row, 4,096 such texts. Its memory is what it is given.
"""


def _text(text: str, argument: Argument) -> str:
    return converted(text, argument, VARCHAR)


def _of_text(form: str) -> Render:
    """Print a function of one text, and constants behind it."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"({once(form, _text(texts[0], arguments[0]), *texts[1:])})"

    return render


def _longer(form: str) -> Render:
    """Print a function that may make a text longer, by a few times."""
    return _of_text(_cut(form))


def _cut(sql: str) -> str:
    return f"substring({sql}, 1, {LONGEST})"


def _number(argument: Argument) -> int:
    value = whole_constant(argument)
    if value is None:
        raise NotVetted("a position or a length that is no constant")
    return value


def _written(argument: Argument) -> str:
    value = None if argument.literal is None else argument.literal.value
    if not isinstance(value, str):
        raise NotVetted("a pattern that is no constant")
    return value


# ---- parts -------------------------------------------------------------------------------------------


def _substring(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    numbers = [_number(argument) for argument in arguments[1:]]
    if numbers[0] < 1 or (len(numbers) > 1 and numbers[1] < 0):
        raise NotVetted("a position that is counted from the end")
    return _of_text(f"substring({{0}}, {', '.join(map(str, numbers))})")(texts[:1], arguments[:1], type)


def _left(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """The first characters, or all but so many."""
    count = _number(arguments[1])
    length = f"{count}" if count >= 0 else f"greatest(char_length({{0}}) - {-count}, 0)"
    return _of_text(f"substring({{0}}, 1, {length})")(texts[:1], arguments[:1], type)


def _right(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    count = _number(arguments[1])
    form = f"right({{0}}, {count})" if count >= 0 else f"substring({{0}}, {1 - count})"
    return _of_text(form)(texts[:1], arguments[:1], type)


def _part(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if not _written(arguments[1]) or not _number(arguments[2]):
        raise NotVetted("split_part without a separator or a place")
    return _of_text(f"split_part({{0}}, {{1}}, {_number(arguments[2])})")(texts[:2], arguments[:2], type)


def _trimmed(side: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        letters = texts[1] if len(texts) == 2 else "' '"
        return f"(trim({side} {letters} FROM {_text(texts[0], arguments[0])}))"

    return render


# ---- longer texts ------------------------------------------------------------------------------------


def _padded(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        form = f"{name}({{0}}, {_number(arguments[1])}, {{1}})"
        return _of_text(form)((texts[0], texts[2]), arguments[:1], type)

    return render


def _repeated(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    count = _number(arguments[1])
    form = f"repeat(substring({{0}}, 1, {LONGEST // max(1, count)}), {count})"
    return _of_text(form)(texts[:1], arguments[:1], type)


def _replaced(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return _of_text(_cut(f"replace({_cut('{0}')}, {{1}}, {{2}})"))(texts, arguments, type)


def _together(form: str) -> Render:
    """``||``, whose NULLs are NULL, CONCAT and CONCAT_WS, which leave them out."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        parts = (_cut(_text(text, argument)) for text, argument in zip(texts, arguments, strict=True))
        return f"({_cut(form.format(', '.join(parts)))})"

    return render


# ---- patterns ----------------------------------------------------------------------------------------


def _like(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        escape = _written(arguments[2]) if len(arguments) == 3 else ""
        pattern = text_sql(_escaped(_written(arguments[1]), escape))
        return f"({_text(texts[0], arguments[0])} {sign} {pattern})"

    return render


def _escaped(pattern: str, escape: str) -> str:
    """Return a pattern whose own escape is a backslash."""
    parts, letters = [], iter(pattern)
    for letter in letters:
        if letter == escape:
            itself = next(letters, None)
            if itself is None:
                raise NotVetted("an escape that nothing follows")
            letter = f"\\{itself}" if itself in "%_\\" else itself
        elif letter == "\\":
            letter = "\\\\"
        parts.append(letter)
    return "".join(parts)


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        "length": _of_text("CAST(char_length({0}) AS bigint)"),
        "strlen": _of_text("CAST(octet_length({0}) AS bigint)"),
        "bit_length": _of_text("CAST(bit_length({0}) AS bigint)"),
        "strpos": _of_text("CAST(instr({0}, {1}) AS bigint)"),
        "ascii": _of_text("ascii({0})"),
        "unicode": _of_text("CASE WHEN {0} = '' THEN -1 ELSE ascii({0}) END"),
        "ord": _of_text("CASE WHEN {0} = '' THEN -1 ELSE ascii({0}) END"),
        "starts_with": _of_text("startswith({0}, {1})"),
        "ends_with": _of_text("endswith({0}, {1})"),
        "contains": _of_text("contains({0}, {1})"),
        "like": _like("LIKE"),
        "ilike": _like("ILIKE"),
        "upper": _longer("upper({0})"),
        "lower": _longer("lower({0})"),
        "trim": _trimmed("BOTH"),
        "ltrim": _trimmed("LEADING"),
        "rtrim": _trimmed("TRAILING"),
        "substring": _substring,
        "left": _left,
        "right": _right,
        "lpad": _padded("lpad"),
        "rpad": _padded("rpad"),
        "repeat": _repeated,
        "split_part": _part,
        "replace": _replaced,
        "translate": _longer("translate({0}, {1}, {2})"),
        "md5": _of_text("md5({0})"),
        "sha256": _of_text("sha2({0}, 256)"),
        "||": _together("concat({})"),
        "concat": _together("concat_ws('', {})"),
        "concat_ws": _together("concat_ws({})"),
    }
)
"""The text of each function."""
