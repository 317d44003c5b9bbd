// The OSTs' figures.

/** Rows of the selected clients alone; the analysis has no times by client and OST. */
function ostRowsOfClients(it) {
  const servers = (target) => DATA.targets.rows.filter((row) => row.target === target).map((row) => row.node);
  return narrowed(it, "column")
    .filter(({ slot }) => slot.is === "one")
    .map(({ slot: { number: target }, read, write }) => ({
      target,
      node: [...new Set(servers(target))].join(", "),
      read,
      write,
      read_total_us: null,
      write_total_us: null,
    }));
}

function ostTable(body) {
  const byClient = (it) => it.clients.length > 0 && narrowsClients(it) && (!it.targets.length || narrowsTargets(it));
  const rowsOf = (it) =>
    byClient(it)
      ? ostRowsOfClients(it)
      : DATA.targets.rows
          .filter((row) => row.kind === "ost" || row.read.rpcs + row.write.rpcs > 0)
          .filter((row) => !it.targets.length || it.targets.includes(row.target));
  const note = partNote(body, "The figures of each OST in this table are");
  const cells = (it) => [
    el("td"),
    el("td.figure", null, count(it.read.rpcs)),
    el("td.figure", null, ioBytes(it.read)),
    el("td"),
    el("td"),
    el("td.figure", null, count(it.write.rpcs)),
    el("td.figure", null, ioBytes(it.write)),
    el("td"),
    el("td"),
  ];
  const all = otherCells(DATA.targets, "target", cells);
  const others = (it) => {
    if (!byClient(it)) return it.targets.length ? null : all?.();
    const rest = narrowed(it, "column").find(({ slot }) => slot.is === "others");
    return rest && [el("th", { scope: "row" }, `${plural(DATA.matrix.other_targets, "other target")}`), ...cells(rest)];
  };
  const list = table(body, {
    label: "OSTs",
    columns: [
      { name: "OST", value: (row) => targetName(row.target) },
      { name: "server", value: (row) => row.node },
      countColumn("reads", (row) => row.read.rpcs),
      bytesColumn("read", (row) => row.read),
      timeColumn("read p50", (row) => row.read_total_us, 2),
      timeColumn("read p99", (row) => row.read_total_us, 4),
      countColumn("writes", (row) => row.write.rpcs),
      bytesColumn("written", (row) => row.write),
      timeColumn("write p50", (row) => row.write_total_us, 2),
      timeColumn("write p99", (row) => row.write_total_us, 4),
    ],
    rows: rowsOf,
    others,
    pick: (row) => () => toggleSelected("targets", row.target),
    picked: (row) => isSelected("targets", row.target),
    accused: (row) => isAccused("targets", row.target),
  });
  const without = el("p.note");
  body.append(without);
  return {
    show() {
      const mine = byClient(selection);
      note(["targets", "direction", ...(mine ? ["clients"] : [])]);
      list.show();
      const unknown = mine && narrowed({ ...selection, targets: [] }, "column").find(({ slot }) => slot.is === "unknown");
      const { unattributed_read: read, unattributed_write: write } = DATA.totals;
      const rest = mine ? (unknown ?? null) : { read, write };
      const rpcs = rest ? rest.read.rpcs + rest.write.rpcs : 0;
      without.hidden = !rpcs;
      without.textContent = rpcs
        ? `Not in these rows: ${plural(rpcs, "read or write", "reads and writes")} whose OST the log does not name ` +
          `(${ioBytes(rest.read)} read, ${ioBytes(rest.write)} written).`
        : "";
    },
  };
}

/** What the sums hold and the curves do not. */
function movedBefore() {
  const before = DATA.series.before_bytes.reduce((sum, value) => sum + value, 0);
  return before ? `Requests that ended in this time moved ${bytes(before)} before it: in the sums, not in the curves.` : "";
}
