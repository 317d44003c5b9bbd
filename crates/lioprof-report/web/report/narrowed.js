// Reads and writes of single clients on single OSTs: what tables by client show of selected OSTs, and those by OST of selected clients.

/** Sums of `IoView` in Rust, to the last digit. */
function sumIo(ios) {
  const sum = (value) => {
    const all = ios.reduce((total, io) => total + BigInt(value(io) ?? 0), 0n);
    return all <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(all) : String(all);
  };
  const known = ios.some((io) => io.bytes !== null) || !ios.some((io) => io.rpcs);
  return {
    rpcs: sum((io) => io.rpcs),
    errors: sum((io) => io.errors),
    bytes: known ? sum((io) => io.bytes) : null,
    bytes_min: sum((io) => io.bytes_min ?? io.bytes),
    bytes_max: sum((io) => io.bytes_max ?? io.bytes),
    bounded_rpcs: sum((io) => io.bounded_rpcs),
    unsized_rpcs: sum((io) => io.unsized_rpcs),
  };
}

/** Places in the matrix of what is selected; `null` if one of them is among its others, with which it is summed up. */
function placesIn(slots, others, numbers) {
  const places = numbers.map((number) => slots.findIndex((slot) => slot.is === "one" && slot.number === number));
  if (others > 0 && places.includes(-1)) return null;
  return places.filter((place) => place >= 0);
}

/** Whether the figures of each OST can be narrowed to the selected clients. */
const narrowsClients = (it) => placesIn(DATA.matrix.clients, DATA.matrix.other_clients, it.clients) !== null;

/** Whether those of each client can be narrowed to the selected OSTs. */
const narrowsTargets = (it) => placesIn(DATA.matrix.targets, DATA.matrix.other_targets, it.targets) !== null;

/**
 * Sums of the cells that are in the selected rows and columns (all, where none is selected), by row (`by = "row"`: clients) or by
 * column (OSTs): `{slot, read, write, cells}`.
 */
function narrowed(it, by) {
  const { matrix } = DATA;
  const wanted = (slots, others, numbers) => {
    const places = numbers.length ? placesIn(slots, others, numbers) : slots.map((_, place) => place);
    return new Set(places);
  };
  const rows = wanted(matrix.clients, matrix.other_clients, it.clients);
  const columns = wanted(matrix.targets, matrix.other_targets, it.targets);
  const found = new Map();
  for (const cell of matrix.cells) {
    if (!rows.has(cell.row) || !columns.has(cell.column)) continue;
    if (!found.has(cell[by])) found.set(cell[by], []);
    found.get(cell[by]).push(cell);
  }
  const slots = by === "row" ? matrix.clients : matrix.targets;
  return [...found]
    .sort((a, b) => a[0] - b[0])
    .map(([place, cells]) => ({
      slot: slots[place],
      read: sumIo(cells.map((cell) => cell.read)),
      write: sumIo(cells.map((cell) => cell.write)),
      cells: cells.length,
    }));
}
