"""The modules of a package, however deep: what a shelf discovers its members in.

for module in modules(dpsql.functions): module.FUNCTIONS, where it has any
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType


def modules(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    """Every module below a package, sub-packages too, in the order of their names, loaded one by one.

    ``pkgutil.iter_modules`` stops at sub-packages, and a member in one would be lost without a word. A file
    whose name begins with an underscore holds no member.
    """
    for found in pkgutil.iter_modules(path, package + "."):
        if found.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(found.name)
        yield module
        if found.ispkg:
            yield from modules(found.name, module.__path__)
