"""Whether Spark can run here: its package, and Java. Tests that need it are sweeps: its start takes a minute.

pip install 'dpsql[spark]' && apt-get install default-jre-headless
python -m pytest tests/privacy/test_spark.py grammar_tests/test_spark_fixtures.py -n0
"""

from __future__ import annotations

import importlib.util
import shutil

import pytest

MISSING = [
    name
    for name, there in (
        ("pyspark: pip install 'dpsql[spark]'", importlib.util.find_spec("pyspark") is not None),
        ("Java: apt-get install default-jre-headless", shutil.which("java") is not None),
    )
    if not there
]

needs_spark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.sweep,
    pytest.mark.filterwarnings("ignore::Warning"),  # of pyspark itself
]

MASTER = "local[2]"
