"""What a database that works column by column takes for tables like those of an analysis; for scripts/bench.

usage: bench-tables.py DATASET RUNS [in-memory]    (a Python that has duckdb)

`in-memory`: rows are read before, so that tables take no time for Parquet.

Prints JSON: how many RPCs there are, and kinds of tables, each with its tables and the CPU seconds of the fastest run, on one thread. The tables are simpler than
lioprof's (no estimates, no bounds, no names, fewer figures), and there are fewer of them.
"""

import glob
import json
import sys
import time

import duckdb

IO = "count(*) AS rpcs, sum(bytes), count(*) FILTER (WHERE NOT bytes_exact), count(*) FILTER (WHERE rc < 0 OR dropped)"
OBJECT = "target, fid_seq, fid_oid, fid_ver, resource_0, resource_1"
DATA = "opcode IN (3, 4)"  # OST_READ, OST_WRITE
SPANS = {
    "queue": "CAST(total_us AS BIGINT) - CAST(service_us AS BIGINT)",
    "service": "CAST(service_us AS BIGINT)",
    "total": "CAST(total_us AS BIGINT)",
}
START = "end_us - CAST(total_us AS BIGINT)"


def histograms(keys, rows, spans=SPANS):
    return " UNION ALL ".join(
        f"SELECT {keys}, '{span}' AS span, {span}_bucket AS bucket, count(*) AS rpcs, sum({us}) AS us, max({us}) AS max_us"
        f" FROM {rows} GROUP BY ALL"
        for span, us in spans.items()
    )


def busy(who):
    """How long there was a request of somebody, and how many at once."""
    return f"""
        SELECT {who}, sum(us) FILTER (WHERE level > 0) AS busy_us, sum(level * us) AS rpcs_us
        FROM (
            SELECT {who}, sum(step) OVER in_time AS level, lead(at_us) OVER in_time - at_us AS us
            FROM (
                SELECT {who}, {START} AS at_us, 1 AS step FROM rpcs UNION ALL
                SELECT {who}, end_us, -1 FROM rpcs
            )
            WINDOW in_time AS (PARTITION BY {who} ORDER BY at_us ROWS UNBOUNDED PRECEDING)
        )
        GROUP BY {who}"""


PARTS = {
    "before": "before_bulk_us",
    "transfer": "bulk_us",
    "after": "service_us - before_bulk_us - bulk_us",
}

