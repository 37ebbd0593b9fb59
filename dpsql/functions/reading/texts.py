"""Text functions, read from sqlglot's node types.

a NOT LIKE 'x' ESCAPE '$'    not(like(a, 'x', '$'))
TRIM(LEADING 'x' FROM a)     ltrim(a, 'x')
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading.shapes import Readers, Reading, binary, chain, negated, of, only

_LIKES: Readers = {exp.Like: negated(binary("like")), exp.ILike: negated(binary("ilike"))}


def _escape(node: exp.Expr) -> Reading | None:
    inner = node.this
    reader = _LIKES.get(type(inner))
    if reader is None or not only(node, "this", "expression"):
        return None
    if inner.args.get("negate"):
        plain = node.copy()
        plain.this.set("negate", None)
        return Reading("not", (plain,))
    reading = reader(inner)
    return None if reading is None else Reading(reading.name, (*reading.arguments, node.expression))


def _trim(node: exp.Expr) -> Reading | None:
    if not only(node, "this", "expression", "position"):
        return None
    name = {None: "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}.get(
        node.args.get("position")
    )
    reading = of("trim", "this", "expression", ignored=("position",))(node)
    return None if name is None or reading is None else Reading(name, reading.arguments)


def _pad(node: exp.Expr) -> Reading | None:
    name = "lpad" if node.args.get("is_left") else "rpad"
    return of(name, "this", "expression", "fill_pattern", ignored=("is_left",))(node)


def _sha2(node: exp.Expr) -> Reading | None:
    return Reading("sha256", (node.this,)) if node.args["length"].name == "256" else None


_OF_ONE: dict[str, type[exp.Expr]] = {
    "upper": exp.Upper, "lower": exp.Lower, "reverse": exp.Reverse, "ascii": exp.Ascii,
    "unicode": exp.Unicode, "bit_length": exp.BitLength, "length": exp.Length, "md5": exp.MD5,
    "sha1": exp.SHA,
}  # fmt: skip
_OF_TWO: dict[str, type[exp.Expr]] = {
    "left": exp.Left, "right": exp.Right, "regexp_full_match": exp.SimilarTo, "starts_with": exp.StartsWith,
    "ends_with": exp.EndsWith, "contains": exp.Contains, "levenshtein": exp.Levenshtein,
    "jaro_winkler_similarity": exp.JarowinklerSimilarity, "glob": exp.Glob,
}  # fmt: skip

READERS: Readers = {
    **{kind: of(name, "this") for name, kind in _OF_ONE.items()},
    **{kind: binary(name) for name, kind in _OF_TWO.items()},
    **_LIKES,
    exp.Escape: _escape,
    exp.Substring: of("substring", "this", "start", "length"),
    exp.Trim: _trim,
    exp.Pad: _pad,
    exp.DPipe: chain("||", exp.DPipe),
    exp.Concat: of("concat", "expressions", ignored=("safe", "coalesce")),
    exp.ConcatWs: of("concat_ws", "expressions", ignored=("safe", "coalesce")),
    exp.Replace: of("replace", "this", "expression", "replacement"),
    exp.Translate: of("translate", "this", "from_", "to"),
    exp.Repeat: of("repeat", "this", "times"),
    exp.Overlay: of("overlay", "this", "expression", "from_", "for_"),
    exp.Format: of("format", "this", "expressions"),
    exp.RegexpLike: of("regexp_matches", "this", "expression", "flag"),
    exp.RegexpFullMatch: of("regexp_full_match", "this", "expression", "options"),
    exp.RegexpReplace: of(
        "regexp_replace", "this", "expression", "replacement", "modifiers", ignored=("single_replace",)
    ),
    exp.RegexpExtract: of(
        "regexp_extract", "this", "expression", "group", "parameters", ignored=("null_if_pos_overflow",)
    ),
    exp.StrPosition: of("strpos", "this", "substr"),
    exp.SplitPart: of("split_part", "this", "delimiter", "part_index"),
    exp.Chr: of("chr", "expressions"),
    exp.SHA2: _sha2,
}
