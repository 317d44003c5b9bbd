// The page of a comparison.

const OUTCOMES = {
  better: ["✔", "Better"],
  worse: ["✖", "Worse"],
  mixed: ["◆", "Mixed"],
  same: ["=", "No change"],
  unknown: ["?", "Cannot tell"],
};

/** What was compared: when, on which servers, for how long. */
function sideFacts(side) {
  const servers = side.nodes.length > 3 ? plural(side.nodes.length, "server") : side.nodes.join(", ");
  return el(
    "div",
    null,
    el("dt", null, el(`i.swatch.${side.name}`), ` ${side.name}`),
    el(
      "dd",
      { "data-side": side.name },
      side.activity_s === null ? "no I/O of OSTs" : `I/O during ${seconds(side.activity_s)}`,
      el("small", null, [date(side.start), servers].filter(Boolean).join(", ")),
      el("small", null, `${plural(side.busy_bins, "bin")} of ${seconds(side.bin_s)} with traffic`),
    ),
  );
}

function comparisonPage() {
  const { outcome, text } = DATA.verdict;
  const [mark, word] = OUTCOMES[outcome];
  // The sentence begins with the word, unless nothing is known to have changed.
  const rest = text.replace(new RegExp(`^${word}: `), "");
  const parts = [
    headlineSection,
    bandwidthSection,
    latencySection,
    targetsSection,
    clientsSection,
    operationsSection,
    locksSection,
    allFiguresSection,
  ].map((make) => make().node);
  return [
    el("header.page", null, el("div", null, el("h1", null, DATA.title)), themeSwitch()),
    verdictBanner(outcome, mark, word, rest),
    el("dl.totals", null, SIDES.map(sideFacts)),
    DATA.notes.map((note) => el("p.banner", null, `${sentence(note)}.`)),
    findingsPart(),
    toolbar({ overview: null, directions: false, hint: "Drag over the chart of bandwidth to zoom." }),
    el("main", null, parts),
    pageFoot(`Made by ${DATA.generator.name} ${DATA.generator.version}. Figures are those of comparison.json; ? means unknown.`),
  ];
}

start(comparisonPage);
