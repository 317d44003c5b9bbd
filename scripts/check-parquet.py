"""Compares a dataset, as DuckDB and pyarrow read it, with the sums that its writer printed; for scripts/check-parquet."""

import json
import os
import pathlib
import re
import sys

import duckdb
import pyarrow.dataset


def main():
    dataset, truth_file, page = sys.argv[1:]
    truth = json.loads(pathlib.Path(truth_file).read_text())
    queries = re.findall(r"```sql\n(.*?)```", pathlib.Path(page).read_text(), re.S)
    os.chdir(dataset)
    check_pyarrow(truth)
    check_duckdb(truth, queries)
    print(f"check-parquet: {truth['rpcs']} RPCs, {len(queries)} queries of {page}")


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"check-parquet: {what}: found {found}, expected {expected}")


def check_pyarrow(truth):
    for table in ("rpcs", "lock_events", "sent_rpcs", "counters"):
        read = pyarrow.dataset.dataset(table, partitioning="hive").to_table()
        equal(f"pyarrow, rows of {table}", read.num_rows, truth[table])
        equal(f"pyarrow, node of {table}", read["node"].unique().to_pylist(), ["oss1"])
    rpcs = pyarrow.dataset.dataset("rpcs", partitioning="hive").to_table(["bytes", "service_us"])
    for column, expected in (("bytes", truth["bytes"][1]), ("service_us", truth["service_us"])):
        equal(f"pyarrow, sum of {column}", sum(it for it in rpcs[column].to_pylist() if it is not None), expected)


def check_duckdb(truth, queries):
    db = duckdb.connect()

    def one(sql):
        return db.execute(sql).fetchone()

    # The queries of the page, the first of which make views and macros.
    results = [db.execute(query).fetchall() for query in queries]
    for query, rows in zip(queries, results):
        if query.lstrip().upper().startswith(("SELECT", "WITH")) and not rows:
            sys.exit(f"check-parquet: no rows from\n{query}")

    equal("rows", one("SELECT count(*) FROM rpcs")[0], truth["rpcs"])
    sums = one("SELECT sum(bytes_min), sum(bytes), sum(bytes_max), sum(service_us), sum(queue_us) FROM rpcs")
    equal("sums", list(sums), truth["bytes"] + [truth["service_us"], truth["queue_us"]])
    by_opcode = dict(db.execute("SELECT opcode_name, count(*) FROM rpcs GROUP BY ALL").fetchall())
    equal("RPCs by opcode", by_opcode, truth["rpcs_by_opcode"])
    for key in ("nid", "target"):
        groups = f"SELECT {key}, coalesce(sum(bytes), 0) FROM rpcs WHERE {key} IS NOT NULL GROUP BY ALL"
        equal(f"bytes by {key}", dict(db.execute(groups).fetchall()), truth[f"bytes_by_{key}"])
    objects = "SELECT count(DISTINCT (target, fid_seq, fid_oid)) FROM rpcs WHERE fid_seq IS NOT NULL"
    equal("objects", one(objects)[0], truth["objects"])
    equal("seq", one("SELECT count(DISTINCT seq) FROM (SELECT seq FROM rpcs UNION ALL SELECT seq FROM lock_events)")[0],
          truth["rpcs"] + truth["lock_events"])
    equal("locks", one("SELECT count(*), count(*) FILTER (event = 'created') FROM lock_events"),
          (truth["lock_events"], truth["locks_created"]))
    equal("sent", one("SELECT count(*), count(round_trip_us) FROM sent_rpcs"), (truth["sent_rpcs"], truth["answered"]))
    last = sum(row[-1] for query, rows in zip(queries, results) if "arg_max(value" in query for row in rows)
    equal("last values of the page's query of counters", last, truth["last_counters"])
    equal("counters", one("SELECT count(*), max(value) FROM counters"), (truth["counters"], truth["last_counter"]))
    check_percentiles(db, truth)


def check_percentiles(db, truth):
    """Percentiles from buckets are those of the sorted times, to within the 1 in 128 of a bucket."""
    found = [db.execute(PERCENTILE, [p]).fetchone()[0] for p in (0.5, 0.9, 0.99)]
    for bucket_us, exact_us in zip(found, truth["service_percentiles_us"]):
        if not exact_us <= bucket_us <= exact_us + exact_us // 128:
            sys.exit(f"check-parquet: percentile {bucket_us} from buckets, {exact_us} from the times themselves")


PERCENTILE = """
    WITH histogram AS (SELECT service_bucket AS bucket, count(*) AS n FROM rpcs
                       WHERE service_bucket IS NOT NULL GROUP BY ALL),
         ranked AS (SELECT bucket, sum(n) OVER (ORDER BY bucket) AS upto, sum(n) OVER () AS total FROM histogram)
    SELECT bucket_high_us(min(bucket)) FROM ranked WHERE upto >= ceil(? * total)
"""

main()
