// Numbers as people read them, by the rules that come with the data (crates/lioprof-model/src/units): the texts are those of tables and
// plots, but for the signs of print.

const RULES = JSON.parse(document.getElementById("rules").textContent);

/** A figure that has no value. */
const UNKNOWN = RULES.unknown;

/** Counts above 2^53 arrive as strings. */
const isKnown = (value) => value !== null && value !== undefined && Number.isFinite(Number(value));

/** So many decimals; what is in the middle goes to the even side, as Rust does it. */
function fixed(value, decimals) {
  if (value < 0) return `-${fixed(-value, decimals)}`;
  // Only what a double holds to the last bit can be in the middle.
  const isMiddle = Number.isInteger(value * 2 ** (decimals + 1)) && !Number.isInteger(value * 10 ** decimals);
  const below = Math.floor(value * 10 ** decimals);
  return (isMiddle && value * 10 ** decimals - below === 0.5 && below % 2 === 0 ? below / 10 ** decimals : value).toFixed(decimals);
}

function decimalsOf(value, by = RULES.decimals) {
  return by.find(([from]) => Math.abs(value) >= from)?.[1] ?? 0;
}

/** Without zeros behind the point. */
function trimmed(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Three significant digits: `12.3`, `1.5`. */
function short(value) {
  return trimmed(fixed(value, decimalsOf(value)));
}

function unitOf(value, units) {
  return units.slice(0, -1).find((unit) => Math.abs(value) / unit.size < unit.below) ?? units.at(-1);
}

/** `10.8 MiB`, `1.00 MiB`. */
function bytes(value) {
  if (!isKnown(value)) return UNKNOWN;
  const unit = unitOf(Number(value), RULES.bytes);
  const amount = Number(value) / unit.size;
  return `${unit.size === 1 ? amount.toFixed(0) : fixed(amount, Math.min(decimalsOf(amount), RULES.column_decimals))}\u202f${unit.name}`;
}

/** `10.8 MiB/s`. */
function byteRate(value) {
  return isKnown(value) ? `${bytes(Math.round(value))}/s` : UNKNOWN;
}

/** Where no column must stay in line: `50 MiB`. */
function roundBytes(value) {
  const unit = unitOf(value, RULES.bytes);
  return value ? `${short(value / unit.size)}\u202f${unit.name}` : "0";
}

/** Every digit: `11,362,304`. */
function count(value) {
  return isKnown(value) ? String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",") : UNKNOWN;
}

/** A number of any kind: all digits of a whole number, else about three. */
function number(value) {
  if (!isKnown(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < RULES.whole_below) return count(value);
  if (size < RULES.power_below) return value.toExponential(2);
  return size >= RULES.commas_from ? count(fixed(value, 0)) : short(value);
}

/** `3 RPCs`. */
function plural(n, noun, nouns = `${noun}s`) {
  return `${count(n)} ${Number(n) === 1 ? noun : nouns}`;
}

/** `12.5 ms`, from microseconds. */
function micros(us) {
  if (!isKnown(us)) return UNKNOWN;
  const unit = unitOf(us, RULES.times);
  return `${short(us / unit.size)}\u202f${unit.name}`;
}

/** `12.5 s`, `2.5 min`. */
function seconds(s) {
  return isKnown(s) ? micros(s * 1e6) : UNKNOWN;
}

/** A place on a time axis: `3:20`, `1:02:03.5`, from seconds. */
function clock(s, decimals) {
  const sign = s < 0 ? "-" : "";
  const scale = 10 ** decimals;
  const units = Math.round(Math.abs(s) * scale);
  const rest = ((units / scale) % 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, "0");
  const minutes = Math.floor(units / scale / 60);
  if (minutes < 60) return `${sign}${minutes}:${rest}`;
  return `${sign}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

/** `12.5 %`, from a share of 1; a share that is not all never reads 100 %. */
function percent(share) {
  if (!isKnown(share)) return UNKNOWN;
  const value = share * 100;
  if (value > 0 && value < RULES.least_percent) return `< ${RULES.least_percent}\u202f%`;
  const tenths = value < RULES.tenths_below_percent || (value >= RULES.tenths_from_percent && value < 100);
  const text = trimmed(fixed(value, tenths ? 1 : 0));
  return value < 100 && text === "100" ? `> ${RULES.most_percent}\u202f%` : `${text}\u202f%`;
}

/** Unix seconds as `2026-11-21T08:51:19Z`, with milliseconds where there are any. */
function date(unix) {
  const when = new Date(Math.round(unix * 1000));
  return Number.isNaN(when.getTime()) ? UNKNOWN : when.toISOString().replace(".000Z", "Z");
}

/** `+12`, `−3.4`, `0`, of a share of 1. */
function signedPercent(share) {
  const value = Math.abs(share * 100);
  if (value < RULES.no_change_below_percent) return "0";
  return `${share > 0 ? "+" : "−"}${fixed(value, value < RULES.tenths_below_percent ? 1 : 0)}`;
}

/** How much something has changed: `+12 %`, `× 12` from ten times on. */
function changeText(share) {
  if (share === null) return "";
  return share >= RULES.times_from ? `×\u202f${fixed(share + 1, 0)}` : `${signedPercent(share)}\u202f%`;
}

/** From where to where a change lies: `−12..+20 %`, `× 2.0..95`, `> +85 %`. `min` of null or -1 is no lower limit. */
function rangeText(min, max) {
  const low = min !== null && min > -1 ? min : null;
  if (low === null) return max === null ? "?" : `< ${changeText(max)}`;
  if (max === null) return `> ${changeText(low)}`;
  const times = (share) => fixed(share + 1, decimalsOf(share + 1, RULES.ratio_decimals));
  return max >= RULES.times_from ? `×\u202f${times(low)}..${times(max)}` : `${signedPercent(low)}..${signedPercent(max)}\u202f%`;
}

/** Whether bytes are known to the last one. */
function isExact(io) {
  return !io.bounded_rpcs && !io.unsized_rpcs;
}

/** Bytes of reads or writes: `~` before what is estimated, `?` for unknown. */
function ioBytes(io) {
  return io.bytes === null ? UNKNOWN : `${isExact(io) ? "" : RULES.estimated}${bytes(io.bytes)}`;
}

/** The same to the last digit, with its bounds. */
function ioExactly(io) {
  if (io.bytes === null) return `unknown: no size of ${plural(io.rpcs, "RPC")} is known`;
  const parts = [`${count(io.bytes)} bytes in ${plural(io.rpcs, "RPC")}`];
  if (io.bounded_rpcs) {
    parts.push(`${count(io.bounded_rpcs)} estimated: ${count(io.bytes_min ?? io.bytes)} to ${count(io.bytes_max ?? io.bytes)}`);
  }
  if (io.unsized_rpcs) parts.push(`${count(io.unsized_rpcs)} of unknown size`);
  if (io.errors) parts.push(`${count(io.errors)} failed`);
  return parts.join("; ");
}

/** A sentence begins with a capital letter. */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value of a figure, by what it is measured in (`Measure` in Rust). */
const FIGURE_TEXT = {
  bytes: (value) => bytes(Math.round(value)),
  byte_rate: byteRate,
  microseconds: micros,
  milliseconds: (value) => micros(value * 1e3),
  seconds,
  share: percent,
  percent: (value) => percent(value / 100),
  number: (value) => number(Number(value)),
};
