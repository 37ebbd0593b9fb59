"""One HTML page of the attacks: for each a picture of exact answers, dpsql's, and what epsilon allows.

The page is self-contained: it holds no script and loads nothing. Of an owner's data it holds exact functions
of private rows, so it is for the owner alone.

Test: tests/privacy/test_attack_command.py
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dpsql.attacks.chances import interval
from dpsql.attacks.show import Judged, attacks
from dpsql.attacks.table import short
from dpsql.batch.page_style import PAGE_STYLE
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.svg import STYLE, chart_svg

_SAFE = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_CURVE = (0.01, *(step / 10 for step in range(1, 61)))


def page(title: str, said: Sequence[str], results: Sequence[Judged], delta: float, verdict: str) -> str:
    """Return the HTML of the page."""
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in said)
    parts = [
        f"<header><h1>{escape(title)}</h1>{paragraphs}</header>\n<main>",
        *(_section(judged) for judged in results),
        _curves(delta),
        f"<section><h2>{escape(verdict[:1].upper() + verdict[1:])}</h2></section></main>",
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_SAFE}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{PAGE_STYLE}\n{STYLE}\n</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _section(judged: Judged) -> str:
    ours, exact = judged.ours, judged.exact
    words = [judged.does, judged.lacks and f"Not tried: it {judged.lacks}.", ours.words]
    text = "".join(f"<p>{escape(word)}</p>" for word in words if word)
    picture = ""
    if ours.tried:
        low, high = interval(ours.won, ours.tried)
        bars: list[tuple[str, float, float]] = [
            ("dpsql", ours.success, (high - low) / 2),
            ("what epsilon allows", ours.bound, 0.0),
        ]
        if exact is not None and exact.tried:
            bars.insert(0, ("exact answers", exact.success, 0.0))
        picture = chart_svg(_bars(bars), alone=False)
        picture += f"<p>{ours.won} of {ours.tried}; at most {short(ours.bound)} of them is allowed.</p>"
    state = " (beat its bound)" if judged.beat else ""
    return f"<section><h2>{escape(judged.name + state)}</h2>{text}{picture}</section>"


def _bars(bars: Sequence[tuple[str, float, float]]) -> AnswerFields:
    return AnswerFields(
        ("answers", "won"),
        ("VARCHAR", "DOUBLE"),
        [(name, round(height, 4)) for name, height, _ in bars],
        [(None, margin) for _, _, margin in bars],
        0.0,
        0.0,
    )


def _curves(delta: float) -> str:
    """Return what each kind of guess may win, over epsilon."""
    kinds = {attack.allowed: attack.name for attack in reversed(attacks()) if attack.allowed(1.0, 0.0)}
    drawn = "".join(
        f"<h3>{escape((kind.__doc__ or name).strip().rstrip('.'))}</h3>"
        + chart_svg(
            AnswerFields(
                ("epsilon", "may win"),
                ("DOUBLE", "DOUBLE"),
                [(epsilon, kind(epsilon, delta)) for epsilon in _CURVE],
                [(None, 0.0)] * len(_CURVE),
                0.0,
                0.0,
            ),
            alone=False,
        )
        for kind, name in kinds.items()
    )
    return f"<section><h2>What an epsilon lets anybody win</h2>{drawn}</section>"
