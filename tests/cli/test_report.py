"""The report of a run: everything is on it, it stands by itself, and a browser shows it as it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from chromium import CHROMIUM, asked_for, measured, pixels, screenshot
from test_boxes import WARDS, answer
from test_frames import EVIL, Seen

from dpsql.batch.report import Guarded, Part, Promise, Report, page
from tests.conftest import POLICY, SCRIPTS

browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

SQL = """\
-- name: everybody
SELECT COUNT(*) AS patients, AVG(age) AS age FROM patients;
-- name: by_ward
SELECT ward, COUNT(*) AS patients, AVG(income) AS income FROM patients GROUP BY ward;
-- name: by_age
SELECT age // 10 AS decade, COUNT(*) AS n FROM patients GROUP BY decade ORDER BY decade;
-- name: wide
SELECT ward, COUNT(*) AS number_of_patients, AVG(age) AS average_age, AVG(income) AS average_income,
    AVG(height) AS average_height, SUM(age) AS total_age, SUM(income) AS total_income
FROM patients GROUP BY ward;
SELECT * FROM wards;
-- name: nosy
SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id;
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run as the command line writes it."""
    folder = tmp_path_factory.mktemp("report")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(SCRIPTS["clinic"])
    (folder / "clinic.toml").write_text(POLICY)
    (folder / "monthly_figures.sql").write_text(SQL)
    run(folder, "--report", "report.html")
    return folder


def run(folder: Path, *more: str) -> None:
    words = "clinic.duckdb monthly_figures.sql --epsilon 9 --keep-going --analyst ana"
    result = subprocess.run(
        [sys.executable, "-m", "dpsql.cli", "run", *words.split(), *more],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    assert result.returncode == 1, result.stderr  # one statement is refused
    assert "the report is" in result.stderr


def test_everything_is_on_it(made: Path) -> None:
    found = (made / "report.html").read_text()
    seen = Seen(found)
    manifest = json.loads((made / "monthly_figures.results" / "manifest.json").read_text())
    assert seen.tags.count("svg") == 5
    assert "monthly figures" in seen.text
    for each in manifest["statements"]:
        assert each["name"] in seen.text
        assert f"price epsilon {each['price']:g}, " in seen.text
    assert "5 of 6" in seen.text
    assert "each row of this would be about one patient" in seen.text
    assert f"{manifest['paid']:g}" in seen.text
    assert "What is promised to every patient" in seen.text
    assert "epsilon 100 at delta 1e-06" in seen.text
    assert "age: [0, 120]" in seen.text
    for name, version in manifest["versions"].items():
        assert f"{name} {version}" in seen.text


def test_what_was_answered_before_a_stop_is_on_it_too(made: Path) -> None:
    """Continued, the run pays nothing more, and its page shows the same answers."""
    before = (made / "report.html").read_text()
    run(made, "--report", "again.html", "--resume")
    after = (made / "again.html").read_text()
    assert Seen(after).tags.count("svg") == 5

    def numbers(text: str) -> list[str]:
        return [each.split("</svg>")[0] for each in text.split("<svg")[1:]]

    assert numbers(after) == numbers(before)


def test_it_stands_by_itself(made: Path) -> None:
    found = (made / "report.html").read_text()
    seen = Seen(found)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base"} & set(seen.tags)
    assert not {"src", "srcset", "action", "onload", "onerror", "xlink:href", "background"} & seen.names
    assert "url(" not in found
    assert "@import" not in found
    assert found.replace("http://www.w3.org/2000/svg", "").count("http") == found.count("http-equiv")
    assert "default-src 'none'" in found


HOSTILE = Report(
    title=EVIL, database=EVIL, analyst=EVIL, time="2024-01-01",
    parts=(
        Part(EVIL, EVIL, answer({EVIL: "VARCHAR", "n": "BIGINT"}, (EVIL, 1), ("b", 2), note=EVIL), 0.5, 0.5),
        Part("refused", "SELECT <b>", None, 0.5, 0.0, EVIL, EVIL),
        Part("wards", "SELECT *", WARDS, 0.5, 0.0),
    ),
    paid=0.5, taken=0.2, remaining=1.0,
    promise=Promise(EVIL, EVIL, 5.0, 1e-6, "zcdp", (Guarded(EVIL, EVIL, (EVIL,)),)),
    versions=((EVIL, EVIL),),
)  # fmt: skip


def test_whatever_is_on_it_is_text() -> None:
    found = page(HOSTILE)
    found.encode("utf-8")
    assert not {"script", "img", "b"} & set(Seen(found).tags)
    assert "\u202e" not in found


def test_a_promise_without_a_delta_names_none() -> None:
    pure = replace(HOSTILE, title="a", promise=replace(HOSTILE.promise, delta=0.0, accountant="pure"))
    assert "delta" not in page(pure)


# ---- a real browser ----------------------------------------------------------------------------------


DARK = ("--blink-settings=preferredColorScheme=0",)


@browser
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_not_blank(made: Path, dark: bool) -> None:
    """Half-size pixels of a window of 800: paper, ink, and the colour of the bars."""
    picture = made / "report.png"
    scheme = DARK if dark else ()
    screenshot(made / "report.html", picture, 800, 1800, "--force-device-scale-factor=0.5", *scheme)
    rows = pixels(picture)
    assert (len(rows), len(rows[0])) == (900, 400)
    colours = [each for row in rows for each in row]
    bright = sum(min(each) > 200 for each in colours) / len(colours)
    deep = sum(max(each) < 70 for each in colours) / len(colours)
    assert (deep > 0.6) if dark else (bright > 0.6)
    bar = (0x7F, 0xA8, 0xE8) if dark else (0x35, 0x67, 0xB3)
    near = [each for each in colours if max(abs(a - b) for a, b in zip(each, bar, strict=True)) < 45]
    assert len(near) > 2000
    assert (bright if dark else deep) > 0.002  # there is text


WIDER = """[page.documentElement.scrollWidth, [...page.querySelectorAll('body *')].filter(each =>
    !each.closest('.wide, svg') && each.getBoundingClientRect().right > page.documentElement.clientWidth + 0.5
).map(each => each.tagName)]"""

OUTSIDE = """[...page.querySelectorAll('svg text')].filter(each => {
    const own = each.getBoundingClientRect(), paper = each.closest('svg').getBoundingClientRect();
    return own.left < paper.left - 1 || own.right > paper.right + 1 || own.bottom > paper.bottom + 1
}).map(each => each.textContent)"""


@browser
@pytest.mark.parametrize("width", [360, 820, 1400])
def test_nothing_is_wider_than_the_window(made: Path, tmp_path: Path, width: int) -> None:
    for each in ((made / "report.html").read_text(), page(HOSTILE)):
        assert measured(each, width, tmp_path, WIDER) == [width, []]
        assert measured(each, width, tmp_path, OUTSIDE) == []


@browser
def test_the_browser_would_say_so(tmp_path: Path) -> None:
    """What the two tests around this one rely on."""
    wide = "<!doctype html><body><p style='width:2000px'>x"
    assert measured(wide, 800, tmp_path, WIDER) == [2008, ["P"]]
    with_picture = "<!doctype html><img src='http://elsewhere.test/x.png'>"
    assert "http://elsewhere.test/x.png" in asked_for(with_picture)


@browser
def test_no_request_leaves_the_page(made: Path) -> None:
    for each in ((made / "report.html").read_text(), page(HOSTILE)):
        asked = [address for address in asked_for(each) if ".test/" in address]
        assert asked == ["http://page.test/"]
