// Disk and network: what the service time of reads and writes was made of.

/** The parts of a service time around the bulk transfer: words, kind. */
const PARTS_OF_SERVICE = [
  ["before the transfer", "before"],
  ["transfer", "transfer"],
  ["after the transfer", "after"],
];

const partsSection = () =>
  section({
    id: "parts",
    title: "Disk and network",
    plots: ["service-parts"],
    how:
      "Mean service time of reads and of writes, split at the bulk transfer; the bars have one scale. Before the transfer (pink) a read " +
      "is read from disk and a write is prepared; the transfer (light blue) is network and client; after it (dark blue) a write is " +
      "written to disk. Dark blue or pink that is long on one OST: its disk. Light blue on a whole server: that server's link. Light " +
      "blue on one client: that client or its link. × peers compares with the same kind of requests of the others. Only RPCs whose " +
      "transfer the log shows without doubt are counted.",
    follows: ["direction"],
    missing: () => (DATA.service_parts.length ? null : noParts()),
    build: buildParts,
    wide: true,
  });

/** Why there are no parts: without reads and writes no mask would show any. */
function noParts() {
  const { read, write, dom_read: domRead, dom_write: domWrite } = DATA.totals;
  return [read, write, domRead, domWrite].some((io) => io.rpcs)
    ? "The log does not show when data moved: it needs mask net (profile full)."
    : `No reads or writes ${AMONG}.`;
}

function buildParts(body) {
  const bars = stacked(
    PARTS_OF_SERVICE.map(([name, kind]) => ({ name, kind, ink: `--part-${kind}`, times: (row) => row[kind].us })),
    Math.max(1, ...DATA.service_parts.map((row) => row.mean_us)),
  );
  // Of the longest part: the others matter less.
  const timesPeers = (row) => row[bars.most(row).kind].ratio;
  const key = el("div");
  body.append(key);
  const list = table(body, {
    label: "Parts of the service time",
    first: 16,
    columns: [
      { name: "name", value: (row) => row.name },
      { name: "of", value: (row) => row.of },
      { name: "direction", value: (row) => row.direction },
      countColumn("RPCs", (row) => row.rpcs, "RPCs whose parts are known"),
      {
        name: "service",
        title: "mean of these RPCs, in parts",
        number: true,
        unit: "us",
        value: (row) => row.mean_us,
        text: (row) => micros(row.mean_us),
      },
      bars.column((row) => row.mean_us),
      ...bars.columns,
      {
        name: "× peers",
        title: "longest part, over that of its peers for the same kind of requests",
        number: true,
        unit: "",
        value: timesPeers,
        text: (row) => timesPeers(row)?.toFixed(1) ?? "–",
      },
    ],
    accused: (row) => isAccused("names", row.name),
    rows: (it) => DATA.service_parts.filter((row) => it.direction.includes(row.direction[0])),
  });
  return () => {
    fill(key, bars.legend());
    list.show();
  };
}
