// What the logs tell besides requests.

const eventsSection = () =>
  section({
    id: "events",
    title: "Events",
    how:
      "What Lustre told people in the kernel logs and in console lines of the debug logs: evictions and why, connections, recovery, " +
      "hung threads, timeouts, failures. What stands in both logs counts once. An empty time: only the order is known. " +
      "docs/kernel-logs.md has the sentences.",
    follows: [],
    missing: () => (DATA.events.rows.length ? null : "The logs tell of none."),
    build: buildEvents,
    wide: true,
  });

const EVENT_SOURCES = { debug_log: "debug log", kernel_log: "kernel log", both: "both" };

function buildEvents(body) {
  const name = (value) => value ?? "";
  const events = table(body, {
    label: "Events",
    columns: [
      { name: "time", value: (row) => row.time, text: (row) => (row.time === null ? "" : date(row.time)) },
      { name: "node", value: (row) => row.node, text: (row) => row.node },
      { name: "event", value: (row) => row.kind, text: (row) => row.kind.replaceAll("_", " ") },
      { name: "target", value: (row) => name(row.target), text: (row) => name(row.target) },
      { name: "client", value: (row) => name(row.client), text: (row) => name(row.client) },
      { name: "why", value: (row) => row.reason, text: (row) => row.reason, wrap: true },
      { name: "source", value: (row) => row.source, text: (row) => EVENT_SOURCES[row.source] },
    ],
    rows: () => DATA.events.rows,
  });
  if (DATA.events.others) body.append(el("p.note", null, `${count(DATA.events.others)} more are not shown.`));
  return () => events.show();
}
