"""The detail of a bound search; its class is in ``ir``, because a mechanism reads its ladder too."""

from __future__ import annotations

from dpsql.ir.detail import BoundSearch

__all__ = ["BoundSearch"]
