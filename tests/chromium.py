"""A real browser, headless: what a page looks like, how it is laid out, and whom it asks for things."""

from __future__ import annotations

import html
import http.server
import json
import re
import shutil
import struct
import subprocess
import tempfile
import threading
import zlib
from pathlib import Path
from urllib.parse import urlsplit

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

_FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --disable-default-apps
--hide-scrollbars""".split()


def browse(address: str, *flags: str) -> str:
    """Load a page and let the browser do what the flags say; what it prints."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", *flags, address]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return result.stdout


def screenshot(page: Path, picture: Path, width: int, height: int, *flags: str) -> None:
    browse(page.as_uri(), f"--window-size={width},{height}", f"--screenshot={picture}", *flags)


def measured(page: str, width: int, folder: Path, what: str) -> object:
    """What an expression gives about ``page`` (its document) in a frame of some width.

    The page itself may hold no script: it is asked from the outside.
    """
    harness = folder / "harness.html"
    harness.write_text(
        f'<!doctype html><iframe width="{width}" height="900" srcdoc="{html.escape(page)}"></iframe>'
        "<pre></pre><script>onload = () => { const page = document.querySelector('iframe').contentDocument;"
        f"document.querySelector('pre').textContent = JSON.stringify({what}); }}</script>"
    )
    printed = browse(harness.as_uri(), "--dump-dom", f"--window-size={width + 100},1000")
    found = re.search(r"<pre>(.*?)</pre>", printed, re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found[1]))


def asked_for(page: str) -> list[str]:
    """Every address that a browser asks for while it shows a page: all its traffic goes through us."""
    asked: list[str] = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = page.encode() if urlsplit(self.path).hostname == "page.test" else b""
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_CONNECT = do_POST = do_HEAD = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            browse("http://page.test/", "--dump-dom", f"--proxy-server=http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()
    return asked


def pixels(picture: Path) -> list[list[tuple[int, int, int]]]:
    """The colours of a PNG of eight bits a channel, row by row."""
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    width = height = size = 0
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        chunk = content[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack_from(">IIBB", chunk)
            assert (bits, colour) in ((8, 2), (8, 6))
            size = 3 if colour == 2 else 4
        packed += chunk if kind == b"IDAT" else b""
        at += length + 12
    raw = zlib.decompress(packed)
    above = bytes(width * size)
    rows = []
    for row in range(height):
        start = row * (width * size + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        _unfilter(raw[start], line, above, size)
        rows.append([(line[x], line[x + 1], line[x + 2]) for x in range(0, len(line), size)])
        above = bytes(line)
    return rows


def _unfilter(kind: int, line: bytearray, above: bytes, size: int) -> None:
    for x in range(len(line) if kind else 0):
        left = line[x - size] if x >= size else 0
        corner = above[x - size] if x >= size else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[x]
        elif kind == 3:
            guess = (left + above[x]) // 2
        else:
            near = left + above[x] - corner
            guess = min((left, above[x], corner), key=lambda each: abs(near - each))
        line[x] = (line[x] + guess) & 255
