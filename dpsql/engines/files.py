"""A folder of files, or one file, as tables: find the files, name the tables, record the files' state.

    data/people.csv             people
    data/visits.parquet         visits
    data/visits/2023.parquet    visits, where the policy says files = "visits/*.parquet"

A link that leads out of the folder is refused, and so is one that leads nowhere: its rows would be missing.

An open folder is compared with ``files_now`` before and after every read: a file that was added, removed,
replaced or written to gives another list of states. No file is opened for it and no link resolved, since what
a link leads to shows in its state.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from dpsql.engines.contents import Seen
from dpsql.engines.file_sql import fields_of
from dpsql.engines.open_files import seen
from dpsql.errors import DatabaseError, refuse
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.files import ENDINGS
from dpsql.policy.model import CsvRule, Policy, TableRule
from dpsql.policy.names import fold
from dpsql.policy.toml_positions import document_of

LONGEST_HEADER = 10**6
_NOWHERE = "is a link that leads nowhere"
_BACK = "bring back what it leads to, or remove the link"


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one table, with links resolved; ``kind`` is the ending of the link's own name.

    ``pattern`` is the policy's ``files`` value that names them; '' if the table's name is enough.
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
    """The identity of the file at a path, from its metadata."""

    path: str
    file: Seen


def states_of(paths: Iterable[Path]) -> tuple[State, ...]:
    """Return the states of files, which identify a version; OSError if a file is gone."""
    return tuple(State(path, seen(os.stat(path))) for path in sorted({*map(str, paths)}))


def files_now(path: Path, policy: Policy) -> tuple[State, ...]:
    """Return the files that the policy's tables would be read from now; OSError if one goes meanwhile.

    Links stay as they are, with the states of what they lead to.
    """
    base = Path(os.path.realpath(path)) if path.is_dir() else path
    links = {str(file) for rule in policy.tables if rule.files for file in _matching(base, rule.files)}
    by_name = {fold(rule.name) for rule in policy.tables if not rule.files}
    if by_name:
        links |= {str(files.paths[0]) for files in _named(base) if fold(files.table) in by_name}
    found = ((link, _led_to(link)) for link in sorted(links))
    return tuple(State(link, seen(status)) for link, status in found if not stat.S_ISDIR(status.st_mode))


def _led_to(link: str) -> os.stat_result:
    """Return the status of a file, or of a link that leads nowhere."""
    try:
        return os.stat(link)
    except OSError:
        return os.lstat(link)


def files_of(path: Path, policy: Policy) -> tuple[Files, ...]:
    """Return the files of the policy's tables; the policy check reports tables without files."""
    named = list(_named(path))
    tables = []
    for rule in policy.tables:
        files = _by_pattern(path, policy, rule) if rule.files else _by_name(path, policy, rule, named)
        if files is None:
            continue
        try:
            files = replace(files, paths=_inside(path, files.paths))
        except DatabaseError as error:
            raise _policy_error(
                policy, rule, "files" if rule.files else None, error.title, error.help
            ) from None
        if rule.csv is not None and not files.csv:
            raise _policy_error(policy, rule, "csv", f"{rule.name} is not in csv files", "leave csv out")
        tables.append(files)
    if not tables and not named:
        raise _no_files(path)
    return tuple(tables)


def names_in(path: Path) -> tuple[str, ...]:
    """Return the table names that the files suggest."""
    return tuple(files.table for files in _named(path))


def all_files(path: Path) -> tuple[Files, ...]:
    """Return every table that a policy could name, for the draft of one."""
    tables: dict[str, Files] = {}
    for files in _named(path):
        if _leads_nowhere(files.paths[0]):
            continue
        if fold(files.table) in tables:
            names = [same.paths[0].name for same in (tables[fold(files.table)], files)]
            title = f"{names[0]} and {names[1]} give the same table name"
            raise refuse("D602", title, help="rename one of them")
        tables[fold(files.table)] = replace(files, paths=_inside(path, files.paths))
    for folder in sorted(path.iterdir()) if path.is_dir() else ():
        for ending in ENDINGS if folder.is_dir() and not folder.name.startswith(".") else ():
            for pattern in (f"{folder.name}/*{ending}", f"{folder.name}/**/*{ending}"):
                inside = _inside(path, filter(_is_file, _matching(path, pattern)))
                if inside and fold(folder.name) not in tables:
                    tables[fold(folder.name)] = Files(folder.name, inside, ending, pattern)
    if not tables:
        raise _no_files(path)
    return tuple(tables.values())


