"""Compares Perfetto traces, decoded with Perfetto's descriptors, with analyses of the same captures; for scripts/check-perfetto."""

import collections
import json
import pathlib
import subprocess
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

CLEARED, NEEDS = 1, 2
REALTIME = 1
Slice = collections.namedtuple("Slice", "category name track start end arguments flows parent")


def main():
    folder, *processor = sys.argv[1:]
    captures = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir())
    sums = collections.Counter()
    for path in captures:
        trace = Trace(path / "trace.pftrace")
        check_figures(path.name, trace, json.loads((path / "analysis.json").read_text()), sums)
        if processor:
            check_trace_processor(path, trace, processor[0])
    for what in ("rpcs", "bytes", "parts", "lock waits", "arrows"):
        if not sums[what]:
            sys.exit(f"check-perfetto: no {what} in any capture: nothing was compared")
    judge = "protobuf and trace_processor" if processor else "protobuf (no trace_processor named)"
    print(f"check-perfetto: {len(captures)} captures, " + ", ".join(f"{n} {what}" for what, n in sums.items()) + f"; {judge}")


# Beyond this lioprof compares no clocks.
MAX_DRIFT = 500e-6


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"check-perfetto: {what}: found {found}, expected {expected}")


def near(what, found, expected, share=1e-9):
    if abs(found - expected) > share * max(abs(expected), 1):
        sys.exit(f"check-perfetto: {what}: found {found}, expected {expected}")


class Trace:
    """A trace, with the rules of the format held: interning, sequence flags, one clock, nesting on every track."""

    def __init__(self, path):
        self.tracks, self.slices, self.counters = {}, [], collections.defaultdict(list)
        self.names = {}
        events, incremental, snapshot = [], False, None
        for packet in pb.Trace.FromString(path.read_bytes()).packet:
            equal("sequence", packet.trusted_packet_sequence_id, 1)
            if packet.sequence_flags & CLEARED:
                self.names, incremental = {}, True
                equal("clock of the packets", packet.trace_packet_defaults.timestamp_clock_id, REALTIME)
            assert incremental or not packet.sequence_flags & NEEDS, "refers to what was never interned"
            self.intern(packet.interned_data)
            if packet.HasField("clock_snapshot"):
                snapshot = packet.clock_snapshot
                equal("primary clock", snapshot.primary_trace_clock, REALTIME)
            if packet.HasField("track_descriptor"):
                descriptor = packet.track_descriptor
                assert descriptor.uuid not in self.tracks, "a track is declared once"
                assert not descriptor.HasField("parent_uuid") or descriptor.parent_uuid in self.tracks, "parents come first"
                self.tracks[descriptor.uuid] = descriptor
            if packet.HasField("track_event"):
                assert snapshot, "a time before its clock"
                event = packet.track_event
                assert event.track_uuid in self.tracks, "a track is declared before it is used"
                events.append((packet.timestamp, event, self.label(event)))
        # As Perfetto does it: by time, and in the order of the file at the same time.
        self.follow(sorted(events, key=lambda it: it[0]))

    def intern(self, data):
        for kind in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"):
            for entry in getattr(data, kind):
                text = entry.str.decode() if kind == "debug_annotation_string_values" else entry.name
                assert (kind, entry.iid) not in self.names, "a number is given once"
                self.names[kind, entry.iid] = text

    def label(self, event):
        """Category, name, arguments: looked up where the event stands in the file."""
        value = {
            "string_value_iid": lambda it: self.names["debug_annotation_string_values", it.string_value_iid],
            "uint_value": lambda it: it.uint_value,
            "int_value": lambda it: it.int_value,
            "bool_value": lambda it: it.bool_value,
        }
        arguments = {
            self.names["debug_annotation_names", it.name_iid]: value[it.WhichOneof("value")](it)
            for it in event.debug_annotations
        }
        if event.type in (pb.TrackEvent.TYPE_SLICE_END, pb.TrackEvent.TYPE_COUNTER):
            return None, None, arguments
        return self.names["event_categories", event.category_iids[0]], self.names["event_names", event.name_iid], arguments

    def follow(self, events):
        stacks = collections.defaultdict(list)
        for time, event, (category, name, arguments) in events:
            stack = stacks[event.track_uuid]
            flows = list(event.flow_ids) + list(event.terminating_flow_ids)
            if event.type == pb.TrackEvent.TYPE_COUNTER:
                self.counters[event.track_uuid].append((time, event.double_counter_value))
            elif event.type == pb.TrackEvent.TYPE_INSTANT:
                self.slices.append(Slice(category, name, event.track_uuid, time, time, arguments, flows, None))
            elif event.type == pb.TrackEvent.TYPE_SLICE_BEGIN:
                parent = stack[-1] if stack else None
                is_part = category == "part" and parent and parent[0] in ("service", "thread")
                is_leaf = parent and parent[0] in ("queue", "service", "thread", "part", "lock_wait")
                assert is_part or not is_leaf, f"{name} inside {parent[:2]}"
                stack.append((category, name, time, arguments, flows, parent))
            else:
                category, name, start, arguments, flows, parent = stack.pop()
                self.slices.append(Slice(category, name, event.track_uuid, start, time, arguments, flows, parent))
        for stack in stacks.values():
            for category, name, start, arguments, flows, parent in stack:
                assert arguments.get("no_end_in_the_log") or category == "blocking_ast", f"{category} {name} without an end"
                self.slices.append(Slice(category, name, event.track_uuid, start, None, arguments, flows, parent))

    def of(self, category):
        return [it for it in self.slices if it.category == category]

    def group(self, uuid):
        """Name of the target that a track is of, and of its node."""
        group = self.tracks[self.tracks[uuid].parent_uuid]
        return group.name, self.tracks[group.parent_uuid].process.process_name


