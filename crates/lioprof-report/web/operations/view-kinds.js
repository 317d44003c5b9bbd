// Where the time of each kind of operation went.

const kindsSection = () =>
  section({
    id: "kinds",
    title: DATA.from_clients ? "Kinds of operations" : "Kinds of RPCs",
    how:
      "One bar for each kind. As shares: what the time of all operations of that kind was spent on; every instant counts once. " +
      "As means: how long one takes, all bars on one scale. As sums: which kind the programs spend most of their time in. Of several " +
      "RPCs under way at the same time, the one counts that is answered last, since the operation waits for it. Hatched: the logs do " +
      "not tell.",
    follows: [],
    missing: () => (DATA.kinds.length ? null : "No operation and no RPC in these logs."),
    build: buildKinds,
    wide: true,
  });

function buildKinds(body, controls) {
  let by = "share";
  controls.append(
    choice(
      "Bars show",
      [
        ["share", "shares of the time"],
        ["mean", "the mean of one"],
        ["sum", "the sum of all"],
      ],
      by,
      (value) => {
        by = value;
        list.show();
      },
    ),
  );
  body.append(partsLegend());
  const means = Math.max(...DATA.kinds.map((kind) => kind.us[4] / kind.count));
  const sums = Math.max(...DATA.kinds.map((kind) => kind.us[4]));
  const bar = (kind) => {
    const of = by === "mean" ? kind.count : 1;
    const whole = by === "share" ? kind.us[4] : by === "mean" ? means : sums;
    return partsBar(
      kind.parts.map((part) => (part ? part[4] / of : null)),
      whole,
    );
  };
  const time = (name, at, title) => ({
    name,
    title,
    number: true,
    value: (kind) => kind.us[at],
    text: (kind) => micros(kind.us[at]),
  });
  const number = (kind) => DATA.kinds.indexOf(kind);
  const list = table(body, {
    label: "Kinds and their parts",
    first: 16,
    columns: [
      { name: OPERATION, value: (kind) => kind.name },
      countColumn("count", (kind) => kind.count),
      {
        name: "where the time went",
        title: "the parts; sorts by the share of the client's own work",
        value: (kind) => (kind.parts[0]?.[4] ?? 0) / kind.us[4],
        cell: bar,
        hint: (kind) =>
          partsText(
            kind.parts.map((part) => part?.[4]),
            10,
          ),
      },
      { name: "mean", number: true, value: (kind) => kind.us[4] / kind.count, text: (kind) => micros(kind.us[4] / kind.count) },
      time("p50", 0, "half of them took no longer"),
      time("p90", 1),
      time("p99", 2),
      time("max", 3),
      time("sum", 4),
      countColumn("RPCs", (kind) => kind.rpcs, "sent for them"),
    ].filter((column) => DATA.from_clients || column.name !== "RPCs"),
    rows: () => DATA.kinds,
    pick: (kind) => () => select({ kinds: isSelected("kinds", number(kind)) ? [] : [number(kind)], operations: [] }),
    picked: (kind) => isSelected("kinds", number(kind)),
  });
  if (DATA.left_out_kinds) body.append(el("p.note", null, `${plural(DATA.left_out_kinds, "more kind")} with less time not in this page.`));
  return () => list.show();
}
