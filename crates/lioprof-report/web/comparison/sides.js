// The two runs, and the time that both are drawn over.

const SIDES = [
  { name: "before", ...DATA.before },
  { name: "after", ...DATA.after },
];

/** From the first byte of each run to the last one of the longer, in seconds; never 0, so that it can be an axis. */
const SPAN_S = Math.max(...SIDES.map((side) => side.span_s), 1e-3);

/** Nothing can be selected by name. */
const NAMED = {};

/** Reads and writes: their name, the key of their bytes, of how long they took. */
const DIRECTIONS = [
  { name: "Reads", bytes: "read_bytes", times: "read_total_hist_us", figure: "read" },
  { name: "Writes", bytes: "written_bytes", times: "write_total_hist_us", figure: "write" },
];

/** Colour of a side: the first is lighter, so that they differ in grey as well. */
function sideColor(side) {
  return colors[side.name];
}

/** The key of a chart of both. */
function sidesLegend() {
  return legend(SIDES.map((side) => [sideColor(side), side.name, "line"]));
}
