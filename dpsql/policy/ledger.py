"""The owner's [ledger]: what the ledger keeps, and where else.

    [ledger]
    texts = "digest"                    # of analysts' SQL and parameters
    witness = "/mnt/b/clinic.witness"   # knows the last entry
    mirror = "/mnt/b/"                  # has all entries, in clinic.ledger

Nothing here changes what is released, or what it costs.
"""

from __future__ import annotations

from dpsql.policy.model import LedgerRule
from dpsql.policy.names import perhaps
from dpsql.policy.toml_keys import LEDGER
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import optional

TEXTS = ("plain", "digest")


def read_ledger(section: Section) -> LedgerRule:
    """Read how the ledger is kept; each key has a default."""
    section.allow(LEDGER)
    return LedgerRule(
        texts=optional(section, LEDGER["texts"], _texts),
        witness=optional(section, LEDGER["witness"], lambda section: _path(section, "witness")),
        mirror=optional(section, LEDGER["mirror"], lambda section: _path(section, "mirror", folder=True)),
    )


def _path(section: Section, key: str, folder: bool = False) -> str:
    path = section.string(key)
    if not path.strip() or not path.isprintable():
        raise section.wrong(key, f"{key} must be a path", help=f"leave {key} out if there is none")
    if path.endswith("/") and not folder:
        raise section.wrong(key, f"{key} must be a file", help=f'for example: {key} = "{path}clinic.{key}"')
    return path


def _texts(section: Section) -> str:
    name = section.string("texts")
    if name not in TEXTS:
        raise section.wrong(
            "texts",
            f"texts are not kept as {name}",
            help=perhaps(name, TEXTS)
            or 'texts = "plain" keeps them, texts = "digest" a keyed digest of each',
        )
    return name
