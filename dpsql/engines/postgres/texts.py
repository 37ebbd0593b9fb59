"""Functions of texts on PostgreSQL; every text that is made compares by its bytes.

    upper(ward)       upper(ward COLLATE "und-x-icu") COLLATE "C"    C itself knows the letters of ASCII
    ward LIKE 'a%'    ward LIKE 'a%' ESCAPE ''                       DuckDB has no escape that is not written
    a || b            left(a, 65536) || left(b, 65536), and that cut

Claim   no text that is printed here raises on a row, and none makes a text that grows with each use.
Proof   Positions, lengths, patterns and separators are constants that PostgreSQL takes, or there is no text.
        No value has more than ``MOST_BYTES`` bytes, by a check at opening: what makes a text longer has its
        result cut to 65,536 letters of 4 bytes, and what could make one much longer its arguments, too. So
        nothing reaches PostgreSQL's limit of 1 GB for what it holds at once.
Test    tests/privacy/test_postgres_functions.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.casts import converted, once
from dpsql.engines.vetted_scalars import Render, whole_constant
from dpsql.functions import Argument, Arguments
from dpsql.functions.text.common import LONGEST
from dpsql.ir.column import INTEGER, VARCHAR, Type

MOST_BYTES = 2**19
"""The most bytes of a text that is read: a table with a longer one is not opened.

Of PostgreSQL's 2^30, a row of 1,664 columns, which is the most, takes 2^19 * 1664 < 2^30, as it is sorted,
sent or made a record. While one text is computed, 4 times its bytes are needed at most: as letters of 32 bits
(regular expressions), as the longest result (translate), as UTF-16 of which one letter becomes three (upper).
"""

EMPTY = "''"
_LETTERS = 'pg_catalog."und-x-icu"'


def _text(text: str, argument: Argument) -> str:
    return converted(text, argument, VARCHAR)


def _of_text(form: str) -> Render:
    """Print a function of one text, and constants behind it."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"({once(form, _text(texts[0], arguments[0]), *texts[1:])})"

    return render


def _made(form: str) -> Render:
    """Print a function that makes a text."""
    return _of_text(f'({form}) COLLATE "C"')


def _longer(form: str) -> Render:
    """Print a function that may make a text longer, by a few times."""
    return _made(_cut(form))


def _cut(sql: str) -> str:
    return f"left({sql}, {LONGEST})"


def _number(argument: Argument) -> int:
    value = whole_constant(argument)
    if value is None:
        raise NotVetted("a position or a length that is no constant")
    return value


def _substring(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    numbers = [_number(argument) for argument in arguments[1:]]
    if numbers[0] < 1 or (len(numbers) > 1 and numbers[1] < 0):
        raise NotVetted("a position that is counted from the end")
    return _made(f"substring({{0}}, {', '.join(map(str, numbers))})")(texts[:1], arguments[:1], type)


def _side(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return _made(f"{name}({{0}}, {_number(arguments[1])})")(texts[:1], arguments[:1], type)

    return render


def _padded(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return _made(f"{name}({{0}}, {_number(arguments[1])}, {{1}})")(
            (texts[0], texts[2]), arguments[:1], type
        )

    return render


def _repeated(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    count = _number(arguments[1])
    form = f"repeat(left({{0}}, {LONGEST // max(1, count)}), {count})"
    return _made(form)(texts[:1], arguments[:1], type)


def _part(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    separator = None if arguments[1].literal is None else arguments[1].literal.value
    if not separator or not _number(arguments[2]):
        raise NotVetted("split_part without a separator or a place")
    return _made(f"split_part({{0}}, {{1}}, {_number(arguments[2])})")(texts[:2], arguments[:2], type)


def _replaced(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return _made(_cut(f"replace({_cut('{0}')}, {{1}}, {{2}})"))(texts, arguments, type)


def _glued(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """Glue two and two together, and cut: a row keeps all steps, and each would be longer than the last."""
    parts = [_cut(_text(text, argument)) for text, argument in zip(texts, arguments, strict=True)]
    while len(parts) > 1:
        parts = [_cut(" || ".join(parts[at : at + 2])) for at in range(0, len(parts), 2)]
    return f'({parts[0]} COLLATE "C")'


def _together(name: str) -> Render:
    """CONCAT and CONCAT_WS, which leave NULL out."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        parts = (_cut(_text(text, argument)) for text, argument in zip(texts, arguments, strict=True))
        joined = _cut(f"{name}({', '.join(parts)})")
        return f'({joined} COLLATE "C")'

    return render


def _like(sign: str, letters: bool) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        parts = [_text(texts[0], arguments[0]), *texts[1:]]
        parts = [f"({part}) COLLATE {_LETTERS}" for part in parts] if letters else parts
        return f"({parts[0]} {sign} {parts[1]} ESCAPE {parts[2] if len(parts) == 3 else EMPTY})"

    return render


def _character(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], INTEGER)
    return f'({once("CASE WHEN {0} BETWEEN 1 AND 55295 THEN chr({0}) END", number)} COLLATE "C")'


def _to_number(form: str) -> Callable[..., str]:
    return _of_text(f"CAST({form} AS int8)")


RENDERS: Mapping[str, Render] = MappingProxyType(
    {
        "length": _to_number("char_length({0})"),
        "strlen": _to_number("octet_length({0})"),
        "bit_length": _to_number("bit_length({0})"),
        "strpos": _to_number("strpos({0}, {1})"),
        "ascii": _of_text("ascii({0})"),
        "unicode": _of_text("CASE WHEN {0} = '' THEN -1 ELSE ascii({0}) END"),
        "ord": _of_text("CASE WHEN {0} = '' THEN -1 ELSE ascii({0}) END"),
        "contains": _of_text("strpos({0}, {1}) > 0"),
        "starts_with": _of_text("starts_with({0}, {1})"),
        "ends_with": _of_text("right({0}, char_length({1})) = {1}"),
        "like": _like("LIKE", letters=False),
        "ilike": _like("ILIKE", letters=True),
        "upper": _longer(f"upper({{0}} COLLATE {_LETTERS})"),
        "lower": _longer(f"lower({{0}} COLLATE {_LETTERS})"),
        "trim": lambda t, a, _: _made(f"btrim({{0}}{', {1}' * (len(t) - 1)})")(t, a, _),
        "ltrim": lambda t, a, _: _made(f"ltrim({{0}}{', {1}' * (len(t) - 1)})")(t, a, _),
        "rtrim": lambda t, a, _: _made(f"rtrim({{0}}{', {1}' * (len(t) - 1)})")(t, a, _),
        "substring": _substring,
        "left": _side("left"),
        "right": _side("right"),
        "lpad": _padded("lpad"),
        "rpad": _padded("rpad"),
        "repeat": _repeated,
        "split_part": _part,
        "replace": _replaced,
        "translate": _longer("translate({0}, {1}, {2})"),
        "md5": _made("md5({0})"),
        "sha256": _made("encode(sha256(convert_to({0}, 'UTF8')), 'hex')"),
        "||": _glued,
        "concat": _together("concat"),
        "concat_ws": _together("concat_ws"),
        "chr": _character,
    }
)
"""The text of each function."""
