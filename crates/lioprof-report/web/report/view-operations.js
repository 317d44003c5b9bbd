// Every kind of RPC: how many, how long in the queue, how long in the handler.

const operationsSection = () =>
  section({
    id: "operations",
    title: "Operations",
    plots: ["latency"],
    how:
      "One row per operation and service. Queue is the time from arrival until a service thread took the request, service the time in " +
      "the handler. In the bars, on a logarithmic scale, orange is queue and green service: from the median to 99 %, and a tick at the " +
      "slowest. Long orange bars: too few threads, or too many requests. Long green bars: disks, network or locks.",
    follows: [],
    missing: () => (DATA.operations.rows.length ? null : `No RPC was handled ${AMONG}.`),
    build: buildOperations,
    wide: true,
  });

function buildOperations(body) {
  const all = DATA.operations.rows.flatMap((row) => [row.queue_us, row.service_us]).filter((times) => times[0]);
  const high = Math.max(10, ...all.map((times) => times[5]));
  const low = 1;
  const place = (us) => 100 * Math.max(0, Math.min(1, Math.log(Math.max(us, low) / low) / Math.log(high / low)));
  const bar = (times, kind) => {
    if (!times[0]) return null;
    const [from, to] = [place(times[2]), place(times[4])];
    return el(
      "span.span",
      null,
      el(`i.${kind}`, { style: { left: `${from}%`, width: `${Math.max(1.2, to - from)}%` } }),
      el(`i.tick.${kind}`, { style: { left: `${place(times[5])}%` } }),
    );
  };
  const list = table(body, {
    label: "Operations",
    first: 15,
    sort: "RPCs",
    columns: [
      { name: "operation", value: (row) => row.name },
      { name: "service", value: (row) => row.service },
      countColumn("RPCs", (row) => row.rpcs),
      {
        ...countColumn("errors", (row) => row.errors, "negative handler status"),
        cell: (row) => (row.errors ? el("strong.bad", null, count(row.errors)) : "0"),
      },
      timeColumn("queue p50", (row) => row.queue_us, 2),
      timeColumn("queue p99", (row) => row.queue_us, 4),
      timeColumn("service p50", (row) => row.service_us, 2),
      timeColumn("service p99", (row) => row.service_us, 4),
      timeColumn("slowest", (row) => row.total_us, 5, "queue and service together"),
      {
        name: `${micros(low)} … ${micros(high)}`,
        title: "median to 99 %, and the slowest: orange in the queue, green in service; logarithmic",
        value: (row) => row.service_us[4],
        cell: (row) => el("span.spans", { "aria-hidden": "true" }, bar(row.queue_us, "queue"), bar(row.service_us, "service")),
      },
    ],
    rows: () => DATA.operations.rows,
    others: otherCells(DATA.operations, "operation", (it) => [
      el("td"),
      el("td.figure", null, count(it.rpcs)),
      ...Array.from({ length: 7 }, () => el("td")),
    ]),
  });
  let sent = null;
  if (DATA.sent.rows.length) {
    body.append(el("h3", null, `RPCs that the servers sent: ${count(DATA.totals.sent_rpcs)}`));
    sent = table(body, {
      label: "RPCs that the servers sent",
      first: 5,
      sort: "RPCs",
      columns: [
        { name: "operation", value: (row) => row.name },
        { name: "server", value: (row) => row.node },
        { name: "target", value: (row) => (row.target === null ? "" : targetName(row.target)) },
        { name: "to", value: (row) => clientName(row.client) },
        countColumn("RPCs", (row) => row.rpcs),
        timeColumn("round trip p50", (row) => row.round_trip_us, 2),
        timeColumn("p99", (row) => row.round_trip_us, 4),
        timeColumn("slowest", (row) => row.round_trip_us, 5),
      ],
      rows: () => DATA.sent.rows,
      others: otherCells(DATA.sent, "row", (it) => [
        el("td"),
        el("td"),
        el("td"),
        el("td.figure", null, count(it.rpcs)),
        el("td"),
        el("td"),
        el("td"),
      ]),
    });
  }
  return () => {
    list.show();
    sent?.show();
  };
}
