// A figure of both runs: its values, its change with its interval, its verdict.

const VERDICTS = {
  better: ["✔", "better"],
  worse: ["✖", "worse"],
  same: ["=", "same"],
  unknown: ["?", "cannot tell"],
};

/** `FigureView` in Rust, with names. */
function unpacked([before, after, change, min, max, verdict, headline, reason]) {
  return { before, after, change, min, max, verdict, headline, reason: reason === null ? null : DATA.reasons[reason] };
}

/** What a figure is called: without its unit, which stands at its values. */
function figureLabel(name) {
  return sentence(DATA.figures[name][0]);
}

/** What only figures of one kind can be put in order by, and how much of that one of a figure's value is. */
function figureScale(name) {
  const [label, measure] = DATA.figures[name];
  const time = { microseconds: 1e-6, milliseconds: 1e-3, seconds: 1 }[measure];
  return [`${time ? "time" : measure}${label.includes(" per ") ? " per" : ""}`, time ?? 1];
}

/** A value in the unit that its name says. */
function figureText(name, value) {
  return value === null ? UNKNOWN : FIGURE_TEXT[DATA.figures[name][1]](Number(value));
}

/** Where the change lies: nothing of what was counted, `?` if it cannot be told. */
function intervalText({ change, min, max, verdict }) {
  if (verdict === null || (min !== null && min === max)) return "";
  if (min === null && max === null) return change === null ? "" : UNKNOWN;
  return rangeText(min, max);
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
