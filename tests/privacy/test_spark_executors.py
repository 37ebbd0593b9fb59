"""Two executors, in processes of their own, give the exact tables that one process gives.

python -m pytest tests/privacy/test_spark_executors.py -n0    four minutes

Spark starts a standalone master and its workers on this machine. A Spark in this process has no such address
(address.py), and a server that it belongs to has: sums do not depend on how rows are spread.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from postgres_worlds import EVERYTHING
from spark_servers import SparkServer, needs_spark_server
from sparks import needs_spark
from test_postgres import POLICY, QUERIES, TABLES
from test_spark import sums_of

import dpsql
from dpsql.audit import plan_of
from dpsql.engines.exact_tables import measured
from dpsql.engines.folder import Folder
from dpsql.engines.spark.connect_server import ConnectServer
from dpsql.engines.spark.engine import SparkEngine
from dpsql.ir.plan import MeasurePlan
from dpsql.session.checks import parse_policy

pytestmark = needs_spark

MASTER = "local-cluster[2,1,1024]"
"""Two workers, each with an executor of one core."""

PROGRAM = """
import json, secrets, sys
from pathlib import Path
sys.path[:0] = json.loads(sys.argv[1])
import dpsql
from dpsql.audit import plan_of
from dpsql.engines.exact_tables import measured
from dpsql.engines.folder import Folder
from dpsql.engines.spark import this_process
from dpsql.engines.spark.address import LocalAddress
from dpsql.engines.spark.engine import SparkEngine
from dpsql.session.checks import parse_policy
from postgres_worlds import EVERYTHING
from test_spark import sums_of

folder, master, queries = Path(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
policy = folder.with_suffix(".toml")

class Cluster(LocalAddress):
    @property
    def master(self):
        return master

this_process._STATIC["spark.authenticate.secret"] = secrets.token_hex(32)  # which processes share
rules = parse_policy(policy.read_text(), policy.name)
engines = [SparkEngine(Cluster(folder, "2"), rules, limits) for limits in (None, EVERYTHING)]
for engine in engines:
    engine._session.conf.set("spark.sql.files.maxPartitionBytes", "4096")
    engine._session.conf.set("spark.sql.files.openCostInBytes", "0")
same = []
with dpsql.connect(folder, policy, folder.with_suffix(".ledger")) as db:
    there = db._open().engine
    for sql in queries:
        for planned in plan_of(db._open(), sql, 1.0).measures:
            known = sums_of(measured(planned, there._all, there._arrays))
            assert known
            same += [sums_of(engine.measure(planned)) == known for engine in engines]
listed = engines[0]._session.sparkContext._jsc.sc().statusStore().executorList(True)
tasks = {listed.apply(at).id(): listed.apply(at).totalTasks() for at in range(listed.size())}
print(json.dumps({"same": same, "tasks": tasks}))
"""


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    folder = tmp_path / "clinic"
    folder.mkdir()
    with duckdb.connect() as made:
        made.execute(TABLES)
        for table in ("people", "visits", "wards"):
            made.execute(f"COPY {table} TO '{folder / table}.parquet' (ROW_GROUP_SIZE 2048)")
    folder.with_suffix(".toml").write_text(POLICY)
    return folder


@pytest.mark.sweep
def test_two_executors_give_the_same_integers(clinic: Path) -> None:
    import pyspark

    folder = clinic
    root = Path(__file__).parents[2]
    paths = [str(root / each) for each in ("tests", "tests/privacy", "grammar_tests", ".")]
    words = [
        sys.executable,
        "-c",
        PROGRAM,
        json.dumps(paths),
        str(folder),
        MASTER,
        json.dumps(QUERIES),
    ]
    here = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(Path(pyspark.__file__).parent)}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=900, env={**os.environ, **here}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["same"], "measures were compared"
    assert all(said["same"])
    assert {name for name, tasks in said["tasks"].items() if tasks} >= {"0", "1"}, "both have computed"


# ---- the same, by a server -----------------------------------------------------------------------------

ON_A_CLUSTER = {
    "spark.network.crypto.enabled": "true",
    "spark.authenticate.secret": secrets.token_hex(32),
    "spark.sql.files.maxPartitionBytes": "4096",
    "spark.sql.files.openCostInBytes": "0",
}


class ServerOnACluster(SparkServer):
    """A server whose tasks run in two executors, in processes of their own."""

    def __init__(self, folder: Path, settings: Mapping[str, str] = ON_A_CLUSTER) -> None:
        super().__init__(folder, settings, master=MASTER)


@needs_spark_server[-1]
def test_the_executors_of_a_server_give_the_same_integers(clinic: Path, tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    rules = parse_policy(clinic.with_suffix(".toml").read_text(), "clinic.toml")
    with ServerOnACluster(tmp_path / "server") as server, closing(Folder(clinic, rules)) as there:
        engines = [SparkEngine(server.located(clinic), rules, limits) for limits in (None, EVERYTHING)]
        process = "java_method('java.lang.ProcessHandle', 'current')"
        rows = engines[0]._session.sql(f"SELECT {process} FROM range(0, 1000, 1, 8)").collect()
        assert len({*map(tuple, rows)}) == 2, "both executors compute"
        with dpsql.connect(clinic) as db:
            for sql in QUERIES:
                for planned in plan_of(db._open(), sql, 1.0).measures:
                    assert isinstance(planned, MeasurePlan)
                    known = sums_of(measured(planned, there._all, there._arrays))
                    assert known
                    assert [sums_of(engine.measure(planned)) for engine in engines] == [known] * 2, sql
        one = "java_method('java.lang.System', 'setProperty', 'java.runtime.version', '1.0')"
        engines[0]._session.sql(f"SELECT {one} FROM range(0, 1, 1, 1)").collect()
        with pytest.raises(dpsql.OperationalError, match="different Javas"):
            ConnectServer(server.located(clinic))
        for engine in engines:
            engine.close()


@needs_spark_server[-1]
def test_machines_send_each_other_nothing_in_plain_text(clinic: Path, tmp_path: Path) -> None:
    plain = {**ON_A_CLUSTER, "spark.network.crypto.enabled": "false"}
    with (
        ServerOnACluster(tmp_path, plain) as server,
        pytest.raises(dpsql.OperationalError, match=r"network\.crypto"),
    ):
        ConnectServer(server.located(clinic))
