// Numbers as people read them: the same rules as in the tables and plots (crates/lioprof-model/src/units.rs).

/** A figure that has no value. */
const UNKNOWN = "?";

/** So many decimals; what is in the middle goes to the even side, as Rust does it. */
function fixed(value, decimals) {
  // Only what a double holds to the last bit can be in the middle.
  const isMiddle = Number.isInteger(value * 2 ** (decimals + 1)) && !Number.isInteger(value * 10 ** decimals);
  const below = Math.floor(value * 10 ** decimals);
  return (isMiddle && value * 10 ** decimals - below === 0.5 && below % 2 === 0 ? below / 10 ** decimals : value).toFixed(decimals);
}

/** Three significant digits. */
function digits(value) {
  const size = Math.abs(value);
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value, units, step, limit, whole) {
  let unit = 0;
  while (Math.abs(value) >= limit && unit + 1 < units.length) {
    value /= step;
    unit += 1;
  }
  return `${whole && unit === 0 ? value.toFixed(0) : digits(value)}\u202f${units[unit]}`;
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** `10.8 MiB`. */
function bytes(value) {
  return value === null || value === undefined ? UNKNOWN : scaled(Number(value), BYTE_UNITS, 1024, 999.5, true);
}

/** `10.8 MiB/s`. */
function byteRate(value) {
  return value === null || value === undefined ? UNKNOWN : `${bytes(Math.round(value))}/s`;
}

/** Of a round number, on an axis: `50 MiB`. */
function roundBytes(value) {
  return value ? bytes(value).replace(/\.0+(?=\u202f)|(\.\d*?)0+(?=\u202f)/, "$1") : "0";
}

/** Every digit: `11,362,304`. Counts above 2^53 arrive as strings. */
function count(value) {
  if (value === null || value === undefined) return UNKNOWN;
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A number of any size, three digits. */
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return count(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  return size >= 1000 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** `3 RPCs`. */
function plural(n, noun, nouns = `${noun}s`) {
  return `${count(n)} ${Number(n) === 1 ? noun : nouns}`;
}

/** `12.5 ms`, from microseconds. */
function micros(us) {
  if (us === null || us === undefined || !Number.isFinite(us)) return UNKNOWN;
  if (us < 0.5) return "0\u202fs";
  return scaled(us, ["µs", "ms", "s"], 1000, 999.5, false).replace(/\.0+(?=\u202f)|(\.\d*?)0+(?=\u202f)/, "$1");
}

/** `12.5 s`, `1:02:03`. */
function seconds(s) {
  if (s === null || s === undefined || !Number.isFinite(s)) return UNKNOWN;
  if (Math.abs(s) >= 180) return clock(s, 0);
  return s < 0 ? `-${micros(-s * 1e6)}` : micros(s * 1e6);
}

/** `3:20`, `1:02:03.5`, from seconds. */
function clock(s, decimals) {
  const sign = s < 0 ? "-" : "";
  const scale = 10 ** decimals;
  const units = Math.round(Math.abs(s) * scale);
  const rest = ((units / scale) % 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, "0");
  const minutes = Math.floor(units / scale / 60);
  if (minutes < 60) return `${sign}${minutes}:${rest}`;
  return `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

/** `12.5 %`, from a share of 1. */
function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN;
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1\u202f%";
  if (value > 99.9 && value < 100) return "> 99.9\u202f%";
  return `${Number(value.toFixed(value < 10 ? 1 : 0))}\u202f%`;
}

/** Unix seconds as `2026-11-21 08:51:19 UTC`. */
function date(unix) {
  const when = new Date(unix * 1000);
  return Number.isNaN(when.getTime()) ? UNKNOWN : `${when.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Whether bytes are known to the last one. */
function isExact(io) {
  return !io.bounded_rpcs && !io.unsized_rpcs;
}

/** Bytes of reads or writes: `~` before what is estimated, `?` for unknown. */
function ioBytes(io) {
  return io.bytes === null ? UNKNOWN : `${isExact(io) ? "" : "~"}${bytes(io.bytes)}`;
}

/** The same to the last digit, with its bounds. */
function ioExactly(io) {
  if (io.bytes === null) return `unknown: no size of ${plural(io.rpcs, "RPC")} is known`;
  const parts = [`${count(io.bytes)} bytes in ${plural(io.rpcs, "RPC")}`];
  if (io.bounded_rpcs) {
    parts.push(`estimated for ${count(io.bounded_rpcs)}: ${count(io.bytes_min ?? io.bytes)} to ${count(io.bytes_max ?? io.bytes)}`);
  }
  if (io.unsized_rpcs) parts.push(`${count(io.unsized_rpcs)} of unknown size not in it`);
  if (io.errors) parts.push(`${count(io.errors)} failed`);
  return parts.join("; ");
}

/** A sentence begins with a capital letter. */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A key such as `lost_share` or `queue_p99_us`, and its value, as a pair of texts. */
function figure(key, value) {
  const words = key.split(/[_.]/);
  const unit = words[words.length - 1];
  const written = (word) => ({ rpc: "RPC", rpcs: "RPCs", ost: "OST", osts: "OSTs" })[word] ?? word;
  const name = (n) =>
    words
      .slice(0, words.length - n)
      .map(written)
      .join(" ");
  const rate = words.slice(-3).join("_") === "bytes_per_s" || words.slice(-2).join("_") === "bytes_s";
  if (rate) return [name(unit === "s" && words.at(-2) === "per" ? 3 : 2), byteRate(value)];
  if (unit === "bytes") return [key === "bytes" ? "bytes" : name(1), bytes(Math.round(value))];
  if (unit === "us") return [name(1), micros(value)];
  if (unit === "ms") return [name(1), micros(value * 1000)];
  if (unit === "s" && words.at(-2) !== "per") return [name(1), seconds(value)];
  if (words.includes("share") || unit === "fraction") return [name(0), percent(value)];
  if (unit === "percent") return [name(1), `${number(value)}\u202f%`];
  return [name(0), number(value)];
}
