"""The policy's blocks of units, when a session opens: as the database and as the ledger have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpsql.accounting.blocks import ChangedList
from dpsql.ir.unit_blocks import UnitBlocks
from dpsql.policy.check import declared_blocks
from dpsql.policy.model import Policy
from dpsql.policy.toml_positions import document_of

if TYPE_CHECKING:
    from dpsql.engines import Engine


def blocks_in(policy: Policy, engine: Engine) -> UnitBlocks | None:
    """Return the blocks of a policy; None if all units are one."""
    return None if policy.unit.blocks is None else declared_blocks(policy, engine.describe())


@contextmanager
def refused_list(policy: Policy) -> Iterator[None]:
    """Point at the policy's list of blocks where the ledger refuses it."""
    try:
        yield
    except ChangedList as error:
        listed = () if policy.unit.blocks is None else policy.unit.blocks.values
        path = ("unit", "blocks", "values", *((error.at,) if error.at < len(listed) else ()))
        document = document_of(policy.text, policy.name)
        raise document.refuse("D803", error.title, path, label=error.label, help=error.help) from None
