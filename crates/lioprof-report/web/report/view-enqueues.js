// Lock requests: queue, service, and waiting for locks.

const enqueuesSection = () =>
  section({
    id: "enqueues",
    title: "Lock requests",
    how:
      "Mean time of lock requests (LDLM_ENQUEUE), from their arrival until they were handled and their lock was granted; the bars have " +
      "one scale. Queue (orange): they waited for a service thread. Service (green): the handling, without waits. Wait (dark): " +
      "another client had the lock; on OSTs that is after the reply, on MDTs within the handling. Other wait (grey): for a lock of " +
      "the same client or of the server. The parts add up exactly; requests of which a line is missing are counted as unknown and " +
      "left out.",
    missing: () => (DATA.enqueue_parts.length ? null : noEnqueues()),
    follows: [],
    build: buildEnqueues,
    wide: true,
  });

/** Why there are no parts: without lock requests no mask would show any. */
function noEnqueues() {
  if (!DATA.locks) return DATA.totals.rpcs ? "Lock requests were not analysed (--no-locks)." : `No RPC ${AMONG}.`;
  return DATA.lock_requests
    ? "The log does not show what lock requests waited for: it needs mask dlmtrace (profile full)."
    : `No lock requests ${AMONG}.`;
}

function buildEnqueues(body) {
  const part = (name, ink, kind) => ({ name, ink, times: (row) => row[kind].us });
  const total = (row) => row.total.us[1] ?? 0;
  const bars = stacked(
    [
      part("queue", "--queue", "queue"),
      part("service", "--service", "service"),
      part("wait", "--part-after", "lock_wait"),
      part("other wait", "--unclassified", "other_wait"),
    ],
    Math.max(1, ...DATA.enqueue_parts.map(total)),
  );
  const key = el("div");
  body.append(key);
  const list = table(body, {
    label: "Parts of the time of lock requests",
    first: 16,
    columns: [
      { name: "name", value: (row) => row.name },
      { name: "of", value: (row) => row.of },
      countColumn("requests", (row) => row.enqueues),
      countColumn("unknown", (row) => row.unknown, "requests whose parts the log does not show"),
      countColumn("waited", (row) => row.waited, "requests that waited for another client's lock"),
      timeColumn("time", (row) => row.total.us, 1, "mean"),
      bars.column(total),
      ...bars.columns,
    ],
    accused: (row) => isAccused("names", row.name),
    rows: () => DATA.enqueue_parts,
  });
  return () => {
    fill(key, bars.legend());
    list.show();
  };
}
