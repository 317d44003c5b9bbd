// Names in the data of a report are numbers; here are their texts, and what can be selected by them.

/** The whole time, in seconds; never 0, so that it can be an axis. */
const SPAN_S = Math.max(DATA.window.duration_s, 1e-3);

/** Where something is missing: options may have left out what the capture has. */
const AMONG = DATA.selected ? "among what was selected" : "in this capture";

/** Without the file system's name if all are of one. */
function targetName(number) {
  const name = DATA.names.targets[number];
  return name.startsWith(DATA.names.file_system) ? name.slice(DATA.names.file_system.length) : name;
}

function clientName(number) {
  return DATA.names.clients[number] ?? UNKNOWN;
}

function objectName(number) {
  const [target, fid] = DATA.names.objects[number];
  return target === null ? fid : `${targetName(target)} ${fid}`;
}

/** An object that clients fight over; the log need not name it. */
function foughtName(row) {
  return `${targetName(row.target)} ${row.id}`;
}

/** Reads and writes of a row, as wanted: `{bytes, rpcs, exact}`. */
function moved(row, direction) {
  const parts = direction === "r" ? [row.read] : direction === "w" ? [row.write] : [row.read, row.write];
  return {
    bytes: parts.reduce((sum, io) => sum + Number(io.bytes ?? 0), 0),
    rpcs: parts.reduce((sum, io) => sum + io.rpcs, 0),
    known: parts.some((io) => io.bytes !== null && io.rpcs > 0),
    exact: parts.every(isExact),
  };
}

/** What can be selected by name: parameter of the address, names in it, names as shown. */
const NAMED = {
  targets: ["target", () => DATA.names.targets, targetName],
  clients: ["client", () => DATA.names.clients, clientName],
  objects: ["object", () => DATA.names.objects.map(([target, fid]) => `${DATA.names.targets[target] ?? ""}/${fid}`), objectName],
};
