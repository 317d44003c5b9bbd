// Findings that came, went and stayed.

/** What both kinds of cards say of whom a finding is about. */
function concernsOf(finding, interval) {
  return [
    ["Targets", finding.targets],
    ["Clients", finding.clients],
    ["Objects", finding.objects.map((it) => `${it.target} ${it.fid}`), 3],
    ["Jobs", finding.jobs],
    ["Servers", finding.nodes],
    ["When", interval ? [timeRange(...interval)] : []],
  ];
}

/** The explaining finding by its kind: its card can be on the other side. */
function causeOf(finding) {
  return finding.explained_by && el("code", null, finding.explained_by);
}

function gainedCard({ finding, evidence, interval_s: interval, is_judged: judged, other_reason: reason }, i) {
  return findingCard(finding, {
    id: `gained-${i}`,
    kind: `New · ${SEVERITY[finding.severity]} · confidence ${finding.confidence}`,
    concerns: concernsOf(finding, interval),
    cause: causeOf(finding),
    evidence,
    more: !judged && el("p.cost", null, `It may have been there before: that could not be told (${reason ?? "unknown why"}).`),
  });
}

function lostCard({ finding, evidence, interval_s: interval, is_judged: judged, other_reason: reason }, i) {
  const was = SEVERITY[finding.severity].toLowerCase();
  return findingCard(
    // What is gone needs no remedy.
    { ...finding, remedies: [] },
    {
      id: `lost-${i}`,
      tone: judged ? "healthy" : "unknown",
      mark: judged ? "✔" : "?",
      kind: judged ? `Gone · was ${was}` : `Not seen any more, but it cannot be told · was ${was}`,
      concerns: concernsOf(finding, interval),
      cause: causeOf(finding),
      evidence,
      more: !judged && el("p.cost", null, `It may still be there: ${reason ?? "unknown why it cannot be told"}.`),
    },
  );
}

function keptCard({ before, after, evidence, interval_s: interval }, i) {
  const was = before.severity === after.severity ? "" : ` (was ${SEVERITY[before.severity].toLowerCase()})`;
  return findingCard(after, {
    id: `kept-${i}`,
    kind: `Still there · ${SEVERITY[after.severity]}${was} · confidence ${after.confidence}`,
    concerns: concernsOf(after, interval),
    cause: causeOf(after),
    evidence,
    more: before.title !== after.title && el("p.cost", null, "Before: ", sentence(before.title), "."),
  });
}

/** Groups of cards; those that are only worth knowing are folded. */
function findingsPart() {
  const worst = (pair) => (pair.before.severity === "info" ? pair.after.severity : pair.before.severity);
  const all = [
    ...DATA.gained.map((it, i) => [it.finding.severity, gainedCard(it, i)]),
    ...DATA.lost.map((it, i) => [it.finding.severity, lostCard(it, i)]),
    ...DATA.kept.map((it, i) => [worst(it), keptCard(it, i)]),
  ];
  const cards = (wanted) => all.filter(([severity]) => wanted(severity)).map(([, card]) => card);
  const [bad, worth] = [cards((severity) => severity !== "info"), cards((severity) => severity === "info")];
  return el(
    "div.findings",
    { id: "findings" },
    bad.length > 0 && el("div.cards", null, bad),
    worth.length > 0 &&
      el(
        "details",
        { open: bad.length === 0 },
        el("summary", null, `${plural(worth.length, "fact")} worth knowing came, went or stayed`),
        el("div.cards", null, worth),
      ),
    all.length === 0 && el("p.empty", null, "No findings, neither before nor after."),
  );
}
