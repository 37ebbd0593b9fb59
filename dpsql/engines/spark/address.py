"""Where files are, and how many threads of Spark read them: spark:local[2]:/data/lake."""

from __future__ import annotations

import re
from pathlib import Path

from dpsql.errors import refuse
from dpsql.lazy_dataclass import dataclass

_ADDRESS = re.compile(r"spark:local\[([1-9][0-9]{0,3}|\*)\]:(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SparkAddress:
    """A folder of parquet files, or one such file, and the threads of a Spark in this process."""

    threads: str
    path: Path

    def __str__(self) -> str:
        return f"spark:{self.master}:{self.path}"

    @property
    def master(self) -> str:
        """Return Spark's own name of where it runs."""
        return f"local[{self.threads}]"

    @property
    def stem(self) -> str:
        """The name without an ending, as paths have it."""
        return self.path.stem

    @property
    def name(self) -> str:
        return self.path.name

    def exists(self) -> bool:
        return self.path.exists()


def is_spark(text: str) -> bool:
    """Whether a text names files that Spark is to read."""
    return text.partition(":")[0].lower() in ("spark", "spark+connect")


def spark_address(text: str) -> SparkAddress:
    """Read an address, or raise D602."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise refuse(
            "D602",
            "this is no address of files that Spark reads",
            label="clusters are not answered: only Spark in this process is",
            help="write spark:local[2]:/data/lake, the folder of parquet files after the number of threads",
        )
    return SparkAddress(found[1], Path(found[2]))
