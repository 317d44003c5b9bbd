// How times are told: since the start, in UTC, or in the reader's own time. Kept in the address, like what is selected.

const CLOCKS = [
  ["start", "since start"],
  ["utc", "UTC"],
  ["local", "local time"],
];

/** Unix seconds at 0 of the time axis; `null` if no time is known, or if two runs share the axis. */
const AXIS_START = DATA.window?.start > 0 ? DATA.window.start : null;

/** Events alone, often of weeks, have dates from the start. */
const USUAL_CLOCK = AXIS_START !== null && !DATA.totals.rpcs ? "utc" : "start";

const DAY_S = 86_400;

let clockName = USUAL_CLOCK;

function chooseClock(name) {
  clockName = name;
  select({});
}

/** The clock that an address names. */
function clockIn(parameters) {
  const name = parameters.get("clock");
  return AXIS_START !== null && CLOCKS.some(([it]) => it === name) ? name : USUAL_CLOCK;
}

/** Whether times are those of a clock on the wall. */
function byWallClock() {
  return clockName !== "start" && AXIS_START !== null;
}

/** A text that follows the chosen clock. */
function timed(text) {
  const node = el("span");
  follow(() => fill(node, text()));
  return node;
}

/** Seconds that the chosen clock is ahead of UTC. */
function zoneOf(unix) {
  return clockName === "local" ? -60 * new Date(unix * 1000).getTimezoneOffset() : 0;
}

/** `UTC`, `+01:00`. */
function zoneName(unix) {
  if (clockName !== "local") return "UTC";
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.abs(zoneOf(unix)) / 60;
  return `${zoneOf(unix) < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** `2026-11-21` and `08:51:19.25` of Unix seconds. */
function dayAndTime(unix, decimals) {
  const scale = 10 ** decimals;
  const units = Math.round((unix + zoneOf(unix)) * scale);
  const whole = Math.floor(units / scale);
  const when = new Date(whole * 1000);
  if (Number.isNaN(when.getTime())) return [UNKNOWN, UNKNOWN];
  const [day, time] = when.toISOString().split("T");
  return [day, time.slice(0, 8) + (decimals ? `.${String(units - whole * scale).padStart(decimals, "0")}` : "")];
}

/** A time since the start as the wall clock shows it, with the day where the capture has several. */
function wallTime(s, decimals) {
  const [day, time] = dayAndTime(AXIS_START + s, Math.min(decimals, 6));
  return severalDays() ? `${day.slice(5)} ${time}` : time;
}

function severalDays() {
  return dayAndTime(AXIS_START, 0)[0] !== dayAndTime(AXIS_START + SPAN_S, 0)[0];
}

/** What to add to a time since the start so that it is round where the chosen clock is. */
function clockShift(s) {
  return byWallClock() ? (AXIS_START + zoneOf(AXIS_START + s)) % DAY_S : 0;
}

/** Unix seconds as a date: in UTC unless the reader wants local time. */
function dateText(unix) {
  if (clockName !== "local") return date(unix);
  const [day, time] = dayAndTime(unix, 3);
  return `${day}T${time.replace(".000", "")}${zoneName(unix)}`;
}

/** Unix seconds in a table. */
function timeCell(unix) {
  return clockName === "start" && AXIS_START !== null ? timeLabel(unix - AXIS_START, 1e-3) : dateText(unix);
}

/** A place on the time axis in full: `2026-11-21 08:51:24.123 UTC, 4.755 s since start`. */
function momentText(s, step) {
  if (AXIS_START === null) return null;
  const unix = AXIS_START + s;
  return `${dayAndTime(unix, decimalsOfStep(step, 6)).join(" ")} ${zoneName(unix)}, ${sinceStart(s, step)} since start`;
}
