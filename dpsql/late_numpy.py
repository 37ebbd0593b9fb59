"""numpy, loaded when it is first used: what plans a query, and what refuses one, often needs none of it.

    from dpsql.late_numpy import np

What is paid for loads it before the debit (session/budget.py), so that an import that fails costs nothing.

Test: tests/cli/test_startup.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
else:

    class _Late:
        """Has the names of numpy; each is looked up there once."""

        def __getattr__(self, name: str) -> object:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Late()

__all__ = ["np"]