def check_figures(capture, trace, analysis, sums):
    # What clients handle, callbacks, is no figure of the analysis.
    clients = {it["name"] for it in analysis["nodes"] if it["role"] == "client"}
    rpcs = [it for it in trace.of("rpc") if trace.group(it.track)[1] not in clients]
    equal(f"{capture}, RPCs", len(rpcs), analysis["totals"]["rpcs"])
    operations = collections.defaultdict(lambda: [0, 0])
    for it in analysis["operations"]:
        # The same opcode may be handled by several services.
        operations[it["name"]][0] += it["rpcs"]
        operations[it["name"]][1] += (it["total_us"]["mean"] or 0) * it["total_us"]["count"]
    equal(f"{capture}, operations", collections.Counter(it.name for it in rpcs), {name: n for name, (n, _) in operations.items()})
    for name, (_, total_us) in operations.items():
        near(f"{capture}, time of {name}", sum(it.end - it.start for it in rpcs if it.name == name) / 1000, total_us)
    parts = collections.Counter()
    for it in trace.of("queue") + trace.of("service"):
        # The arguments are an object of their own for each slice.
        parts[id(it.parent[3])] += it.end - it.start
    for it in rpcs:
        equal(f"{capture}, queue and service of {it}", parts.get(id(it.arguments), it.end - it.start), it.end - it.start)
    assert len(parts) > len(rpcs) * 0.9, f"{capture}: queue and service of {len(parts)} of {len(rpcs)} RPCs"
    for opcode, direction in (("OST_READ", "read"), ("OST_WRITE", "write")):
        # Once on the target and once on the thread.
        drawn = [it for it in trace.of("part") if it.parent[0] == "thread" and it.parent[1] == opcode]
        told = [it for it in analysis["service_parts"]["targets"] if it["direction"] == direction]
        for name, part in (("before the transfer", "before"), ("bulk transfer", "transfer"), ("after the transfer", "after")):
            drawn_us = sum(it.end - it.start for it in drawn if it.name == name) / 1000
            near(f"{capture}, {name} of {opcode}", drawn_us, sum(it["rpcs"] * it[part]["us"]["mean"] for it in told))
        sums["parts"] += len(drawn)
    on_threads = collections.Counter(it.name for it in trace.of("thread"))
    whole = collections.Counter(it.name for it in rpcs if it.end > it.start)
    assert not whole - on_threads, f"{capture}: not on their threads: {whole - on_threads}"
    for target in analysis["targets"]:
        check_target(capture, trace, target, rpcs)
    for client in analysis["clients"]:
        mine = [it for it in rpcs if it.arguments["client"] == client["nid"]]
        equal(f"{capture}, RPCs of {client['nid']}", len(mine), client["rpcs"])
    check_locks(capture, trace, analysis, sums)
    sums["captures with marks"] += bool(trace.of("mark"))
    sums["rpcs"] += len(rpcs)
    sums["bytes"] += sum(it.arguments.get("bytes", 0) for it in rpcs if it.name in ("OST_READ", "OST_WRITE"))


def check_target(capture, trace, target, rpcs):
    name = target["name"], target["node"]
    for direction, opcode in (("read", "OST_READ"), ("write", "OST_WRITE")):
        mine = [it for it in rpcs if it.name == opcode and trace.group(it.track) == name]
        equal(f"{capture}, {opcode} of {name}", len(mine), target[direction]["rpcs"])
        total = sum(it.arguments.get("bytes", 0) for it in mine)
        equal(f"{capture}, bytes of {opcode} of {name}", total, target[direction]["bytes"] or 0)
        near(f"{capture}, bandwidth {direction} of {name}", integral(trace, name, direction), total)
    in_flight = sum(it.end - it.start for it in rpcs if trace.group(it.track) == name)
    near(f"{capture}, in flight of {name}", integral(trace, name, "in flight"), in_flight / 1e9)


