"""A query that takes hours, for tests of limits of time and of cancelling.

It needs little memory, however fast the machine. A product of many small tables does not: a fast machine
meets the limit of memory within .4 s, before any limit of time.
"""

from __future__ import annotations

ENDLESS = "SELECT COUNT(*) FROM range(1000000) AS a(i), range(1000000) AS b(i) WHERE a.i * b.i = 7"
