"""A learner: a function of a file, which a process of its own can load.

def nearest(examples, rows): ...        in nearest.py, or in the script that calls dpsql.vote
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

from dpsql.errors import InterfaceError
from dpsql.ir.votes import Learner


def learner_of(function: Callable[..., object]) -> Learner:
    """Return which function of which file this is; refuse what another process would not find there."""
    if not isinstance(function, FunctionType):
        raise InterfaceError(
            f"a learner is a function, not a {type(function).__name__}",
            help="def learner(examples, rows): ... in a file",
        )
    module = sys.modules.get(function.__module__)
    file, name = getattr(module, "__file__", None), function.__qualname__
    if file is None or not Path(file).is_file() or getattr(module, name, None) is not function:
        raise InterfaceError(
            f"the learner {name} is no function of a file",
            help="write it with def at the top of a .py file, and import it: each teacher loads it anew",
        )
    path = Path(file).resolve()
    return Learner(function.__module__, str(path), name, hashlib.sha256(path.read_bytes()).hexdigest())
