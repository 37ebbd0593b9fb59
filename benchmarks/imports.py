"""How long does `import dpsql` take, compared with its dependencies? Fresh processes, in turns."""

from __future__ import annotations

from benchmarks.timing import Report, Runs, Setting, Table, fresh, ratio

_TIMED = "import time; start = time.perf_counter(); import {}; print((time.perf_counter() - start) * 1e3)"


def run(setting: Setting) -> Report:
    names = ("dpsql", "duckdb, numpy, sqlglot", "duckdb", "numpy", "sqlglot")
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range((2 if setting.quick else 11) + 1):
        for name in names:
            took = float(fresh(setting, _TIMED.format(name)))
            if number:  # the first round reads the files from the disk
                times[name].append(took)
    runs = {name: Runs(tuple(each)) for name, each in times.items()}
    table = Table("import, ms", ("module", "time"), [(name, runs[name]) for name in names])
    verdict = ratio("import dpsql / import duckdb, numpy, sqlglot", runs[names[0]], runs[names[1]], 1.5)
    return Report((table,), (verdict,))
