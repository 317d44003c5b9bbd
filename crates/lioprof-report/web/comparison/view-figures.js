// Figures of everything: those that decide first.

/** Order of the figures; what is not here stands at the end. */
const FIGURE_ORDER = [
  "activity_s",
  "bandwidth_bytes_per_s",
  "read_bandwidth_bytes_per_s",
  "write_bandwidth_bytes_per_s",
  "read_total_p50_us",
  "read_total_p90_us",
  "read_total_p99_us",
  "write_total_p50_us",
  "write_total_p90_us",
  "write_total_p99_us",
  "lock_wait_s_per_gib",
  "wait_s",
  "conflicts",
  "conflicts_per_gib",
  "alternations",
  "alternations_per_gib",
  "bytes",
  "read_bytes",
  "written_bytes",
  "rpcs",
  "read_rpcs",
  "write_rpcs",
  "rpcs_per_s",
  "window_s",
];

/** Rows of figures, without those that are 0 or unknown on both sides. */
function figureRows(figures) {
  const place = (name) => (FIGURE_ORDER.includes(name) ? FIGURE_ORDER.indexOf(name) : FIGURE_ORDER.length);
  return Object.entries(figures)
    .map(([name, packed]) => ({ name, figure: unpacked(packed) }))
    .filter(({ figure: it }) => [it.before, it.after].some((value) => value !== null && Number(value) !== 0))
    .sort((a, b) => place(a.name) - place(b.name));
}

/** Percentiles of times stand with the latency. */
function isPercentile(name) {
  return /_total_p\d+_us$/.test(name);
}

function figureTable(parent, label, rows) {
  const reach = reachOf(rows.map((row) => row.figure));
  return table(parent, {
    label,
    first: rows.length,
    columns: [
      { name: "figure", value: (row) => figureLabel(row.name), text: (row) => figureLabel(row.name) },
      ...figureColumns(
        (row) => row.figure,
        (row) => row.name,
        () => reach,
      ),
    ],
    rows: () => rows,
  });
}

/** Why figures could not be judged, a sentence for each reason. */
function unjudgedNotes(rows) {
  const reasons = new Map();
  for (const { name, figure: it } of rows) {
    if (it.verdict !== "unknown" || !it.reason) continue;
    reasons.set(it.reason, [...(reasons.get(it.reason) ?? []), figureLabel(name)]);
  }
  return [...reasons].map(([reason, names]) => el("p.note", null, `Cannot tell: ${names.join("; ")}. Why: ${reason}.`));
}

const headlineSection = () => {
  const rows = figureRows({ ...DATA.totals, ...DATA.locks }).filter((row) => row.figure.headline);
  return section({
    id: "headline",
    title: "Headline figures",
    how:
      "These decide whether a run became better or worse. In the last column the mark is the change, to the left less, to the right " +
      "more; the bar is its interval. A bar over the middle line means that there may be no change. All of the bar within " +
      `${changeText(DATA.rules.min_change).replace("+", "")} is the same, anything else that crosses the line cannot be told. Intervals ` +
      "come from the variation within each run; another run of the same program can differ by more.",
    follows: [],
    missing: () => (rows.length ? null : "Neither run read or wrote anything on OSTs."),
    build: (body) => {
      const list = figureTable(body, "Headline figures", rows);
      body.append(...unjudgedNotes(rows));
      return () => list.show();
    },
    wide: true,
  });
};

const allFiguresSection = () => {
  const rows = figureRows(DATA.totals).filter((row) => !row.figure.headline && !isPercentile(row.name));
  return section({
    id: "figures",
    title: "More figures",
    how: "Counts and bytes have no better or worse: a capture that is twice as long has twice as many.",
    follows: [],
    missing: () => (rows.length ? null : "There are none."),
    build: (body) => {
      const list = figureTable(body, "More figures", rows);
      return () => list.show();
    },
  });
};

const locksSection = () => {
  const rows = figureRows(DATA.locks);
  return section({
    id: "locks",
    title: "Lock cost",
    how: "Conflicts between different clients only. What counts is the time that clients waited, per GiB that they moved.",
    follows: [],
    missing: () => (rows.length ? null : "No lock conflicts between clients, before or after."),
    build: (body) => {
      const list = figureTable(body, "Lock cost", rows);
      body.append(...unjudgedNotes(rows));
      return () => list.show();
    },
  });
};