def integral(trace, target, name):
    """The area under a counter: value times seconds."""
    area = 0
    for uuid, values in trace.counters.items():
        if trace.tracks[uuid].name == name and trace.group(uuid) == target:
            area += sum(value * (until - at) / 1e9 for (at, value), (until, _) in zip(values, values[1:]))
            equal(f"end of {name} of {target}", values[-1][1], 0)
    return area


def check_locks(capture, trace, analysis, sums):
    waits, holds, callbacks = (trace.of(category) for category in ("lock_wait", "lock_hold", "blocking_ast"))
    for locks in (analysis["locks"] or {}).get("targets", []):
        if locks["evidence"] != "dlmtrace":
            continue
        mine = [it for it in waits if trace.group(it.track) == (locks["target"], locks["node"])]
        assert len(mine) >= locks["totals"]["blocked"], f"{capture}: {len(mine)} waits, {locks['totals']['blocked']} blocked"
        kinds = locks["totals"]["kinds"]
        # The analysis leaves out waits for one's own lock and for the server's.
        if kinds["own"] == kinds["server"] == 0 and all(it.end for it in mine) and locks["totals"]["open_waits"] == 0:
            equal(f"{capture}, lock waits of {locks['target']}", len(mine), locks["totals"]["blocked"])
            # A trace keeps each node's own clock; the analysis puts all on one, which may run faster by as much.
            waited_s = sum(it.end - it.start for it in mine) / 1e9
            near(f"{capture}, waited on {locks['target']}", waited_s, locks["totals"]["wait_s"], MAX_DRIFT)
    ends = collections.defaultdict(list)
    for it in waits + callbacks + holds:
        for flow in it.flows:
            ends[flow].append(it)
    for flow, linked in ends.items():
        order = [it.category for it in sorted(linked, key=lambda it: it.start)]
        assert order[0] == "lock_wait" or "lock_wait" not in order, f"{capture}: arrow {flow} goes {order}"
        sums["arrows"] += len(linked) - 1
    for it in callbacks:
        equal("a callback is inside of", it.parent[0], "lock_hold")
    sums["lock waits"] += len(waits)


def check_trace_processor(path, trace, processor):
    """The program that the Perfetto UI loads traces with finds the same, and nothing to complain about."""
    queries = [
        "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value != 0",
        "SELECT category, name, count(*), sum(iif(dur < 0, 0, dur)) FROM slice GROUP BY 1, 2",
        "SELECT name FROM process WHERE name IS NOT NULL",
        "SELECT count(*), sum(value > 0) FROM counter",
        "SELECT display_value, count(*) FROM slice JOIN args USING (arg_set_id) WHERE category = 'rpc' AND key = 'debug.client' GROUP BY 1",
        "SELECT count(*) FROM flow",
        "SELECT min(ts), max(ts) FROM slice",
    ]
    script = pathlib.Path(__file__).with_name("perfetto-query.mjs")
    command = ["node", str(script), processor, str(path / "trace.pftrace")]
    run = subprocess.run(command, input=json.dumps(queries), text=True, capture_output=True, check=False)
    if run.returncode:
        sys.exit(f"check-perfetto: {path.name}: trace_processor failed\n{run.stderr}")
    complaints, slices, processes, counters, clients, flows, span = json.loads(run.stdout)
    equal(f"{path.name}, complaints of trace_processor", complaints, [])
    expected = collections.defaultdict(lambda: [0, 0])
    for it in trace.slices:
        sum_of = expected[it.category, it.name]
        sum_of[0] += 1
        sum_of[1] += (it.end - it.start) if it.end else 0
    equal(f"{path.name}, slices", {(it[0], it[1]): it[2:] for it in slices}, dict(expected))
    nodes = sorted(it.process.process_name for it in trace.tracks.values() if it.HasField("process"))
    equal(f"{path.name}, processes", sorted(it[0] for it in processes), nodes)
    values = [value for series in trace.counters.values() for _, value in series]
    equal(f"{path.name}, counters", [it or 0 for it in counters[0]], [len(values), sum(value > 0 for value in values)])
    by_client = collections.Counter(it.arguments["client"] for it in trace.of("rpc"))
    equal(f"{path.name}, clients", dict(clients), dict(by_client))
    ends = collections.Counter(flow for it in trace.slices for flow in it.flows)
    equal(f"{path.name}, arrows", flows[0][0], sum(n - 1 for n in ends.values()))
    equal(f"{path.name}, first slice", span[0][0], min(it.start for it in trace.slices))


main()
