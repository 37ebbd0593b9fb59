"""Discovery of the modules of a package, at any depth, or of the one that has what is asked for.

for module in modules(dpsql.aggregates): module.RULES, where it has any
Shelf(dpsql.functions, members)["between"]        loads modules until one has it
module_named(dpsql.mechanisms, "gaussian")        loads this one
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


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


class Shelf(Mapping[str, T]):
    """The members of all modules below a package, by name. It loads modules until one has what is asked for.

    Threads may ask at once: a module that two of them load has the same members for both.
    """

    def __init__(self, package: str, path: Iterable[str], members: Callable[[ModuleType], Mapping[str, T]]):
        self._places = tuple(_places(package, path))
        self._members = members
        self._loaded = set[str]()
        self._found: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._found:
            self._load(until=name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._found)

    def __len__(self) -> int:
        self._load()
        return len(self._found)

    def _load(self, until: str | None = None) -> None:
        for place in self._places:
            if place in self._loaded:
                continue
            for name, member in self._members(importlib.import_module(place)).items():
                assert self._found.setdefault(name, member) is member, name
            self._loaded.add(place)
            if until in self._found:
                return


def _places(package: str, path: Iterable[str]) -> Iterator[str]:
    """Yield the names of the modules below a package, in order, and load none."""
    for folder in path:
        for entry in pkgutil.iter_modules([folder], package + "."):
            last = entry.name.rpartition(".")[2]
            if last.startswith("_"):
                continue
            yield entry.name
            if entry.ispkg:
                yield from _places(entry.name, [os.path.join(folder, last)])


def module_named(package: str, name: str) -> ModuleType | None:
    """Load the module of a package that has this name, and no other; return None if there is none."""
    place = f"{package}.{name}"
    if not name.isidentifier() or importlib.util.find_spec(place) is None:
        return None
    return importlib.import_module(place)
