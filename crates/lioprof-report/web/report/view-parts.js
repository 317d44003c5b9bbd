// Disk and network: what the service time of reads and writes was made of.

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
    missing: () => (DATA.service_parts.length ? null : "The log does not show when data moved: it needs mask net (profile full)."),
    build: buildParts,
    wide: true,
  });

function buildParts(body) {
  const kinds = ["before", "transfer", "after"];
  const names = ["before the transfer", "transfer", "after the transfer"];
  const mean = (row, kind) => row[kind].us[1] ?? 0;
  const longest = Math.max(1, ...DATA.service_parts.map((row) => row.mean_us));
  const bar = (row) => {
    let left = 0;
    const pieces = kinds.map((kind) => {
      const width = (100 * mean(row, kind)) / longest;
      const piece = el(`i.part-${kind}`, { style: { left: `${left}%`, width: `${width}%` } });
      left += width;
      return piece;
    });
    return el("span.spans", { "aria-hidden": "true" }, el("span.span.stacked", null, pieces));
  };
  const partColumn = (kind, i) => ({
    name: names[i],
    title: "mean",
    number: true,
    value: (row) => mean(row, kind),
    text: (row) => micros(mean(row, kind)),
    hint: (row) => timesHint(row[kind].us),
  });
  // Of the longest part: the others matter less.
  const most = (row) => kinds.reduce((a, b) => (mean(row, b) > mean(row, a) ? b : a));
  const key = el("div");
  body.append(key);
  const list = table(body, {
    label: "Parts of the service time",
    first: 16,
    columns: [
      { name: "name", value: (row) => row.name ?? UNKNOWN },
      { name: "of", value: (row) => row.of },
      { name: "direction", value: (row) => row.direction },
      countColumn("RPCs", (row) => row.rpcs, "RPCs whose parts are known"),
      {
        name: "service",
        title: "mean of these RPCs, in parts",
        number: true,
        value: (row) => row.mean_us,
        text: (row) => micros(row.mean_us),
      },
      { name: `0 … ${micros(longest)}`, title: "the parts, one scale for all", value: (row) => row.mean_us, cell: bar },
      ...kinds.map(partColumn),
      {
        name: "× peers",
        title: "longest part, over that of its peers for the same kind of requests",
        number: true,
        value: (row) => row[most(row)].ratio,
        text: (row) => (row[most(row)].ratio === null ? "–" : row[most(row)].ratio.toFixed(1)),
      },
    ],
    rows: (it) => DATA.service_parts.filter((row) => it.direction.includes(row.direction[0])),
  });
  return () => {
    const style = getComputedStyle(document.documentElement);
    fill(key, legend(kinds.map((kind, i) => [style.getPropertyValue(`--part-${kind}`).trim(), names[i]])));
    list.show();
  };
}
