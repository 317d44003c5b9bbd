"""Asks a dataset in a folder, the same dataset in an object store, and DuckDB; for scripts/check-query."""

import datetime
import decimal
import json
import logging
import os
import pathlib
import re
import subprocess
import sys

import boto3
import duckdb
from moto.server import ThreadedMotoServer

TABLES = ("rpcs", "lock_events", "sent_rpcs", "counters")


def main():
    query, rows = sys.argv[1:]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        check(query, pathlib.Path(rows), server.get_host_and_port())
    finally:
        server.stop()


def check(query, rows, address):
    os.environ.update(AWS_ACCESS_KEY_ID="some", AWS_SECRET_ACCESS_KEY="thing", AWS_REGION="us-east-1",
                      AWS_DEFAULT_REGION="us-east-1", AWS_ENDPOINT="http://%s:%d" % address, AWS_ALLOW_HTTP="true")
    bucket = upload(rows)
    names = [line.split()[0] for line in run(query, "ready").splitlines() if line and not line.startswith("`")]
    sql = {name: run(query, "ready", name) for name in names}
    db = duckdb_views(rows, run(query, "views"))
    answered = 0
    answers = ""
    for name in names:
        here = run(query, "ready", name, str(rows), "--format", "json")
        equal(f"{name} from the object store", run(query, "ready", name, bucket, "--format", "json"), here)
        answer = [list(json.loads(line).values()) for line in here.splitlines()]
        equal(f"{name} by DuckDB", duckdb_answer(db, sql[name]), answer)
        answered += bool(answer)
        answers += here
    equal("a cluster over the object store", on_cluster(query, bucket, names), answers)
    count = "SELECT count(*) AS n FROM rpcs"
    equal("several datasets in a bucket", run(query, "sql", "s3://traces", count), run(query, "sql", str(rows), count))
    for place, expected in (("s3://traces/none", "is not a dataset"), ("s3://nobody/rows", "nobody")):
        refused = subprocess.run([query, "sql", place, "SELECT 1"], capture_output=True, text=True)
        if refused.returncode != 2 or expected not in refused.stderr:
            sys.exit(f"check-query: {place}: exit code {refused.returncode}, {refused.stderr}")
    print(f"check-query: {len(names)} ready queries, {answered} with rows: from a folder, from S3, on a cluster, by DuckDB")


def on_cluster(query, bucket, names):
    """The answers of ready queries, one after the other, from a scheduler and two executors that know the bucket by their environment."""
    os.environ["LIOPROF_QUERY"] = query
    each = 'for name; do "$LIOPROF_QUERY" ready "$name" "$0" --format json --engine "$LIOPROF_CLUSTER" || exit; done'
    return run("scripts/cluster", "run", "2", "--", "sh", "-c", each, bucket, *names)


def upload(rows):
    s3 = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT"])
    s3.create_bucket(Bucket="traces")
    for file in rows.rglob("*.*"):
        if file.is_file():
            s3.upload_file(str(file), "traces", f"site/{file.relative_to(rows)}")
    return "s3://traces/site"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"check-query: {what}: found {found}, expected {expected}")


def duckdb_views(rows, views):
    """The views as docs/queries.md says to use them in DuckDB."""
    db = duckdb.connect()
    db.execute("CREATE SCHEMA raw")
    for table in TABLES:
        if (rows / table).exists():
            db.execute(f"CREATE VIEW raw.{table} AS FROM read_parquet('{rows}/{table}/**/*.parquet', hive_partitioning = true)")
    for view in views.split(";\n"):
        if view.strip() and "raw.counters" not in view:
            db.execute(re.sub(r"CAST\((\S+) AS TIMESTAMP\(6\)\)", r"make_timestamp(\1)", view))
    return db


def duckdb_answer(db, sql):
    parameters = dict.fromkeys(re.findall(r"^-- param (\S+)", sql, re.M))
    for name, value in re.findall(r"^-- param (\S+) number (\d+):", sql, re.M):
        parameters[name] = int(value)
    used = {name: value for name, value in parameters.items() if f"${name}" in sql}
    return [[plain(value) for value in row] for row in db.execute(sql, used).fetchall()]


def plain(value):
    """A value of DuckDB's as JSON has it."""
    if isinstance(value, datetime.datetime):
        digits = "seconds" if not value.microsecond else "microseconds" if value.microsecond % 1000 else "milliseconds"
        return value.isoformat(timespec=digits)
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value


main()
