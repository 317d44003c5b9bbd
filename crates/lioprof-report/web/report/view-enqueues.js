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
    missing: () =>
      DATA.enqueue_parts.length ? null : "The log does not show what lock requests waited for: it needs mask dlmtrace (profile full).",
    follows: [],
    build: buildEnqueues,
    wide: true,
  });

function buildEnqueues(body) {
  const kinds = ["queue", "service", "lock_wait", "other_wait"];
  const names = ["queue", "service", "wait", "other wait"];
  const inks = ["--queue", "--service", "--part-after", "--unclassified"];
  const mean = (row, kind) => row[kind].us[1] ?? 0;
  const longest = Math.max(1, ...DATA.enqueue_parts.map((row) => mean(row, "total")));
  const bar = (row) => {
    let left = 0;
    const pieces = kinds.map((kind, i) => {
      const width = (100 * mean(row, kind)) / longest;
      const piece = el("i", { style: { left: `${left}%`, width: `${width}%`, background: `var(${inks[i]})` } });
      left += width;
      return piece;
    });
    return el("span.spans", { "aria-hidden": "true" }, el("span.span.stacked", null, pieces));
  };
  const partColumn = (kind, name) => ({
    name,
    title: "mean",
    number: true,
    value: (row) => mean(row, kind),
    text: (row) => micros(mean(row, kind)),
    hint: (row) => timesHint(row[kind].us),
  });
  const key = el("div");
  body.append(key);
  const list = table(body, {
    label: "Parts of the time of lock requests",
    first: 16,
    columns: [
      { name: "name", value: (row) => row.name ?? (row.of === "all" ? "all requests" : UNKNOWN) },
      { name: "of", value: (row) => row.of },
      countColumn("requests", (row) => row.enqueues),
      countColumn("unknown", (row) => row.unknown, "requests whose parts the log does not show"),
      countColumn("waited", (row) => row.waited, "requests that waited for another client's lock"),
      partColumn("total", "time"),
      { name: `0 … ${micros(longest)}`, title: "the parts, one scale for all", value: (row) => mean(row, "total"), cell: bar },
      ...kinds.map((kind, i) => partColumn(kind, names[i])),
    ],
    rows: () => DATA.enqueue_parts,
  });
  return () => {
    const style = getComputedStyle(document.documentElement);
    fill(key, legend(inks.map((ink, i) => [style.getPropertyValue(ink).trim(), names[i]])));
    list.show();
  };
}
