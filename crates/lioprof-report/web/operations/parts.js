// The parts of an operation's time: names, colours, bars. What can be selected: kinds of operations, and one operation.

/** Parts in the order in which an operation goes through them. */
const PARTS = DATA.parts.map((part, number) => ({ ...part, number, style: `part ${part.key}` }));

/** Times here are those of single operations: nothing is selected by time. */
const SPAN_S = 1;

/** What can be selected by name: parameter of the address, names in it, names as shown. */
const NAMED = {
  kinds: ["kind", () => DATA.kinds.map((kind) => kind.name), (number) => DATA.kinds[number].name],
  operations: ["operation", () => DATA.slowest.map((it) => it.id), (number) => `one ${DATA.kinds[DATA.slowest[number].kind].name}`],
};

const OPERATION = DATA.from_clients ? "operation" : "RPC";

/** The parts that occur at all. */
const usedParts = () => PARTS.filter((part) => DATA.kinds.some((kind) => kind.parts[part.number]?.[3] > 0));

/** The key of all bars. */
function partsLegend(parts = usedParts()) {
  return el(
    "div.legend",
    null,
    parts.map((part) => el("span.entry", null, el("i", { class: `swatch ${part.style}` }), part.name)),
  );
}

/** `12.5 ms client's own work`, the largest first. */
function partsText(us, limit = 3) {
  const list = PARTS.map((part) => [us[part.number] ?? 0, part.name]).filter(([it]) => it > 0);
  return list
    .sort((a, b) => b[0] - a[0])
    .slice(0, limit)
    .map(([it, name]) => `${micros(it)} ${name}`)
    .join(", ");
}

/** A bar of parts: `us` by part; `whole` is what its full width stands for. */
function partsBar(us, whole) {
  const total = us.reduce((sum, it) => sum + (it ?? 0), 0);
  const pieces = PARTS.filter((part) => us[part.number] > 0).map((part) =>
    el("i", {
      class: part.style,
      title: `${part.name}: ${micros(us[part.number])}, ${percent(us[part.number] / total)}`,
      style: { flexGrow: String(us[part.number]) },
    }),
  );
  const width = whole > 0 ? (100 * total) / whole : 0;
  return el("span.parts-bar", { "aria-hidden": "true" }, el("span", { style: { width: `${width}%` } }, pieces));
}

/** The file of an operation: its name, if the page has it, and its FID. */
function fileOf(it) {
  if (!it.fid && !it.name) return "–";
  return [it.name && el("span", null, `${it.name} `), it.fid && el("code", null, it.fid)];
}

/** Puts single operations of what is selected in order: the slowest first. */
function chosenOperations(now = selection) {
  return DATA.slowest.filter((it) => !now.kinds.length || now.kinds.includes(it.kind));
}

/** The operation that is shown: the selected one, or the slowest of what is selected. */
function shownOperation(now = selection) {
  const [number] = now.operations;
  return number === undefined ? chosenOperations(now)[0] : DATA.slowest[number];
}

/** Time of the day on the node's own clock, to the microsecond. */
function timeOfDay(us) {
  const when = new Date(Math.floor(us / 1e3));
  return Number.isNaN(when.getTime()) ? UNKNOWN : `${when.toISOString().slice(11, 23)}${String(us % 1e3).padStart(3, "0")}`;
}
