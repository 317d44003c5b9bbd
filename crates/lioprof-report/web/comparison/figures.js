// A figure of both runs: its values, its change with its interval, its verdict.

const VERDICTS = {
  better: ["✔", "better"],
  worse: ["✖", "worse"],
  same: ["=", "same"],
  unknown: ["?", "not judged"],
};

/** `FigureView` in Rust, with names. */
function unpacked([before, after, change, min, max, verdict, headline, reason]) {
  return { before, after, change, min, max, verdict, headline, reason: reason === null ? null : DATA.reasons[reason] };
}

/** What a figure is called: without its unit, which stands at its values. */
function figureLabel(name) {
  const per = name.endsWith("_per_gib") ? " per GiB" : name === "rpcs_per_s" ? " per s" : "";
  const bare = name.replace(/(_bytes_per_s|_s_per_gib|_per_gib|_per_s|_us|_s)$/, "").replace(/_/g, " ");
  return sentence(bare.replace(/\brpcs\b/, "RPCs").replace(/ p(\d+)$/, ", p$1")) + per;
}

/** What a figure is measured in, and how much of that one of its value is: only figures of one kind can be put in order. */
function figureScale(name) {
  if (name.endsWith("_bytes_per_s")) return ["bytes per second", 1];
  if (name.endsWith("bytes")) return ["bytes", 1];
  if (name.endsWith("_us")) return ["time", 1e-6];
  if (name.endsWith("_s_per_gib")) return ["time per GiB", 1];
  if (name.endsWith("_s") && !name.endsWith("_per_s")) return ["time", 1];
  return [figureLabel(name).includes(" per ") ? "counts per" : "counts", 1];
}

/** A value in the unit that its name says. */
function figureText(name, value) {
  if (value === null) return UNKNOWN;
  if (name.endsWith("_bytes_per_s")) return byteRate(value);
  if (name.endsWith("bytes")) return bytes(value);
  if (name.endsWith("_us")) return micros(value);
  if (name.endsWith("_s_per_gib") || (name.endsWith("_s") && !name.endsWith("_per_s"))) return seconds(value);
  return number(Number(value));
}

/** `+12 %`, `×12` from ten times on. */
function changeText(change) {
  if (change === null) return "";
  if (change >= 9) return `×\u202f${Math.round(change + 1)}`;
  const value = change * 100;
  if (Math.abs(value) < 0.05) return "0\u202f%";
  return `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(Math.abs(value) >= 9.95 ? 0 : 1)}\u202f%`;
}

/** Where the change lies: nothing of what was counted, `?` if it cannot be told. */
function intervalText({ change, min, max, verdict }) {
  if (verdict === null || (min !== null && min === max)) return "";
  const open = min === null || min <= -1;
  if (open && max === null) return change === null ? "" : UNKNOWN;
  if (open) return `< ${changeText(max)}`;
  if (max === null) return `> ${changeText(min)}`;
  return `${changeText(min)} … ${changeText(max)}`;
}

/** The verdict: a sign, a word, a colour. */
function verdictCell(figure) {
  if (!figure.verdict) return "";
  const [mark, word] = VERDICTS[figure.verdict];
  return el(`span.judged.${figure.verdict}`, { title: figure.reason }, el("span.mark", { "aria-hidden": "true" }, mark), ` ${word}`);
}

/** Changes that are no larger than this are drawn to scale: a hundredth to a hundredfold. */
const MOST_RATIO = 100;

/** How far a table's changes and their intervals go, as a ratio. */
function reachOf(figures) {
  const judged = figures.filter((it) => it.verdict && it.change !== null && it.change > -1);
  const ends = judged.flatMap((it) => [1 + it.change, ...changeRange(it)]);
  return Math.min(MOST_RATIO, Math.max(1.2, ...ends.map((ratio) => Math.max(ratio, 1 / ratio))));
}

/** Where the change may really be, as ratios; an open end reaches as far as anything is drawn. */
function changeRange({ change, min, max }) {
  if (min === null && max === null) return [1 + change, 1 + change];
  return [Math.max(1 / MOST_RATIO, 1 + (min ?? -1)), max === null ? MOST_RATIO : 1 + max];
}

/** The change on a logarithmic scale, no change in the middle: a mark, and a bar for its interval. */
function changeBar(figure, reach) {
  if (!figure.verdict || figure.change === null) return "";
  const place = (ratio) => 50 + 50 * Math.max(-1, Math.min(1, Math.log(Math.max(ratio, 1e-9)) / Math.log(reach)));
  const [low, high] = changeRange(figure).map(place);
  return el(
    `span.change.${figure.verdict}`,
    { "aria-hidden": "true" },
    el("i.none"),
    figure.min !== null && el("i.interval", { style: { left: `${low}%`, width: `${Math.max(0.5, high - low)}%` } }),
    el("i.at", { style: { left: `${place(1 + figure.change)}%` } }),
  );
}

/** What the columns of a figure share; `of(row)` gives its figure, `name(row)` its name. */
function figureColumns(of, name, reach) {
  const both = ["before", "after"].map((side) => ({
    name: side,
    number: true,
    group: (row) => figureScale(name(row))[0],
    value: (row) => (of(row)[side] === null ? null : Number(of(row)[side]) * figureScale(name(row))[1]),
    text: (row) => figureText(name(row), of(row)[side]),
    hint: (row) => (of(row)[side] === null ? null : count(of(row)[side])),
  }));
  return [
    ...both,
    { name: "change", number: true, value: (row) => of(row).change, text: (row) => changeText(of(row).change) },
    {
      name: "verdict",
      value: (row) => Object.keys(VERDICTS).indexOf(of(row).verdict ?? "unknown"),
      cell: (row) => verdictCell(of(row)),
    },
    {
      name: "interval",
      title: "where the change lies",
      number: true,
      value: (row) => of(row).min,
      text: (row) => intervalText(of(row)),
    },
    {
      name: "less ← → more",
      title: "the change, and a bar for its interval; logarithmic",
      value: (row) => of(row).change,
      cell: (row) => changeBar(of(row), reach()),
    },
  ];
}
