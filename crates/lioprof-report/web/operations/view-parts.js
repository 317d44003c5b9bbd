// Percentiles of each part of one kind of operation.

const partsSection = () =>
  section({
    id: "parts",
    title: "Parts of one kind",
    how:
      "How long each part was, over all operations of the kind, also those without that part: a p50 of 0 says that at least half of them " +
      "had none of it. Percentiles of parts are not those of one operation and do not add up; sums do.",
    follows: ["kinds"],
    missing: () => (DATA.kinds.length ? null : "No operation and no RPC in these logs."),
    build: buildParts,
    wide: false,
  });

function buildParts(body, controls) {
  const heading = el("h3");
  body.append(heading);
  const kind = () => DATA.kinds[selection.kinds[0] ?? 0];
  const figures = (part) => kind().parts[part.number];
  const time = (name, at) => ({
    name,
    number: true,
    value: (part) => figures(part)?.[at] ?? null,
    text: (part) => (figures(part) ? micros(figures(part)[at]) : UNKNOWN),
  });
  const list = table(body, {
    label: "Percentiles of parts",
    first: 10,
    columns: [
      { name: "part", value: (part) => part.number, cell: (part) => [el("i", { class: `swatch ${part.style}` }), ` ${part.name}`] },
      {
        name: "share",
        number: true,
        value: (part) => (figures(part) ? figures(part)[4] / kind().us[4] : null),
        text: (part) => (figures(part) ? percent(figures(part)[4] / kind().us[4]) : UNKNOWN),
      },
      time("p50", 0),
      time("p90", 1),
      time("p99", 2),
      time("max", 3),
      time("sum", 4),
    ],
    rows: () => PARTS.filter((part) => figures(part) === null || figures(part)[3] > 0),
  });
  const select_ = choice(
    DATA.from_clients ? "Operation" : "RPC",
    DATA.kinds.map((it, number) => [String(number), it.name]),
    "0",
    (value) => select({ kinds: [Number(value)], operations: [] }),
  );
  controls.append(select_);
  return () => {
    select_.querySelector("select").value = String(selection.kinds[0] ?? 0);
    heading.textContent = `${kind().name}: ${plural(kind().count, OPERATION)}, ${micros(kind().us[4])} in all`;
    list.show();
  };
}
