"""The fixtures of this folder."""

from worlds import worlds

__all__ = ["worlds"]
