"""Discovery of the modules of a package, at any depth.

for module in modules(dpsql.functions): module.FUNCTIONS, where it has any
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType


def modules(package: str, path: Iterable[str], *, deep: bool = True) -> Iterator[ModuleType]:
    """Load and yield every module below a package, in the order of their names.

    ``pkgutil.iter_modules`` stops at sub-packages, and a member in one would be lost silently: only what is
    not ``deep`` leaves them out. A file with a name that begins with an underscore is skipped.
    """
    for entry in pkgutil.iter_modules(path, package + "."):
        if entry.name.rpartition(".")[2].startswith("_"):
            continue
        if entry.ispkg and not deep:
            continue
        module = importlib.import_module(entry.name)
        yield module
        if entry.ispkg:
            yield from modules(entry.name, module.__path__)
