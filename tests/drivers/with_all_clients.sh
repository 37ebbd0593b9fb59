#!/usr/bin/env bash
# Install every client that the server's tests know, on Debian as root, and run those tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
apt-get update -qq
apt-get install -y -qq --no-install-recommends postgresql-client odbc-postgresql unixodbc \
    libpostgresql-jdbc-java default-jdk-headless r-cran-rpostgresql r-cran-dbplyr
python3 -m pip install --quiet "ibis-framework[postgres]>=12,<13" "pgcli>=4.7,<5" "harlequin-postgres>=1.5,<2"
python3 -m pytest -rs tests/drivers/test_server.py tests/drivers/test_server_tools.py
