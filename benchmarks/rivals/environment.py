"""A rival answers in its own environment: made once under the folder PEERS, or for this run alone.

answered("opendp", "errors", setting, data, 1.0)    opendp_errors.py data 1.0, one value per line of JSON
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.timing import Setting

HERE = Path(__file__).resolve().parent
NEEDED = {
    "smartnoise": ("smartnoise-sql==1.0.10", "duckdb==1.5.6", "setuptools<80"),
    "qrlew": ("pyqrlew==0.9.27", "duckdb==2.0.*"),
    "opendp": ("opendp[polars]==0.16.*", "duckdb==2.0.*"),
}


class LeftOut(Exception):
    """Why a rival gives no answer."""


def answered(
    name: str, what: str, setting: Setting, *arguments: object, seconds: float | None = None
) -> list[Any]:
    """Run the rival's script; return what it prints in JSON. LeftOut says why there is nothing."""
    script = [str(_python(name, setting)), str(HERE / f"{name}_{what}.py"), *map(str, arguments)]
    try:
        done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise LeftOut(f"it takes more than {seconds:g} s") from None
    if done.returncode:
        raise LeftOut((done.stderr.strip() or "it failed").splitlines()[-1])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def _python(name: str, setting: Setting) -> Path:
    """Return the Python of the rival's environment, which is made if it is not there."""
    home = Path(os.environ.get("PEERS", setting.folder)) / f"v_{name}"
    python, made = home / "bin" / "python", home / "made"
    needed = "\n".join(NEEDED[name])
    if made.exists() and made.read_text(encoding="utf-8") == needed:
        return python
    if setting.quick:
        raise LeftOut("no environment is made for a quick look")
    for command in (
        [sys.executable, "-m", "venv", str(home)],
        [str(python), "-m", "pip", "install", "-q", *NEEDED[name]],
    ):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise LeftOut("it does not install here")
    made.write_text(needed, encoding="utf-8")
    return python
