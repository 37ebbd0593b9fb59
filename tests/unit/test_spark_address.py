"""Addresses of files that Spark reads: what they say, and what none may hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpsql
from dpsql.dbapi.connection import beside
from dpsql.engines.spark.address import ConnectAddress, LocalAddress, SparkAddress, is_spark, spark_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("spark:local[2]:/data/lake", LocalAddress(Path("/data/lake"), "2")),
        ("spark:local[*]:lake", LocalAddress(Path("lake"), "*")),
        ("spark+connect://localhost:15002:/data", ConnectAddress(Path("/data"), "localhost", 15002, False)),
        (
            "spark+connect://spark.lan:443;use_ssl=true:/data/a:b;c",
            ConnectAddress(Path("/data/a:b;c"), "spark.lan", 443, True),
        ),
        ("spark+connect://10.0.0.7:1;use_ssl=true:/d", ConnectAddress(Path("/d"), "10.0.0.7", 1, True)),
    ],
)
def test_an_address_is_read_and_written(text: str, address: SparkAddress) -> None:
    assert is_spark(text)
    assert spark_address(text) == address
    assert str(address) == text


def test_policy_and_ledger_are_those_of_the_folder() -> None:
    assert beside(spark_address("spark+connect://localhost:1:/data/lake"), ".toml") == Path("/data/lake.toml")


@pytest.mark.parametrize(
    "text",
    [
        "spark+connect://localhost:15002",
        "spark+connect://localhost:/data",
        "spark+connect://localhost:15002/data",
        "spark+connect://localhost:15002:data",
        "spark+connect://localhost:0:/data",
        "spark+connect://localhost:70000:/data",
        "spark+connect://[::1]:15002:/data",
        "spark+connect://a b:15002;use_ssl=true:/data",
        "spark+connect://localhost:15002;use_ssl=false:/data",
        "spark+connect://localhost:15002;user_id=ana:/data",
        "spark+connect://spark.lan:15002:/data",
        "spark+connect://127.0.0.1:15002:/data",
        "SPARK+CONNECT://localhost:15002:/data",
    ],
)
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(dpsql.OperationalError) as caught:
        spark_address(text)
    assert caught.value.code == "D602"


@pytest.mark.parametrize(
    "text",
    [
        "spark+connect://localhost:15002;token=sesame:/data",
        "spark+connect://localhost:15002/;use_ssl=true;Token = sesame:/data",
        "spark+connect://ana:sesame@localhost:15002:/data",
        "Spark+Connect:localhost;token=sesame",
    ],
)
def test_no_token_is_taken_and_none_is_shown(text: str) -> None:
    with pytest.raises(dpsql.OperationalError) as caught:
        dpsql.connect(text)
    assert "no token" in caught.value.title
    assert "SPARK_CONNECT_AUTHENTICATE_TOKEN" in caught.value.help
    assert "sesame" not in f"{caught.value} {caught.value!r}"
