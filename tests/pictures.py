"""The README's pictures, taken from what runs: ``python tests/pictures.py`` makes dpsql/docs/pictures.

report.png     the page of a run, in Chromium
shell.png      a question to the demo's clinic, in a real terminal
plot.png       its answer as bars
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from html import escape
from itertools import groupby
from pathlib import Path

import pexpect
import pyte
from chromium import screenshot

FOLDER = Path(__file__).parent.parent / "dpsql" / "docs" / "pictures"

SCRIPT = """\
-- name: smokers_by_ward
SELECT ward, COUNT(*) AS smokers, AVG(age) AS age FROM patients WHERE smoker GROUP BY ward;
-- name: cost_by_age
SELECT age // 10 * 10 AS age, AVG(cost) AS cost_of_a_visit
FROM visits JOIN patients USING (patient_id) WHERE age < 100 GROUP BY 1;
"""

_WIDE, _HIGH, _EDGE = 9.03, 17.4, 18  # pixels of a sign, and around all
_COLOURS = {
    "black": "#1c2128", "red": "#f47067", "green": "#57ab5a", "brown": "#c69026", "blue": "#539bf5",
    "magenta": "#b083f0", "cyan": "#39c5cf", "white": "#adbac7", "brightblack": "#768390",
    "brightred": "#ff938a", "brightgreen": "#6bc46d", "brightbrown": "#daaa3f", "brightyellow": "#daaa3f",
    "brightblue": "#6cb6ff", "brightmagenta": "#dcbdfb", "brightcyan": "#56d4dd", "brightwhite": "#cdd9e5",
}  # fmt: skip
_INK, _PAPER = "#cdd9e5", "#1c2128"


class Screen(pyte.Screen):
    """A screen that shows what is dimmed in grey: pyte knows no such style."""

    def select_graphic_rendition(self, *attributes: int) -> None:
        if not {38, 48} & set(attributes):
            attributes = tuple(90 if each == 2 else each for each in attributes)
        super().select_graphic_rendition(*attributes)


def to_svg(screen: pyte.Screen) -> str:
    """What a terminal shows, as a picture."""
    lines = max((at for at, line in enumerate(screen.display) if line.strip()), default=0) + 1
    width, height = screen.columns * _WIDE + 2 * _EDGE, round(lines * _HIGH + 2 * _EDGE)
    parts = []
    for row in range(lines):
        signs = [(at, screen.buffer[row][at]) for at in range(screen.columns)]
        for style, run in groupby(signs, key=lambda each: (*_style(each[1]), each[1].data == "█")):
            drawn = list(run)
            text = "".join(sign.data for _, sign in drawn)
            parts.append(_run(text, _EDGE + drawn[0][0] * _WIDE, _EDGE + row * _HIGH, len(drawn), *style))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        'font-family="\'DejaVu Sans Mono\',ui-monospace,Menlo,Consolas,monospace" font-size="15">'
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>{"".join(parts)}</svg>\n'
    )


def _style(sign: pyte.screens.Char) -> tuple[str, str, bool]:
    ink, paper = _colour(sign.fg, _INK), _colour(sign.bg, _PAPER)
    return (paper, ink, sign.bold) if sign.reverse else (ink, paper, sign.bold)


def _colour(name: str, usual: str) -> str:
    if name == "default":
        return usual
    return _COLOURS.get(name, f"#{name}")


def _run(text: str, x: float, y: float, signs: int, ink: str, paper: str, bold: bool, full: bool) -> str:
    width = signs * _WIDE
    fill = ink if full else paper
    back = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_HIGH}" fill="{fill}"/>'
    if full:
        return back  # signs side by side would show seams
    back = "" if paper == _PAPER else back
    if not text.strip():
        return back
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'{back}<text x="{x:.1f}" y="{y + 13.6:.1f}" fill="{ink}"{weight} xml:space="preserve" '
        f'textLength="{width:.1f}">{escape(text)}</text>'
    )


# ---- taking them -------------------------------------------------------------------------------------


class Terminal:
    """The shell in front of somebody who types."""

    def __init__(self, folder: Path) -> None:
        self.screen = Screen(80, 40)
        self.stream = pyte.Stream(self.screen)
        more = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.process = pexpect.spawn(
            sys.executable, ["-m", "dpsql.cli", "shell", "clinic.duckdb", "--analyst", "ana"],
            env={**os.environ, **more, "DPSQL_HISTORY": str(folder / "history")},
            cwd=str(folder), dimensions=(40, 80), encoding="utf-8",
        )  # fmt: skip

    def type(self, keys: str, seconds: float = 4.0) -> None:
        """Keys, and what comes within some time."""
        self.process.send(keys)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.stream.feed(self.process.read_nonblocking(65536, 0.2))
            except pexpect.TIMEOUT:
                continue


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pictures-") as name:
        folder = Path(name)
        dpsql(folder, "demo", "--dir", ".")
        (folder / "monthly.sql").write_text(SCRIPT, encoding="utf-8")
        dpsql(folder, "run", "clinic.duckdb", "monthly.sql", "--analyst", "ana", "--report", "report.html")
        take(folder / "report.html", "report", 800, 1300)
        terminal = Terminal(folder)
        terminal.type("")
        terminal.type("\x0c\\d patients\r")
        terminal.type("SELECT ward, COUNT(*) AS women, AVG(age) AS age\r")
        terminal.type("FROM patients WHERE sex = 'F' GROUP BY ward;\r")
        terminal.type("SELECT AVG(")
        take_screen(terminal.screen, "shell", folder)
        terminal.type("\x03\x0cSET epsilon = 0.1;\r")
        terminal.type("SELECT ward, AVG(age) AS age FROM patients GROUP BY ward;\r")
        terminal.type("\\plot\r")
        take_screen(terminal.screen, "plot", folder)
        terminal.process.close(force=True)


def dpsql(folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "dpsql.cli", *words], cwd=folder, check=True, capture_output=True)


def take_screen(screen: pyte.Screen, name: str, folder: Path) -> None:
    svg = to_svg(screen)
    file = folder / f"{name}.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body style='margin:0;background:#0000'>{svg}")
    width, height = (int(float(svg.split(f'{each}="')[1].split('"')[0])) for each in ("width", "height"))
    take(file, name, width, height)


def take(page: Path, name: str, width: int, height: int) -> None:
    picture = FOLDER / f"{name}.png"
    flags = ("--force-device-scale-factor=1.25", "--default-background-color=00000000")
    screenshot(page, picture, width, height, *flags)
    assert picture.stat().st_size < 200_000, f"{picture} is larger than 200 kB"


if __name__ == "__main__":
    main()
