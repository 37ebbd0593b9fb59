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
from dpsql.render.svg import STYLE, WIDTH, chart_svg

_SAFE = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_LEFT, _SCALE, _BAR = 150, 420, 24
"""Where the bars begin, how long 1 is, and how high a bar is."""

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
    ours = judged.ours
    words = [judged.does, judged.lacks and f"Not tried: it {judged.lacks}.", ours.words]
    text = "".join(f"<p>{escape(word)}</p>" for word in words if word)
    picture = ""
    if ours.tried:
        low, high = interval(ours.won, ours.tried)
        picture = _bars(judged) + (
            f"<p>dpsql: {ours.won} of {ours.tried} ({low:.3f} to {high:.3f}, 95 % sure); "
            f"at most {short(ours.bound)} is allowed"
            f"{'' if judged.can_beat else ', and so few could not tell'}.</p>"
        )
    state = " (beat its bound)" if judged.beat else ""
    return f"<section><h2>{escape(judged.name + state)}</h2>{text}{picture}</section>"


def _bars(judged: Judged) -> str:
    """Draw what was won, from 0 to 1, with the interval around dpsql's and a line at the bound."""
    ours, exact = judged.ours, judged.exact
    low, high = interval(ours.won, ours.tried)
    bars = [("dpsql", ours.success, 0), ("what epsilon allows", ours.bound, 1)]
    if exact is not None and exact.tried:
        bars.insert(0, ("exact answers", exact.success, 5))
    parts = []
    for at, (name, height, colour) in enumerate(bars):
        top = _BAR * at
        parts.append(f'<text x="{_LEFT - 8}" y="{top + 16}" text-anchor="end">{name}</text>')
        parts.append(
            f'<rect class="bar f{colour}" x="{_LEFT}" y="{top + 3}" width="{_SCALE * height:.1f}" '
            f'height="{_BAR - 6}" rx="1.5"/>'
        )
        if name == "dpsql":
            first, last, middle = _x(low), _x(high), top + _BAR / 2
            ends = "".join(f"M{end:.1f} {middle - 4}v8" for end in (first, last))
            parts.append(f'<path class="reach" d="M{first:.1f} {middle}H{last:.1f}{ends}"/>')
        beside = _x(max(height, high) if name == "dpsql" else height)
        parts.append(f'<text class="soft" x="{beside + 6:.1f}" y="{top + 16}">{short(height)}</text>')
    base = _BAR * len(bars)
    parts.append(f'<path class="axis" d="M{_LEFT} 0V{base}M{_LEFT} {base}H{_x(1.0):.1f}"/>')
    parts.append(f'<path class="s1" stroke-dasharray="4 3" d="M{_x(ours.bound):.1f} 0V{base}"/>')
    parts += [
        f'<text class="soft" x="{_x(tick):.1f}" y="{base + 16}" text-anchor="middle">{tick:g}</text>'
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dp" role="img" width="{WIDTH}" height="{base + 22}" '
        f'viewBox="0 0 {WIDTH} {base + 22}"><title>what {escape(judged.name)} wins</title>'
        f"{''.join(parts)}</svg>\n"
    )


def _x(chance: float) -> float:
    return _LEFT + _SCALE * chance


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
