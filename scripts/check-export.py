"""Runs the examples of a page on exported rows, and compares what pandas, Polars and DuckDB find with the analysis of the same capture;
for scripts/check-parquet."""

import io
import json
import os
import pathlib
import sys
from contextlib import redirect_stdout

import duckdb
import pandas
import polars

import example_answers


def main():
    folder, page = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    analysis = json.loads((folder / "analysis.json").read_text())
    # Spark needs Java: scripts/check-spark.
    examples = [example for example in example_answers.on(page) if "pyspark" not in example]
    answers = []
    for example in examples:
        os.chdir(folder / ("tables" if "read_csv" in example else "rows"))
        shown, names = io.StringIO(), {}
        with redirect_stdout(shown):
            exec(compile(example, page, "exec"), names)  # noqa: S102 - these examples are what is tested
        # More than a header.
        if len(shown.getvalue().splitlines()) < 3:
            sys.exit(f"check-export: nothing found by\n{example}\nbut\n{shown.getvalue()}")
        if "who" in names:
            answers.append(example_answers.of(names))
    equal("readers of Parquet in the page", len(answers), 4)
    for answer in answers:
        example_answers.check(answer, folder, analysis)
    check_sums(folder, analysis)
    print(f"check-export: {len(examples)} examples of {page}")


def check_sums(folder, analysis):
    os.chdir(folder / "rows")
    parquet = pandas.read_parquet("rpcs")
    table = pandas.read_csv(folder / "tables" / "rpcs.csv", dtype_backend="pyarrow")
    lazy = polars.scan_parquet("rpcs/**/*.parquet", hive_partitioning=True).collect()
    sql = duckdb.sql("SELECT count(*) FROM read_csv('../tables/rpcs.csv')").fetchall()
    for name, rows in (("pandas", len(parquet)), ("CSV", len(table)), ("Polars", len(lazy)), ("DuckDB, CSV", sql[0][0])):
        equal(f"RPCs, {name}", rows, analysis["totals"]["rpcs"])
    for target in analysis["targets"]:
        for direction, opcode in (("read", "OST_READ"), ("write", "OST_WRITE")):
            for name, frame in (("pandas", parquet), ("CSV", table), ("Polars", lazy.to_pandas())):
                mine = frame[(frame.target == target["name"]) & (frame.opcode_name == opcode)]
                equal(f"{opcode} of {target['name']}, {name}", int(mine.bytes.sum()), target[direction]["bytes"] or 0)
    for name in ("rpcs", "lock_events", "sent_rpcs"):
        check_cells(name, folder / "tables" / f"{name}.csv")


def check_cells(name, file):
    """CSV and Parquet hold the same cells, null and empty texts told apart."""
    db = duckdb.connect()
    db.execute(f"CREATE VIEW parquet AS SELECT * EXCLUDE (fs, date) FROM read_parquet('{name}/**/*.parquet', hive_partitioning = true)")
    types = dict(row[:2] for row in db.execute("DESCRIBE parquet").fetchall())
    header = file.read_text().splitlines()[0].split(",")
    equal(f"columns of {file.name}", sorted(header), sorted(types))
    columns = ", ".join(f"'{column}': '{types[column]}'" for column in header)
    db.execute(f"CREATE VIEW csv AS FROM read_csv('{file}', header = true, allow_quoted_nulls = false, columns = {{{columns}}})")
    for one, other in (("parquet", "csv"), ("csv", "parquet")):
        different = db.execute(f"SELECT {', '.join(header)} FROM {one} EXCEPT SELECT {', '.join(header)} FROM {other} LIMIT 1")
        equal(f"{name}, only in {one}", different.fetchall(), [])


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"check-export: {what}: found {found}, expected {expected}")


main()
