"""The detail of a clip search; its class is in ``ir``, because plans build it."""

from __future__ import annotations

from dpsql.ir.clip_search import ClipSearch

__all__ = ["ClipSearch"]
