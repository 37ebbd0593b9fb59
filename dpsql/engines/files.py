"""A folder of files, or one file, as tables: which files there are, what they are called, their state.

    data/people.csv             people
    data/visits.parquet         visits
    data/visits/2023.parquet    visits, where the policy says files = "visits/*.parquet"

No file outside of the folder is a table, wherever a link leads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from dpsql.engines.file_sql import fields_of
from dpsql.engines.open_files import Seen, seen
from dpsql.errors import DatabaseError, refuse
from dpsql.policy.files import ENDINGS
from dpsql.policy.model import CsvRule, Policy, TableRule
from dpsql.policy.names import fold
from dpsql.policy.toml_positions import document_of

LONGEST_HEADER = 10**6


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one table, wherever links lead. They are of the kind that the links' names say.

    ``pattern`` is what a policy must say to name them; '' where the name does.
    """

    table: str
    paths: tuple[Path, ...]
    kind: str
    pattern: str = ""

    @property
    def csv(self) -> bool:
        return self.kind == ".csv"


@dataclass(frozen=True, slots=True)
class State:
    """Which file stands at a path, as far as the system tells without reading it."""

    path: str
    file: Seen


def states_of(paths: Iterable[Path]) -> tuple[State, ...]:
    """What a version is made of; OSError where a file is gone."""
    return tuple(State(str(path), seen(path.stat())) for path in sorted(set(paths)))


def files_of(path: Path, policy: Policy) -> tuple[Files, ...]:
    """The files of the policy's tables, as far as there are any: the check tells what is missing."""
    named = list(_named(path))
    found = []
    for rule in policy.tables:
        files = _by_pattern(path, policy, rule) if rule.files else _by_name(path, policy, rule, named)
        if files is None:
            continue
        try:
            files = replace(files, paths=_inside(path, files.paths))
        except DatabaseError as error:
            raise _wrong(policy, rule, "files" if rule.files else None, error.title, error.help) from None
        if rule.csv is not None and not files.csv:
            raise _wrong(policy, rule, "csv", f"{rule.name} is not in csv files", "leave csv out")
        found.append(files)
    if not found and not named:
        raise _nothing(path)
    return tuple(found)


def names_in(path: Path) -> tuple[str, ...]:
    """What the files are called: tables that the policy could mean."""
    return tuple(each.table for each in _named(path))


def all_files(path: Path) -> tuple[Files, ...]:
    """Every table that a policy could name, for the draft of one."""
    found: dict[str, Files] = {}
    for each in _named(path):
        if fold(each.table) in found:
            names = [files.paths[0].name for files in (found[fold(each.table)], each)]
            raise refuse("D602", f"{names[0]} and {names[1]} are one name", help="rename one of them")
        found[fold(each.table)] = replace(each, paths=_inside(path, each.paths))
    for folder in sorted(path.iterdir()) if path.is_dir() else ():
        for ending in ENDINGS if folder.is_dir() and not folder.name.startswith(".") else ():
            for pattern in (f"{folder.name}/*{ending}", f"{folder.name}/**/*{ending}"):
                inside = _inside(path, path.glob(pattern))
                if inside and fold(folder.name) not in found:
                    found[fold(folder.name)] = Files(folder.name, inside, ending, pattern)
    if not found:
        raise _nothing(path)
    return tuple(found.values())


def header_of(path: Path, rule: CsvRule) -> tuple[str, ...]:
    """The names of the columns in a csv file's first line."""
    with path.open("rb") as file:
        start = file.read(LONGEST_HEADER + 1)
    line = start.replace(b"\r", b"\n").partition(b"\n")[0]
    try:
        header = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        header = ""
    if not header or len(line) > LONGEST_HEADER:
        raise refuse(
            "D602",
            f"{path.name} has no header",
            label="the first line names the columns, in UTF-8",
            help="write one, or say in the policy that there is none: csv = { header = false }",
        )
    return fields_of(header, rule)


def foreign(path: Path) -> bool:
    """Whether more than one of a hundred lines at the file's beginning is not UTF-8."""
    with path.open("rb") as file:
        lines = file.read(LONGEST_HEADER).replace(b"\r", b"\n").split(b"\n")
    odd = sum(not _is_text(line) for line in lines[:-1] or lines)
    return odd * 100 > len(lines)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


# ---- what stands where -------------------------------------------------------------------------------


def _named(path: Path) -> Iterator[Files]:
    """Files that are called like a table."""
    for each in sorted(path.iterdir()) if path.is_dir() else [path]:
        hidden = each.name.startswith((".", "_")) or "" in each.stem.split(".", 1)
        if each.suffix.casefold() in ENDINGS and not hidden and each.name.isprintable() and each.is_file():
            yield Files(each.stem, (each,), each.suffix.casefold())


def _by_name(path: Path, policy: Policy, rule: TableRule, named: Sequence[Files]) -> Files | None:
    found = [files for files in named if fold(files.table) == fold(rule.name)]
    if len(found) > 1:
        names = " and ".join(files.paths[0].name for files in found)
        raise _wrong(
            policy, rule, None, f"{names} could be {rule.name}", f'files = "{found[0].paths[0].name}", say'
        )
    if not found and path.is_dir() and (path / rule.name).is_dir():
        way_out = f'files = "{rule.name}/*.parquet", if all of them are one table'
        raise _wrong(policy, rule, None, f"{rule.name} is a folder", way_out)
    return found[0] if found else None


def _by_pattern(path: Path, policy: Policy, rule: TableRule) -> Files:
    if not path.is_dir():
        title = f"{path.name} is one file, and the policy names others"
        raise _wrong(policy, rule, "files", title, "open the folder of the files, or leave this out")
    _all_open(path, policy, rule)
    found = [each for each in path.glob(rule.files) if each.is_file() and not each.name.startswith(".")]
    if not found:
        raise _wrong(
            policy, rule, "files", f"no file is called {rule.files}", "name it from the data's folder"
        )
    return Files(rule.name, tuple(sorted(found)), PurePosixPath(rule.files).suffix, rule.files)


def _all_open(path: Path, policy: Policy, rule: TableRule) -> None:
    """Every folder in which the pattern looks may be read: a closed one would seem to be empty."""
    parts = rule.files.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        for folder in path.glob("/".join(parts[:depth])):
            if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
                title = f"the folder {folder.name} may not be read"
                raise _wrong(policy, rule, "files", title, "check who may read it, or name other folders")


def _inside(path: Path, found: Iterable[Path]) -> tuple[Path, ...]:
    """The files themselves, wherever links lead inside of the folder."""
    base, paths = path.resolve(), list[Path]()
    base = base if path.is_dir() else base.parent
    for each in sorted(found):
        file = each.resolve()
        if not file.is_relative_to(base):
            raise refuse(
                "D602", f"{each.name} is a link that leads out of {base.name}", help="put the file there"
            )
        if set(str(file)) & set("*?[") or not str(file).isprintable():
            title = f"the path of {each.name!a} holds one of * ? [, or what cannot be printed"
            raise refuse("D602", title, help="rename it, or the folder it is in")
        paths.append(file)
    return tuple(dict.fromkeys(paths))


def _nothing(path: Path) -> DatabaseError:
    return refuse(
        "D602",
        f"the folder {path.resolve().name} holds no parquet or csv files",
        help="name a folder of them, or a DuckDB file",
    )


def _wrong(policy: Policy, rule: TableRule, key: str | None, title: str, help: str) -> DatabaseError:
    path = ("tables", rule.name) if key is None else ("tables", rule.name, key)
    return document_of(policy.text, policy.name).refuse("D804", title, path, on_key=key is None, help=help)