IN_ANY_ORDER = {
    "client, job, opcode, target": f"SELECT node, nid, client_uuid, job, opcode, target, uid, gid, projid, {IO} FROM rpcs GROUP BY ALL",
    "objects": f"""
        SELECT {OBJECT}, {IO}, min(extent_start), max(extent_end)
        FROM rpcs WHERE {DATA} GROUP BY ALL ORDER BY sum(bytes) DESC LIMIT 100""",
    "operations": f"SELECT opcode, thread, {IO} FROM rpcs GROUP BY ALL",
    "histograms of operations": histograms("opcode", "rpcs"),
    "histograms of targets": histograms("node, target, opcode", f"(FROM rpcs WHERE {DATA})"),
    "histograms of clients": histograms("nid, opcode", f"(FROM rpcs WHERE {DATA})", {"total": SPANS["total"]}),
    "histograms of parts of the service time": " UNION ALL ".join(
        f"""SELECT node, target, nid, opcode, CAST(log2(bytes + 1) AS INT) AS size, '{part}' AS part,
            CAST(16 * log2({us} + 1) AS INT) AS bucket, count(*) AS rpcs, sum({us}), max({us}), min(end_us), max(end_us)
        FROM rpcs WHERE {DATA} AND bytes > 0 AND before_bulk_us + bulk_us <= service_us GROUP BY ALL"""
        for part, us in PARTS.items()
    ),
    "sizes": f"SELECT node, target, opcode, bytes, {IO} FROM rpcs WHERE {DATA} GROUP BY ALL",
    "targets by second": f"""
        SELECT node, target, opcode, second, count(*) AS rpcs,
            sum(bytes * (least(end_us, 1000000 * (second + 1)) - greatest(start_us, 1000000 * second)) / greatest(1, end_us - start_us))
        FROM (
            SELECT *, unnest(range(start_us // 1000000, end_us // 1000000 + 1)) AS second
            FROM (SELECT *, end_us - CAST(service_us AS BIGINT) AS start_us FROM rpcs WHERE {DATA})
        )
        GROUP BY ALL""",
    "clients and targets by second": f"SELECT nid, target, opcode, end_us // 1000000 AS second, {IO} FROM rpcs WHERE {DATA} GROUP BY ALL",
    "faults": """
        SELECT node, nid, count(*) FILTER (WHERE rc = -107), count(*) FILTER (WHERE rc = -110), count(*) FILTER (WHERE dropped),
            count(*) FILTER (WHERE resent), count(*) FILTER (WHERE replay), min(end_us), max(end_us)
        FROM rpcs WHERE resent OR replay OR dropped OR rc IN (-107, -110) GROUP BY ALL""",
}
IN_ORDER = {
    "how long each client had requests": busy("nid"),
    "how long each job had requests": busy("job"),
    "pauses of each client": f"""
        SELECT nid, sum(greatest(0, us)) AS idle_us
        FROM (
            SELECT nid, {START} - max(end_us) OVER (PARTITION BY nid ORDER BY {START} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS us
            FROM rpcs
        )
        GROUP BY nid""",
    "what follows what in each object": f"""
        SELECT nid, {OBJECT}, opcode, count(*) FILTER (WHERE extent_start = next) AS next, count(*) FILTER (WHERE extent_start < next) AS back
        FROM (
            SELECT *, 1 + lag(extent_end) OVER (PARTITION BY nid, {OBJECT}, opcode ORDER BY end_us) AS next FROM rpcs WHERE {DATA}
        )
        GROUP BY ALL ORDER BY count(*) DESC LIMIT 100""",
    "hand-overs of locks": """
        SELECT target, resource_0, resource_1, count(*) FILTER (WHERE nid <> before) AS hand_overs
        FROM (
            SELECT *, lag(nid) OVER (PARTITION BY node, target, resource_0, resource_1 ORDER BY time_us) AS before FROM lock_events
        )
        GROUP BY ALL ORDER BY hand_overs DESC LIMIT 100""",
}


def main():
    folder, runs = sys.argv[1], int(sys.argv[2])
    rows_are = "TABLE" if "in-memory" in sys.argv[3:] else "VIEW"
    db = duckdb.connect()
    db.execute("SET threads = 1")
    # Logs without lines of the lock manager have none of its events.
    there = [table for table in ("rpcs", "lock_events") if glob.glob(f"{folder}/{table}/**/*.parquet", recursive=True)]
    for table in there:
        db.execute(f"CREATE {rows_are} {table} AS FROM read_parquet('{folder}/{table}/**/*.parquet', hive_partitioning = true)")
    kinds = {"in any order": IN_ANY_ORDER, "in order": IN_ORDER}
    if "lock_events" not in there:
        kinds["in order"] = {name: sql for name, sql in IN_ORDER.items() if "FROM lock_events" not in sql}
    took = {kind: {name: min(seconds(db, sql) for _ in range(runs)) for name, sql in tables.items()} for kind, tables in kinds.items()}
    # Whether it is the whole of the rows.
    rpcs = db.execute(f"SELECT sum(rpcs) FROM ({IN_ANY_ORDER['operations']})").fetchall()[0][0]
    print(json.dumps({"rpcs": int(rpcs), "seconds": took}))


def seconds(db, sql):
    start = time.process_time()
    db.execute(f"CREATE OR REPLACE TEMP TABLE made AS {sql}")
    return time.process_time() - start


if __name__ == "__main__":
    main()
