"""DuckDB 1 reads what `lioprof export --old-readers` wrote, and finds the sums of the analysis; for scripts/check-parquet."""

import json
import pathlib
import sys

import duckdb


def main():
    rows, analysis_file = sys.argv[1:]
    totals = json.loads(pathlib.Path(analysis_file).read_text())["totals"]
    # All columns, and then all of each: what is not decoded does not fail.
    relation = duckdb.sql(f"FROM read_parquet('{rows}/rpcs/**/*.parquet', hive_partitioning = true)")
    table = [dict(zip(relation.columns, row)) for row in relation.fetchall()]
    moved = {opcode: sum(row["bytes"] or 0 for row in table if row["opcode_name"] == opcode) for opcode in ("OST_READ", "OST_WRITE")}
    found = (len(table), moved["OST_READ"], moved["OST_WRITE"])
    expected = (totals["rpcs"], totals["read"]["bytes"] or 0, totals["write"]["bytes"] or 0)
    if found != expected:
        sys.exit(f"check-old-readers: RPCs, bytes read and written: found {found}, expected {expected}")
    print(f"check-old-readers: DuckDB {duckdb.__version__}")


main()
