// The data of the page: what crates/lioprof-report/src/view made of the analysis.

const DATA = JSON.parse(document.getElementById("data").textContent);

function bytesOf(base64) {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) out[i] = text.charCodeAt(i);
  return out;
}

/** Numbers to draw (`Dense` in Rust); none: `length` zeros. */
function dense(base64, length = 0) {
  return base64 === undefined || base64 === null ? new Float32Array(Math.max(0, length)) : new Float32Array(bytesOf(base64).buffer);
}

/** Amounts to three digits (`Rough` in Rust). */
function rough(base64) {
  return Float32Array.from(new Uint16Array(bytesOf(base64).buffer), (step) => 2 ** (step / 1000) - 1);
}

/** Numbers with all digits (`Precise` in Rust). */
function precise(base64) {
  return new Float64Array(bytesOf(base64).buffer);
}

/** The whole time, in seconds; never 0, so that it can be an axis. */
const SPAN_S = Math.max(DATA.window.duration_s, 1e-3);

/** Whether all OSTs are of one file system, whose name then says nothing. */
const FILE_SYSTEM = (() => {
  const systems = new Set(DATA.names.targets.map((name) => name.split(/-(?=OST|MDT)/)[0]));
  return systems.size === 1 ? `${[...systems][0]}-` : "";
})();

function targetName(number) {
  const name = DATA.names.targets[number];
  return name.startsWith(FILE_SYSTEM) ? name.slice(FILE_SYSTEM.length) : name;
}

function clientName(number) {
  return DATA.names.clients[number] ?? UNKNOWN;
}

function objectName(number) {
  const [target, fid] = DATA.names.objects[number];
  return target === null ? fid : `${targetName(target)} ${fid}`;
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