def header_of(path: Path, rule: CsvRule) -> tuple[str, ...]:
    """Return the column names in a csv file's first line."""
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
    """Whether more than one percent of the lines at the file's beginning are not UTF-8."""
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


# ---- finding files -----------------------------------------------------------------------------------


def _named(path: Path) -> Iterator[Files]:
    """Yield the files that give a table by their own name."""
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        hidden = file.name.startswith((".", "_")) or "" in file.stem.split(".", 1)
        if file.suffix.casefold() in ENDINGS and not hidden and file.name.isprintable() and _is_file(file):
            yield Files(file.stem, (file,), file.suffix.casefold())


def _by_name(path: Path, policy: Policy, rule: TableRule, named: Sequence[Files]) -> Files | None:
    matching = [files for files in named if fold(files.table) == fold(rule.name)]
    if len(matching) > 1:
        names = " and ".join(files.paths[0].name for files in matching)
        raise _policy_error(
            policy, rule, None, f"{names} could be {rule.name}", f'files = "{matching[0].paths[0].name}", say'
        )
    if not matching and path.is_dir() and (path / rule.name).is_dir():
        way_out = f'files = "{rule.name}/*.parquet", if all of them are one table'
        raise _policy_error(policy, rule, None, f"{rule.name} is a folder", way_out)
    return matching[0] if matching else None


def _by_pattern(path: Path, policy: Policy, rule: TableRule) -> Files:
    if not path.is_dir():
        title = f"{path.name} is a single file, and the policy names files in a folder"
        raise _policy_error(policy, rule, "files", title, "open the folder of the files, or leave this out")
    _all_open(path, policy, rule)
    matching = [file for file in _matching(path, rule.files) if _is_file(file)]
    if not matching:
        raise _policy_error(
            policy, rule, "files", f"no file is called {rule.files}", "name it from the data's folder"
        )
    return Files(rule.name, tuple(sorted(matching)), PurePosixPath(rule.files).suffix, rule.files)


def _matching(path: Path, pattern: str) -> Iterator[Path]:
    """Yield what a pattern finds, hidden files apart: also folders that are called like files."""
    return (file for file in path.glob(pattern) if not file.name.startswith("."))


def _is_file(path: Path) -> bool:
    """Whether this is a file, or a link that leads nowhere, which is refused later (``_inside``)."""
    return path.is_file() or _leads_nowhere(path)


def _leads_nowhere(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def _all_open(path: Path, policy: Policy, rule: TableRule) -> None:
    """Refuse a folder of the pattern that cannot be read, or is gone: it would seem to be empty."""
    parts = rule.files.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        for folder in path.glob("/".join(parts[:depth])):
            title, way_out = "", "check who may read it, or name other folders"
            if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
                title = f"the folder {folder.name} may not be read"
            elif _leads_nowhere(folder) and not folder.name.startswith("."):
                title, way_out = f"{folder.name} {_NOWHERE}", _BACK
            if title:
                raise _policy_error(policy, rule, "files", title, way_out)


def _inside(path: Path, links: Iterable[Path]) -> tuple[Path, ...]:
    """Resolve links, and refuse those that lead out of the folder, or nowhere."""
    base, paths = path.resolve(), list[Path]()
    base = base if path.is_dir() else base.parent
    for link in sorted(links):
        if _leads_nowhere(link):
            raise refuse("D602", f"{link.name} {_NOWHERE}", help=_BACK)
        file = link.resolve()
        if not file.is_relative_to(base):
            raise refuse(
                "D602", f"{link.name} is a link that leads out of {base.name}", help="put the file there"
            )
        if set(str(file)) & set("*?[") or not str(file).isprintable():
            title = f"the path of {link.name!a} holds one of * ? [, or what cannot be printed"
            raise refuse("D602", title, help="rename it, or the folder it is in")
        paths.append(file)
    return tuple(dict.fromkeys(paths))


def _no_files(path: Path) -> DatabaseError:
    return refuse(
        "D602",
        f"the folder {path.resolve().name} holds no parquet or csv files",
        help="name a folder of them, or a DuckDB file",
    )


def _policy_error(policy: Policy, rule: TableRule, key: str | None, title: str, help: str) -> DatabaseError:
    path = ("tables", rule.name) if key is None else ("tables", rule.name, key)
    return document_of(policy.text, policy.name).refuse("D804", title, path, on_key=key is None, help=help)
