// The slowest single operations.

const slowestSection = () =>
  section({
    id: "slowest",
    title: "The slowest",
    lead: code(
      `The page has the ${count(DATA.of_all)} slowest of all and the ${count(DATA.of_kind)} slowest of each kind; ` +
      "`lioprof operations --format csv` lists them all. Click one to see below where its time went.",
    ),
    how:
      "One line for each, all bars on one scale. Look for what the slow ones have in common: the same part, the same node, the same " +
      "file, the same time of the day.",
    follows: ["kinds"],
    missing: () => (DATA.slowest.length ? null : "No operation and no RPC in these logs."),
    build: buildSlowest,
    wide: false,
  });

function buildSlowest(body) {
  const number = (it) => DATA.slowest.indexOf(it);
  let longest = 1;
  const list = table(body, {
    label: "The slowest",
    first: 12,
    columns: [
      { name: "took", number: true, value: (it) => it.us, text: (it) => micros(it.us) },
      { name: OPERATION, value: (it) => DATA.kinds[it.kind].name },
      {
        name: "parts",
        title: "sorts by the longest part",
        value: (it) => Math.max(...it.parts),
        cell: (it) => partsBar(it.parts, longest),
        hint: (it) => partsText(it.parts, 10),
      },
      { name: "node", value: (it) => DATA.nodes[it.node] },
      { name: "file", value: (it) => it.name ?? it.fid ?? "", cell: fileOf },
      {
        name: "began",
        title: "on the node's own clock, UTC",
        value: (it) => it.begin_us,
        text: (it) => timeOfDay(it.begin_us).slice(0, 12),
      },
      { name: "pid", number: true, value: (it) => it.pid },
      countColumn("RPCs", (it) => it.rpcs),
    ].filter((column) => DATA.from_clients || !["file", "RPCs"].includes(column.name)),
    rows: (now) => chosenOperations(now),
    pick: (it) => () => {
      select({ operations: [number(it)] });
      const section_ = document.getElementById("operation");
      section_.scrollIntoView({ block: "start" });
      section_.querySelector("h2").focus({ preventScroll: true });
    },
    picked: (it) => shownOperation() === it,
  });
  return () => {
    longest = Math.max(1, ...chosenOperations().map((it) => it.us));
    list.show();
  };
}
