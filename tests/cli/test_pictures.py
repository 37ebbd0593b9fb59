"""The README's pictures: they are there, small, and a screen's picture shows what the screen does."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pyte
from pictures import FOLDER, Screen, to_svg

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_readme_shows_pictures_that_exist() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {each.name for each in FOLDER.iterdir()} <= {Path(each).name for each in shown}
    for each in shown:
        content = (ROOT / each).read_bytes()
        assert content.startswith((b"\x89PNG", b"<svg "))
        assert len(content) < 200_000


def test_a_screen_becomes_a_picture() -> None:
    screen = Screen(20, 5)
    pyte.Stream(screen).feed("a <b> \x1b[1mbold\x1b[0m\r\n\x1b[2m± 25\x1b[0m \x1b[38;5;2m██\x1b[0m")
    found = list(ElementTree.fromstring(to_svg(screen)).iter())
    texts = {"".join(each.itertext()).strip(): each for each in found if each.tag == f"{SVG}text"}
    assert set(texts) == {"a <b>", "bold", "± 25"}
    assert texts["bold"].get("font-weight") == "bold"
    assert texts["± 25"].get("fill") != texts["bold"].get("fill")
    assert float(texts["± 25"].get("y", "")) > float(texts["bold"].get("y", ""))
    blocks = [each for each in found if each.tag == f"{SVG}rect"][1:]
    assert [float(each.get("width", "")) for each in blocks] == [18.1]
