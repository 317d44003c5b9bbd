"""Opens the pages that scripts/check-report made in Chromium, and compares them with the JSON that they were made of."""

import json
import pathlib
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright

from analysis import AnalysisPages
from comparison import ComparisonPages
from formats import Formats
from operations import OperationsPages
from reading import ReadingPages
from text import megabytes

# Chromium as root, without anything that it would fetch for itself.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]


def main():
    chromium, lioprof, folder, shots = sys.argv[1:]
    folder, shots = pathlib.Path(folder), pathlib.Path(shots)
    give_findings(folder / "lock_pingpong_dlm" / "analysis.json")
    make_a_day(folder / "file_per_process" / "analysis.json", folder / "day" / "analysis.json")
    for name in ("large", "masks"):
        accuse(folder / name / "analysis.json")
    for name in ("large", "masks", "lock_pingpong_dlm", "day"):
        began = time.monotonic()
        subprocess.run([lioprof, "report", "--quiet", folder / name / "analysis.json"], check=True)
        print(f"check-report: {name}: made in {time.monotonic() - began:.2f} s from {megabytes(folder / name / 'analysis.json')}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        formats = Formats(browser, folder, shots)
        formats.same_texts("few")
        checks = AnalysisPages(browser, folder, shots)
        for name in ("file_per_process", "shared_striped_write", "lock_pingpong", "lock_pingpong_dlm", "ops_mix", "metadata", "empty", "few", "large"):
            checks.figures(name)
        checks.zoom("file_per_process")
        checks.day("day", PEAK_BIN, PEAK_BYTES / BIN_S)
        checks.filters("file_per_process")
        checks.filters("ops_mix")
        for name in ("file_per_process", "ops_mix"):
            checks.narrowed(name)
        for name in ("lock_pingpong_dlm", "ops_mix"):
            checks.lock_facts(name)
        checks.findings("lock_pingpong_dlm")
        checks.hover("file_per_process")
        checks.ceilings("surveyed")
        checks.times("lock_pingpong_dlm")
        checks.sorting("ops_mix")
        checks.address("lock_pingpong_dlm")
        checks.without("lock_pingpong", "lock-timeline", "Needs mask dlmtrace")
        checks.without("file_per_process", "locks", "No lock conflicts between clients")
        checks.without("empty", "bandwidth", "No reads or writes")
        checks.without("LDLM_ENQUEUE", "parts", "No reads or writes among what was selected")
        checks.without("OST_WRITE", "parts", "needs mask net")
        checks.without("OST_WRITE", "enqueues", "No lock requests among what was selected")
        checks.without("LDLM_ENQUEUE", "enqueues", "needs mask dlmtrace")
        checks.events_alone("events", "both")
        checks.text_only("large")
        checks.theme("lock_pingpong_dlm")
        checks.paper("lock_pingpong_dlm")
        checks.paper("large")
        checks.pictures()
        reading = ReadingPages(browser, folder, shots)
        reading.clock("lock_pingpong_dlm")
        reading.dates_of_events("events")
        reading.pointer("masks")
        reading.search("large")
        reading.pictures_saved("file_per_process")
        reading.hiding("file_per_process")
        reading.all_lanes("file_per_process")
        reading.keys_anywhere("file_per_process")
        reading.head("masks")
        reading.account("masks")
        reading.proof("masks")
        reading.accused("large")
        reading.names_of_rows("masks")
        reading.legend_of_waiting("masks")
        reading.checks_without_io("metadata")
        reading.common_sizes("masks")
        pairs = ComparisonPages(browser, folder, shots)
        for name in ("collective-read", "hdf5-metadata", "two-versions", "nothing-in-common", "itself", "two-large"):
            pairs.figures(name)
        pairs.top("collective-read", "◆ Mixed. ", [("lost", "Gone · was critical")])
        pairs.top("two-versions", "✖ Worse. ", [("kept", "Still there · Warning")])
        pairs.top("nothing-in-common", "? Cannot tell. ", [])
        pairs.top("itself", "= No change. ", [])
        pairs.zoom("hdf5-metadata")
        pairs.hover("collective-read")
        pairs.sorting("two-versions")
        pairs.sorting_by_unit("hdf5-metadata")
        pairs.theme("collective-read")
        pairs.paper("hdf5-metadata")
        pairs.pictures()
        anatomy = OperationsPages(browser, folder, shots)
        for name in ("operations", "operations-servers", "operations-nothing"):
            anatomy.figures(name)
        anatomy.slowest("operations")
        anatomy.slowest("operations-servers")
        anatomy.click_through("operations")
        anatomy.theme("operations")
        anatomy.paper("operations")
        anatomy.pictures()
        browser.close()
    print(f"check-report: {formats.done + checks.done + reading.done + pairs.done + anatomy.done} checks, screenshots in {shots}")


# A day in bins of five seconds, one of which stands out.
BINS, BIN_S = 17_280, 5
PEAK_BIN, PEAK_BYTES = 9_001, 40_000_000_000


def make_a_day(path, day):
    """A day of a server whose OSTs move a little all the time, and one of them very much in a single bin."""
    analysis = json.loads(path.read_text())
    start = analysis["window"]["start"] // BIN_S * BIN_S
    analysis["window"] |= {"start": start, "end": start + BINS * BIN_S, "duration_s": BINS * BIN_S}
    series = analysis["series"]
    series |= {"bin_s": BIN_S, "start": start, "bins": BINS, "flows": [], "latency": []}
    calm = [100_000_000 + 40_000_000 * (bin % 7) for bin in range(BINS)]
    for row in series["targets"] + series["nodes"]:
        for key, value in row.items():
            if isinstance(value, list):
                row[key] = [1 if "rpcs" in key or key == "arrived" else 0.5] * BINS
        if "read_bytes" in row:
            row |= {"read_bytes": list(calm), "write_bytes": list(calm), "read_bounded_bytes": [0] * BINS, "write_bounded_bytes": [0] * BINS}
    first = next(row for row in series["targets"] if row["name"] and row["kind"] == "ost")
    others = sum(row["read_bytes"][PEAK_BIN] + row["write_bytes"][PEAK_BIN] for row in series["targets"] if row is not first)
    # With what the others move: the sum of all is the highest line.
    first["read_bytes"][PEAK_BIN], first["write_bytes"][PEAK_BIN] = PEAK_BYTES - others, 0
    analysis["locks"] = None
    day.parent.mkdir()
    day.write_text(json.dumps(analysis))


def accuse(path):
    """A finding about the OST and the client that moved least, in place of all others."""
    analysis = json.loads(path.read_text())
    moved = lambda row: row["read"]["bytes"] + row["write"]["bytes"]
    target = min((row for row in analysis["targets"] if row["kind"] == "ost"), key=moved)
    flows = [flow for flow in analysis["flows"] if flow["target"] == target["name"] and moved(flow)] or [flow for flow in analysis["flows"] if moved(flow)]
    middle = analysis["window"]["start"] + analysis["window"]["duration_s"] / 2
    analysis["findings"] = [{
        "id": "sluggish-ost", "severity": "critical", "confidence": "high", "title": "One OST is slow", "explanation": "Made up.", "evidence": {},
        "thresholds": {}, "remedies": [], "targets": [target["name"]], "clients": [min(flows, key=moved)["nid"]], "objects": [], "jobs": [],
        "nodes": [target["node"]], "interval": {"start": middle, "end": middle + 1e-3}, "cost_s": None, "cost_of": None, "plot": "bandwidth-per-ost", "docs": "sluggish-ost",
    }]
    path.write_text(json.dumps(analysis))


def give_findings(path):
    """A critical finding about the object that is fought over, whatever the rules of this version find."""
    analysis = json.loads(path.read_text())
    worst = analysis["locks"]["objects"][0]
    start = analysis["window"]["start"]
    finding = {
        "id": "made-up", "severity": "critical", "confidence": "high", "title": "Two clients took one lock from each other 127 times",
        "explanation": "Made up <b>for a test</b>.", "evidence": {"conflicts": 127, "wait_s": 4.195929, "contended_share": 0.167},
        "thresholds": {"made-up.alternations": 10}, "remedies": ["Align writers to stripes: `lfs setstripe -S 4M FILE`."],
        "targets": [worst["target"]], "clients": worst["clients"], "objects": [{"target": worst["target"], "fid": worst["fid"]}],
        "jobs": ["python3.0"], "nodes": [worst["node"]], "interval": {"start": start + 5, "end": start + 8.5}, "cost_s": 4.195929,
        "cost_of": "client-seconds of waiting", "plot": "lock-timeline", "docs": "made-up",
    }
    analysis["findings"] = [finding]
    analysis["verdict"] = {"state": "cause", "text": f"{finding['title']}.", "findings": [finding["id"]]}
    # As of a wait on an MDT, whose lines name no job.
    analysis["locks"]["jobs"].append({"job": None, "enqueues": 0, "blocked": 1, "wait_s": 0.5})
    analysis["checks"] = [{"id": "made-up", "result": "found", "reason": None}, {"id": "b", "result": "not_enough_evidence", "reason": "made up"}]
    # Bins of the account begin at round times.
    analysis["time_account"]["series"]["start"] = start - 0.02
    path.write_text(json.dumps(analysis))


main()
