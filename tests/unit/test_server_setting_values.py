"""What SHOW says of a setting is what the catalogue says of it."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

import dpsql.server
from dpsql.cli.serve import arguments
from dpsql.server.catalogue import Catalogue
from dpsql.server.configuration import FILES, OPTIONS
from dpsql.server.server import Limits
from dpsql.server.setting_values import COLLATION, FIXED, FREE, SERVER_VERSION, SHOWN
from dpsql.server.settings import Settings
from dpsql.server.setup import PORT


def test_show_and_the_catalogue_agree() -> None:
    settings = Settings({"session_authorization": "ana"}, 300.0)
    shown = Catalogue("clinic", "ana", []).answer("SELECT name, setting FROM pg_settings").rows
    said = {str(name): setting for name, setting in shown}
    assert set(said) == {*FIXED, *FREE, *SHOWN}
    assert {name: said[name] for name in (*FIXED, *FREE)} == {
        name: settings.show(name) for name in (*FIXED, *FREE)
    }


def test_a_setting_has_one_home() -> None:
    assert not FIXED.keys() & FREE.keys()
    assert not SHOWN.keys() & (FIXED.keys() | FREE.keys())
    room = Path(dpsql.server.__file__).parent
    homes = {
        file.name
        for file in room.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and node.value in (SERVER_VERSION, FIXED["server_version_num"], COLLATION)
    }
    assert homes == {"setting_values.py"}


def test_help_says_the_defaults() -> None:
    words = " ".join(_help().split())
    limits = Limits()
    for option, default in (
        ("--max-connections N", f"{limits.connections}"),
        ("--timeout S", f"{limits.seconds:.0f}"),
        ("--idle S", f"{limits.idle:.0f}"),
        ("--listen PLACE", f"127.0.0.1:{PORT}"),
    ):
        assert f"default: {default} " in words.split(option)[-1].split(" --")[0] + " ", option


def test_a_file_takes_what_the_command_takes() -> None:
    """Every option of the command is a key of serve.toml, or of a database in it."""
    options = {action.dest for action in _serve()._actions}
    assert options - {"database", "help", "check"} == {*OPTIONS, *FILES}


def _help() -> str:
    return _serve().format_help().partition("options:")[2].partition("examples:")[0]


def _serve() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    arguments(parser.add_subparsers())
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    found = commands.choices["serve"]
    assert isinstance(found, argparse.ArgumentParser)
    return found
