"""Runs Spark's example of a page on exported rows, and compares what it finds; for scripts/check-spark."""

import json
import os
import pathlib
import sys

import pyspark

import example_answers

VECTORIZED_OFF = 'spark.conf.set("spark.sql.parquet.enableVectorizedReader", False)\n'


def main():
    folder, page = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    analysis = json.loads((folder / "analysis.json").read_text())
    found = [example for example in example_answers.on(page) if "pyspark" in example]
    if len(found) != 1 or VECTORIZED_OFF not in found[0]:
        sys.exit(f"check-spark: {page} has no example of Spark, or several, or it does not turn the vectorized reader off")
    tried = ["old"]
    if int(pyspark.__version__.split(".")[0]) >= 4:
        tried.append("rows")
    for files in tried:
        os.chdir(folder / files)
        example = found[0] if files == "rows" else found[0].replace(VECTORIZED_OFF, "")
        names = {}
        exec(compile(example, page, "exec"), names)  # noqa: S102 - this example is what is tested
        example_answers.check(example_answers.of(names), folder, analysis)
        partitions = [tuple(row) for row in names["rpcs"].select("fs", "node").distinct().collect()]
        if partitions != [("lustre", "server1")]:
            sys.exit(f"check-spark: the folders' names are no columns: {partitions}")
        names["spark"].stop()
    print(f"check-spark: Spark {pyspark.__version__}, {' and '.join(tried)}")


main()
