"""JSON and structs: the value at a path, a field by its name.

doc -> 'a' ->> '$.b[0]'    json_extract_string(doc, '$."a"."b"[0]')
home['town']               struct_extract(home, 'town')
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading.shapes import Reader, Readers, Reading, of, only

_FLAGS = ("only_json_types", "scalar_only")


def _steps(path: object) -> str | None:
    """Return what follows the root of a path, in one form; None for what is not answered."""
    if isinstance(path, exp.Literal):
        plain = path.is_string and path.this[:1] not in ("$", "/", "")
        return f'."{path.this}"' if plain else None
    if not isinstance(path, exp.JSONPath) or not isinstance(path.expressions[0], exp.JSONPathRoot):
        return None
    steps = ""
    for part in path.expressions[1:]:
        match part:
            case exp.JSONPathKey(this=str() as name):
                steps += f'."{name}"'
            case exp.JSONPathSubscript(this=int() as place):
                steps += f"[{place}]"
            case exp.JSONPathSubscript(this=exp.JSONPathWildcard()):
                steps += "[*]"
            case _:
                return None
    return steps


def _inside(node: exp.Expr) -> exp.Expr:
    """Return what stands in parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _extraction(name: str) -> Reader:
    def read(node: exp.Expr) -> Reading | None:
        if not only(node, "this", "expression", *_FLAGS):
            return None
        subject, steps = _inside(node.this), _steps(node.expression)
        while type(subject) is exp.JSONExtract and steps is not None:
            before = _steps(subject.expression) if only(subject, "this", "expression", *_FLAGS) else None
            steps = None if before is None else before + steps
            subject = _inside(subject.this)
        return None if steps is None else Reading(name, (subject, exp.Literal.string(f"${steps}")))

    return read


def at_path(name: str, subject: exp.Expr, path: exp.Expr | None) -> Reading | None:
    """Read a function of JSON, and of a path in it or of the whole."""
    if path is None:
        return Reading(name, (subject,))
    literal = path if isinstance(path, exp.Literal) and path.is_string else None
    parsed = exp.JSONExtract(this=subject.copy(), expression=_parsed(literal)) if literal else None
    return None if parsed is None else _extraction(name)(parsed)


def _parsed(path: exp.Literal) -> exp.Expr:
    from sqlglot.errors import ParseError, TokenError
    from sqlglot.jsonpath import parse  # rarely needed

    try:
        return parse(path.this) if path.this.startswith("$") else path
    except (ParseError, TokenError):
        return path


def field(subject: exp.Expr, name: exp.Expr) -> Reading:
    """Read a field of a struct."""
    return Reading("struct_extract", (subject, name))


def _whole_or_part(name: str) -> Reader:
    return lambda node: (
        at_path(name, node.this, node.args.get("expression")) if only(node, "this", "expression") else None
    )


READERS: Readers = {
    exp.JSONExtract: _extraction("json_extract"),
    exp.JSONExtractScalar: _extraction("json_extract_string"),
    exp.JSONType: _whole_or_part("json_type"),
    exp.JSONKeys: _whole_or_part("json_keys"),
    exp.StructExtract: of("struct_extract", "this", "expression"),
}
