"""How far each unit's values reach: the class is in ``ir``, where a mechanism reads its ladder too."""

from __future__ import annotations

from dpsql.ir.detail import BoundSearch

__all__ = ["BoundSearch"]
