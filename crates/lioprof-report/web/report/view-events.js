// What the logs tell besides requests.

const eventsSection = () =>
  section({
    id: "events",
    title: "Events",
    how:
      "What Lustre told people in the kernel logs and in console lines of the debug logs: evictions and why, connections, recovery, " +
      "hung threads, timeouts, failures. What stands in both logs counts once. A stroke is an event; point at it to see who and why. " +
      "An empty time: only the order is known. docs/kernel-logs.md has the sentences.",
    follows: ["time"],
    missing: () => (DATA.events.rows.length ? null : "The logs tell of none."),
    build: buildEvents,
    wide: true,
  });

const EVENT_SOURCES = { debug_log: "debug log", kernel_log: "kernel log", both: "both" };

/** How many there are of each kind, the most frequent first. */
function countBy(rows, kindOf) {
  const counts = new Map();
  rows.forEach((row) => counts.set(kindOf(row), (counts.get(kindOf(row)) ?? 0) + 1));
  return [...counts].sort((a, b) => b[1] - a[1]);
}

const kindText = (row) => row.kind.replaceAll("_", " ");

/** A row for each kind, the most frequent first; events of unknown time, or outside of the window, are in the table only. */
function eventsChart(body) {
  const timed = DATA.events.rows
    .filter((row) => row.time !== null)
    .map((row) => ({ row, at: row.time - DATA.window.start }))
    .filter(({ at }) => at >= -1e-6 && at <= SPAN_S + 1e-6);
  if (!timed.length || !(SPAN_S > 0)) return null;
  const kinds = countBy(timed, ({ row }) => kindText(row)).map(([kind]) => kind);
  const chart = timeChart(body, {
    label: "Events over time",
    lanes(it) {
      const [from, to] = visible(it);
      const seen = timed.filter(({ at }) => at >= from && at <= to);
      if (!seen.length) return { empty: "No event in the visible time." };
      return {
        wide: true,
        summary: plural(seen.length, "event"),
        lanes: [
          {
            height: Math.round(Math.max(40, kinds.length * colors.font * 2.2)),
            y: { min: 0, max: kinds.length, inverse: true, interval: 1, axisLabel: { show: false }, axisTick: { show: false } },
            names: kinds.map((kind, i) => [kind, i + 0.5]),
            series: [
              {
                type: "custom",
                silent: true,
                clip: true,
                encode: { x: 0, y: 1 },
                data: seen.map(({ row, at }) => [at, kinds.indexOf(kindText(row))]),
                renderItem(_, api) {
                  const [x, top] = api.coord([api.value(0), api.value(1)]);
                  const [, bottom] = api.coord([api.value(0), api.value(1) + 1]);
                  const h = bottom - top;
                  return {
                    type: "rect",
                    shape: { x: x - 1, y: top + h * 0.15, width: 2, height: h * 0.7 },
                    style: { fill: colors.warning },
                  };
                },
              },
            ],
            hover: (time, y) => {
              const kind = kinds[Math.floor(y)];
              const slack = ((to - from) / 900) * 4;
              const hits = seen.filter(({ row, at }) => kindText(row) === kind && Math.abs(at - time) <= slack);
              if (!hits.length) return { head: `${kind}, ${timeLabel(time, (to - from) / 500)}`, foot: "no event here" };
              const who = ({ row }) => [row.client, row.target].filter(Boolean).join(", ") || row.node;
              return {
                head: `${plural(hits.length, "event")}: ${kind}`,
                rows: hits.slice(0, 6).map((hit) => [null, `${timeLabel(hit.at, (to - from) / 500)} ${who(hit)}`, hit.row.reason]),
                foot: hits.length > 6 ? `and ${count(hits.length - 6)} more` : undefined,
              };
            },
          },
        ],
      };
    },
  });
  rowNames(chart);
  return chart;
}

function buildEvents(body) {
  const name = (value) => value ?? "";
  const chart = eventsChart(body);
  const events = table(body, {
    label: "Events",
    columns: [
      { name: "time", value: (row) => row.time, text: (row) => (row.time === null ? "" : timeCell(row.time)) },
      { name: "node", value: (row) => row.node, text: (row) => row.node },
      { name: "event", value: (row) => row.kind, text: kindText },
      { name: "target", value: (row) => name(row.target), text: (row) => name(row.target) },
      { name: "client", value: (row) => name(row.client), text: (row) => name(row.client) },
      { name: "why", value: (row) => row.reason, text: (row) => row.reason, wrap: true },
      { name: "source", value: (row) => row.source, text: (row) => EVENT_SOURCES[row.source] },
    ],
    rows: () => DATA.events.rows,
  });
  if (DATA.events.others) body.append(el("p.note", null, `${count(DATA.events.others)} more are not shown.`));
  return () => {
    chart?.refresh();
    events.show();
  };
}
