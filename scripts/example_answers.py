"""What the examples of docs/export.md answer, in one form whatever library answers it, and what is right."""

import pathlib
import re
import sys

import pyarrow.dataset

OST, FIRST_US, LAST_US = "lustre-OST0001", 1_795_250_610_000_000, 1_795_250_620_000_000


def on(page):
    """The examples of a page in Python."""
    return re.findall(r"```python\n(.*?)```", pathlib.Path(page).read_text(), re.S)


def of(names):
    """The answers that an example left in its names."""
    return {name: sorted(rows(names[name])) for name in ("bytes_per_ost", "p99_us", "who")}


def rows(answer):
    """Rows as tuples of texts and integers."""
    if isinstance(answer, dict):
        found = answer.items()
    elif hasattr(answer, "fetchall"):  # DuckDB
        found = answer.fetchall()
    elif hasattr(answer, "collect"):  # Spark
        found = answer.collect()
    elif hasattr(answer, "reset_index"):  # pandas
        found = answer.reset_index().itertuples(index=False)
    elif hasattr(answer, "to_pylist"):  # pyarrow
        found = (row.values() for row in answer.to_pylist())
    else:
        found = answer.rows()  # Polars
    return [tuple(cell if isinstance(cell, str) else int(cell) for cell in row) for row in found]


def check(answer, folder, analysis):
    """Bytes are those of the analysis, the rest is what the rows themselves say."""
    expected = [(target["name"], opcode, target[direction]["bytes"]) for target in analysis["targets"]
                for direction, opcode in (("read", "OST_READ"), ("write", "OST_WRITE")) if target[direction]["rpcs"]]
    equal("bytes per OST", answer["bytes_per_ost"], sorted(expected))
    table = pyarrow.dataset.dataset(pathlib.Path(folder, "rows", "rpcs"), partitioning="hive").to_table().to_pylist()
    times = {}
    clients = {}
    for row in table:
        if row["opcode_name"] in ("OST_READ", "OST_WRITE"):
            times.setdefault(row["target"], []).append(row["total_us"])
        if row["target"] == OST and FIRST_US <= row["end_us"] < LAST_US:
            rpcs, size = clients.get((row["nid"], row["job"]), (0, 0))
            clients[row["nid"], row["job"]] = (rpcs + 1, size + (row["bytes"] or 0))
    equal("clients", answer["who"], sorted((*who, *sums) for who, sums in clients.items()))
    equal("targets with a percentile", [target for target, _ in answer["p99_us"]], sorted(times))
    for target, found_us in answer["p99_us"]:
        sorted_us = sorted(times[target])
        exact_us = sorted_us[-(-len(sorted_us) * 99 // 100) - 1]
        if not exact_us <= found_us <= exact_us + exact_us // 128:
            sys.exit(f"example_answers: p99 of {target} from buckets is {found_us} us, from the times themselves {exact_us} us")


def equal(what, found, expected):
    if not found or found != expected:
        sys.exit(f"example_answers: {what}: found {found}, expected {expected}")
