// The OSTs' figures.

function ostTable(body) {
  const rowsOf = (it) =>
    DATA.targets.rows
      .filter((row) => row.kind === "ost" || row.read.rpcs + row.write.rpcs > 0)
      .filter((row) => !it.targets.length || it.targets.includes(row.target));
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
    others: otherCells(DATA.targets, "target", (it) => [
      el("td"),
      el("td.figure", null, count(it.read.rpcs)),
      el("td.figure", null, ioBytes(it.read)),
      el("td"),
      el("td"),
      el("td.figure", null, count(it.write.rpcs)),
      el("td.figure", null, ioBytes(it.write)),
      el("td"),
      el("td"),
    ]),
    pick: (row) => () => toggleSelected("targets", row.target),
    picked: (row) => isSelected("targets", row.target),
  });
  const unattributed = DATA.totals.unattributed_read.rpcs + DATA.totals.unattributed_write.rpcs;
  if (unattributed) {
    body.append(
      el(
        "p.note",
        null,
        `Not in these rows: ${plural(unattributed, "read or write", "reads and writes")} whose OST the log does not name ` +
          `(${ioBytes(DATA.totals.unattributed_read)} read, ${ioBytes(DATA.totals.unattributed_write)} written).`,
      ),
    );
  }
  return list;
}
