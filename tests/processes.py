"""Scripts in processes of their own, for what forks, ends by a signal, or may hang."""

from __future__ import annotations

import subprocess
import sys

LONGEST = 120
"""Seconds after which a script counts as hung: it is far above what any of them takes."""


def told(script: str, *words: object, longest: float = LONGEST) -> str:
    """What a script prints; it fails where the script does, and where it does not end."""
    command = [sys.executable, "-W", "error", "-c", script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=longest)
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout.strip()
