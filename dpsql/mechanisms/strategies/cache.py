"""Keep designs by the questions that they are for: in memory, and in a folder if there is one.

A file is a help, not an authority: it holds a matrix of whole numbers at shift 20. Norms and rank are
computed from the matrix in use, so a file that somebody changed costs accuracy at most; one that does not
fit is ignored. Nothing is unpickled. Everything kept is public.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from dpsql.ir.plan import Norm
from dpsql.late_numpy import np
from dpsql.mechanisms.sampler import SCALE_LIMIT
from dpsql.mechanisms.strategies import gaussian, integers, laplace, p_identity
from dpsql.mechanisms.strategies.dense import Dense, fits
from dpsql.mechanisms.strategies.design import MOST_SHIFT, Design
from dpsql.mechanisms.strategies.strategy import Floats, Integers

MOST_KEPT = 2**28
"""Bytes of matrices in memory."""

LEAST_FILED = 64
"""Cells from which on a search takes long enough to be kept in a file."""


def version(cells: int) -> str:
    """Name the searches for so many cells: another name where they find something better than they did.

    What was paid for is known by it, so where they find the same, it stays.
    """
    return "1" if cells <= p_identity.FEW else "2"


def digest(gram: Floats, norm: Norm) -> str:
    """Name questions by their gram matrix, up to its scale and to 24 bits: sums differ in their last bits.

    Its largest entry is on the diagonal; the lower left quarter repeats the upper right one.
    """
    told = hashlib.sha256(f"{version(len(gram))} {norm.name} {len(gram)} ".encode())
    half, scale = len(gram) // 2, 1 / float(np.diagonal(gram).max())
    for part in (gram[:half], gram[half:, half:]):
        rounded = np.empty(part.shape, dtype=np.float32)
        np.multiply(part, scale, out=rounded, casting="same_kind")
        told.update(rounded.data)
    return told.hexdigest()


class StrategyCache:
    """Strategies of one process; those of earlier ones are read from the folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def strategy(
        self, gram: Floats, norm: Norm, clip: int, deviation: float, limit: float = SCALE_LIMIT
    ) -> Dense | None:
        """Return the best known strategy for these questions, as ``dense.whole_numbered`` does."""
        return self._of(gram, norm).whole_numbered(clip, deviation, limit)

    def design(self, gram: Floats, norm: Norm) -> Design:
        """Return the best known design for these questions, a factor of a product perhaps."""
        return self._of(gram, norm).design

    def _of(self, gram: Floats, norm: Norm) -> _Kept:
        key = digest(gram, norm)
        return self._found(key) or self._keep(key, self._searched(key, gram, norm))

    def _found(self, key: str) -> _Kept | None:
        with self._lock:
            if kept := self._kept.get(key):
                self._kept.move_to_end(key)
            return kept

    def _keep(self, key: str, design: Design) -> _Kept:
        kept = _Kept(design)
        with self._lock:
            self._kept[key] = kept
            while len(self._kept) > 1 and sum(each.size for each in self._kept.values()) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept

    def _searched(self, key: str, gram: Floats, norm: Norm) -> Design:
        path = None if self._folder is None or len(gram) < LEAST_FILED else self._folder / f"{key}.npz"
        if path is not None and (design := _read(path, norm, len(gram))) is not None:
            return design
        search = laplace.optimal if norm is Norm.L1 else gaussian.optimal
        return _on_grid(search(gram))

    def file(self, gram: Floats, norm: Norm) -> None:
        """Write the strategy for these questions into the folder, if searching so many cells takes long."""
        key = digest(gram, norm)
        kept = self._found(key)
        if kept is None or self._folder is None or len(gram) < LEAST_FILED:
            return
        path = self._folder / f"{key}.npz"
        if not path.exists():
            _write(path, kept.design)


class CellsAlone(StrategyCache):
    """Cells, whatever they are asked for: nothing is searched.

    They are just below one, so that they are cut to the grid as what a search finds, and have its declared
    norm, 2^shift (``plan.applied.declared_column``): a price is too small for both or for neither, unless the
    search finds whole numbers, which a smaller one pays for.
    """

    def _searched(self, key: str, gram: Floats, norm: Norm) -> Design:
        return Design("cells", norm, np.eye(len(gram)) * (1 - 2.0**-30))


class _Kept:
    """A design, and what it becomes at the shifts that were asked for."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._columns: dict[int, int] = {}
        self._strategies: dict[int, Dense] = {}

    @property
    def size(self) -> int:
        return self.design.matrix.nbytes * (1 + 4 * len(self._strategies))

    def whole_numbered(self, clip: int, deviation: float, limit: float) -> Dense | None:
        for shift in self.design.shifts:
            if fits(self._column(shift), clip, deviation, limit):
                if shift not in self._strategies:
                    matrix = self.design.rounded(shift)
                    self._strategies[shift] = Dense(self.design.name, matrix, shift)
                return self._strategies[shift]
        return None

    def _column(self, shift: int) -> int:
        if shift not in self._columns:
            self._columns[shift] = integers.column_norm(self.design.rounded(shift), self.design.norm)
        return self._columns[shift]


def _on_grid(design: Design) -> Design:
    """Return what a file can hold: the same strategies come from memory and from a file."""
    return Design(design.name, design.norm, np.ldexp(design.rounded(MOST_SHIFT), -MOST_SHIFT), design.bound)


# ---- files -------------------------------------------------------------------------------------------


def _write(path: Path, design: Design) -> None:
    """Write a new file and put it in its place; without a folder that can be written, nothing is kept."""
    with contextlib.suppress(OSError):  # nothing is kept; it is searched for again
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, matrix=design.rounded(MOST_SHIFT), name=np.array(design.name))
            os.replace(name, path)
        except BaseException:  # Ctrl-C too: no half of a file is left, and it is raised again
            os.unlink(name)
            raise


def _read(path: Path, norm: Norm, cells: int) -> Design | None:
    """Return the design of a file; None for what is no strategy for so many cells."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            matrix: Integers = _array(archive, "matrix")
            name = str(_array(archive, "name"))[:80]
        if matrix.ndim != 2 or matrix.shape[1] != cells:
            return None
        design = Design(name, norm, np.ldexp(integers.checked(matrix), -MOST_SHIFT))
        Dense(name, design.rounded(design.shifts[0]), design.shifts[0])
    except Exception:  # damaged files raise errors of many kinds
        return None
    return design


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    """Read one array; numpy's own reader of such files leaves them open where they are damaged."""
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)
