"""Clients are counted over all processes that share the memory."""

from __future__ import annotations

import mmap

from dpsql.server.tally import Tally, size


def test_each_process_writes_its_own_slot_and_adds_up_all() -> None:
    memory = mmap.mmap(-1, size(2))
    one, two = Tally(memory, 0, 2), Tally(memory, 1, 2)
    for tally, name in ((one, "ana"), (two, "ana"), (two, "bob")):
        tally.enter(name)
    assert (one.total, two.total) == (3, 3)
    assert (one.of("ana"), two.of("bob"), one.of("eve")) == (2, 1, 0)
    one.leave("ana")
    assert two.of("ana") == 1
    two.forget()
    assert (one.total, one.of("ana")) == (0, 0), "a process that ended counts no more"
    for tally in (one, two):
        tally.close()
    memory.close()
