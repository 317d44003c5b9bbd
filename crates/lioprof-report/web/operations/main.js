// The page of clients' operations.

function operationsPage() {
  const unknown = DATA.kinds.reduce((sum, kind) => sum + (kind.parts[PARTS.length - 1]?.[4] ?? 0), 0);
  const figures = [
    [
      DATA.from_clients ? "operations" : "RPCs",
      count(DATA.operations),
      DATA.unfinished ? `${count(DATA.unfinished)} more without one end` : null,
    ],
    ["time of all", micros(DATA.total_us), null],
    [DATA.from_clients ? "clients" : "servers", count(DATA.traced_nodes), null],
    DATA.from_clients && [
      "their RPCs",
      count(DATA.rpcs),
      DATA.rpcs === DATA.joined_rpcs ? "all in the servers' logs, too" : `${count(DATA.joined_rpcs)} in the servers' logs, too`,
    ],
    DATA.inferred > 0 && ["inferred", count(DATA.inferred), "kinds with *"],
    DATA.from_clients && ["RPCs of nobody", count(DATA.read_ahead_rpcs + DATA.write_back_rpcs), "read-ahead and write-back"],
    DATA.from_clients && [
      "RPCs of no operation",
      count(DATA.of_none.reduce((sum, it) => sum + it.rpcs, 0)),
      `of ${count(DATA.all_rpcs)}, ${micros(DATA.of_none.reduce((sum, it) => sum + it.us, 0))}`,
    ],
    ["unknown", DATA.total_us ? percent(unknown / DATA.total_us) : UNKNOWN, "of the time"],
  ].filter(Boolean);
  const views = [kindsSection, partsSection, slowestSection, operationSection, noneSection].map((make) => make().node);
  return [
    el(
      "header.page",
      null,
      el("div", null, el("h1", null, DATA.title), el("p", null, DATA.start === null ? "" : date(DATA.start))),
      themeSwitch(),
    ),
    verdictBanner("info", "●", "Where the time went", DATA.verdict),
    !DATA.from_clients &&
      DATA.operations > 0 &&
      el(
        "p.banner",
        null,
        "There is no log of a client with operations in it: these are RPCs as their servers tell of them, from arrival to the end of " +
          "handling. What happened on the client is unknown, and of the network all but how long data took. " +
          "RPCs that no program waits for (pings, statfs, cancels, callbacks) are left out.",
      ),
    DATA.notes.length > 0 && el("p.banner", null, DATA.notes.join(" ")),
    el(
      "dl.totals",
      null,
      figures.map(([name, value, more]) =>
        el("div", null, el("dt", null, name), el("dd", { "data-total": name }, value, more && el("small", null, more))),
      ),
    ),
    toolbar({
      overview: null,
      directions: false,
      times: false,
      findings: false,
      hint: `Click a kind to see only that, an ${OPERATION} to see its way.`,
    }),
    el("main", null, views),
    pageFoot(
      `Made by ${DATA.generator.name} ${DATA.generator.version}. Figures are those of operations.json; ? means unknown. ` +
        "docs/operations.md explains them.",
    ),
  ];
}

start(operationsPage);
