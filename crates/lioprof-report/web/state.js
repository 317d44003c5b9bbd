// What is selected: one truth for all views, kept in the address, so that a link shows what its sender saw.

const EVERYTHING = Object.freeze({
  time: null,
  targets: [],
  clients: [],
  objects: [],
  kinds: [],
  operations: [],
  direction: "rw",
  // The number of a finding: whom it names is marked, nothing is left out.
  finding: null,
});

let selection = EVERYTHING;

/** What single views keep in the address, by names with a colon: what a table is searched for, which series are hidden. */
let settings = {};
const followers = [];

/** Calls back now and whenever something else is selected. */
function follow(callback) {
  followers.push(callback);
  callback(selection);
}

/** Selects; `changes` are merged into what is selected. */
function select(changes) {
  selection = Object.freeze({ ...selection, ...changes });
  history.replaceState(null, "", hrefOf("", selection));
  inPlace(() => followers.forEach((callback) => callback(selection)));
}

function setting(name) {
  return settings[name] ?? "";
}

/** Keeps a setting; its view shows it. */
function keepSetting(name, value) {
  settings = { ...settings, [name]: value };
  history.replaceState(null, "", hrefOf("", selection));
}

/** Makes a change that views above grow or shrink by; what is pointed at, or has the focus, stays where it is. */
function inPlace(change, anchor = document.querySelector("section:hover") ?? document.activeElement?.closest("section")) {
  const before = anchor?.getBoundingClientRect().top;
  change();
  if (anchor) scrollBy(0, anchor.getBoundingClientRect().top - before);
}

/** Puts a number into one of the lists, or takes it out. */
function toggleSelected(kind, ...numbers) {
  const all = numbers.every((number) => selection[kind].includes(number));
  const rest = selection[kind].filter((it) => !numbers.includes(it));
  select({ [kind]: all ? rest : [...rest, ...numbers] });
}

function isSelected(kind, number) {
  return selection[kind].includes(number);
}

/** The visible time: start and end in seconds. */
function visible(it = selection) {
  return it.time ?? [0, SPAN_S];
}

/** Zooms; a range that is everything, or nothing, is no selection. */
function zoom(from, to) {
  const [low, high] = [Math.max(0, Math.min(from, to)), Math.min(SPAN_S, Math.max(from, to))];
  const all = low <= SPAN_S * 1e-6 && high >= SPAN_S * (1 - 1e-6);
  if (!(high - low >= 1e-6)) return;
  select({ time: all ? null : [low, high] });
}

/** The address of a view with a selection. */
function hrefOf(view, it) {
  const parameters = new URLSearchParams();
  if (clockName !== USUAL_CLOCK) parameters.set("clock", clockName);
  if (it.time) parameters.set("t", it.time.map((s) => String(Number(s.toFixed(6)))).join("-"));
  if (it.direction !== "rw") parameters.set("io", it.direction);
  if (it.finding !== null) parameters.set("finding", it.finding + 1);
  for (const [kind, [parameter, names]] of Object.entries(NAMED)) {
    if (!it[kind].length) continue;
    const all = names();
    it[kind].forEach((number) => parameters.append(parameter, all[number]));
  }
  Object.entries(settings).forEach(([name, value]) => value && parameters.set(name, value));
  const text = parameters.toString();
  return `#${view}${text ? `?${text}` : ""}`;
}

/** What an address selects, the view that it names, the clock and views' settings. Names that this page does not have are left out. */
function parseAddress(hash) {
  const [view, query = ""] = hash.replace(/^#/, "").split("?");
  const parameters = new URLSearchParams(query);
  const found = { ...EVERYTHING };
  const time = /^([\d.]+)-([\d.]+)$/.exec(parameters.get("t") ?? "");
  if (time && Number(time[2]) > Number(time[1])) found.time = [Number(time[1]), Math.min(Number(time[2]), SPAN_S)];
  const finding = Number(parameters.get("finding")) - 1;
  if (DATA.findings?.[finding]) found.finding = finding;
  if (["r", "w"].includes(parameters.get("io"))) found.direction = parameters.get("io");
  for (const [kind, [parameter, names]] of Object.entries(NAMED)) {
    const wanted = parameters.getAll(parameter);
    if (!wanted.length) continue;
    const all = names();
    found[kind] = wanted.map((name) => all.indexOf(name)).filter((number) => number >= 0);
  }
  return [view, found, clockIn(parameters), Object.fromEntries([...parameters].filter(([name]) => name.includes(":")))];
}

/** Takes over what the address says, and shows its view. */
function goToAddress() {
  const [view, found, foundClock, foundSettings] = parseAddress(location.hash);
  selection = Object.freeze(found);
  clockName = foundClock;
  settings = { ...settings, ...foundSettings };
  // Links within the page name none.
  if (Object.values(settings).some(Boolean)) history.replaceState(null, "", hrefOf(view, selection));
  followers.forEach((callback) => callback(selection));
  const section = view && document.getElementById(view);
  if (section) {
    buildUpTo(sections.findIndex((it) => it.node === section) + 1);
    section.scrollIntoView();
    section.querySelector("h2")?.focus({ preventScroll: true });
  }
}
