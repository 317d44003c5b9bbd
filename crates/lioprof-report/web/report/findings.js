// The top of the page: what is wrong, in one sentence and as cards.

/** The time of a finding, with those whom it names marked beside their peers: all are shown. */
function selectionOf(finding) {
  const [from, to] = finding.interval_s ?? [0, 0];
  // A moment is shown with what was before and after it.
  const room = Math.max(0, SPAN_S / 50 - (to - from)) / 2;
  const time = to > from ? [Math.max(0, from - room), Math.min(SPAN_S, to + room)] : null;
  return { ...EVERYTHING, time, finding: DATA.findings.indexOf(finding) };
}

/** Views that prove a finding better than the one of its plot. */
const PROOF = {
  "sluggish-ost": "parts",
  "disk-bound": "parts",
  evictions: "events",
  "server-errors": "events",
  "failed-requests": "operations",
  "ping-storm": "matrix",
  "statfs-storm": "operations",
  "unfair-sharing": "matrix",
  "trace-quality": "quality",
};

/** The view that shows a finding best; one of the others if there is nothing in it. */
function viewOf(finding) {
  const best = [sections.find((it) => it.id === PROOF[finding.id]), sections.find((it) => it.plots.includes(finding.plot))];
  return best.find((it) => it && !it.empty) ?? (finding.plot ? sections.find((it) => !it.empty) : null);
}

/** The card of the finding that explains another one. */
function causeLink(id) {
  const cause = DATA.findings.findIndex((it) => it.id === id);
  if (cause < 0) return el("code", null, id);
  return el(
    "button.link",
    { type: "button", onclick: () => document.getElementById(`finding-${cause}`).scrollIntoView() },
    `“${sentence(DATA.findings[cause].title)}”`,
  );
}

function reportCard(finding) {
  const view = viewOf(finding);
  const show = view && el("a.show", null, `Show in “${view.title}”`);
  if (show) follow(() => show.setAttribute("href", hrefOf(view.id, selectionOf(finding))));
  return findingCard(finding, {
    id: `finding-${DATA.findings.indexOf(finding)}`,
    kind: `${SEVERITY[finding.severity]} · confidence ${finding.confidence}`,
    concerns: [
      ["Targets", finding.targets.map(targetName)],
      ["Clients", finding.clients.map(clientName)],
      ["Objects", finding.objects.map(objectName), 3],
      ["Jobs", finding.jobs],
      ["Servers", finding.nodes],
      ["When", finding.interval_s ? [timed(() => timeRange(...finding.interval_s))] : []],
    ],
    cause: finding.explained_by && causeLink(finding.explained_by),
    evidence: finding.evidence,
    show,
  });
}

/** What a check found, in words. */
const RESULT = {
  found: "found",
  healthy: "healthy",
  not_enough_evidence: "cannot tell",
  not_applicable: "does not apply",
};

function checksTable(checks) {
  const row = (it) => {
    const name = el("th", { scope: "row" }, el("code", null, it.id));
    return el("tr", null, name, el("td", null, RESULT[it.result]), el("td", null, it.reason ?? ""));
  };
  return el("table", null, el("tbody", null, checks.map(row)));
}

function findingsPart() {
  const worth = DATA.findings.filter((it) => it.severity === "info");
  const bad = DATA.findings.filter((it) => it.severity !== "info");
  const count = (result) => DATA.checks.filter((it) => it.result === result).length;
  const cards = (list) => el("div.cards", null, list.map(reportCard));
  return el(
    "div.findings",
    { id: "findings" },
    bad.length > 0 && cards(bad),
    worth.length > 0 &&
      el("details", { open: bad.length === 0 }, el("summary", null, `${plural(worth.length, "fact")} worth knowing`), cards(worth)),
    DATA.checks.length > 0 &&
      el(
        "details.checks",
        null,
        el(
          "summary",
          null,
          `${plural(DATA.checks.length, "check")}: ${count("found")} found something, ${count("healthy")} healthy, ` +
            `${count("not_enough_evidence")} cannot tell, ${count("not_applicable")} do not apply`,
        ),
        checksTable(DATA.checks.filter((it) => it.result !== "not_applicable")),
        // Of what this capture is not of: checks of reads and writes in one of metadata, say.
        count("not_applicable") > 0 &&
          el(
            "details",
            null,
            el("summary", null, `${plural(count("not_applicable"), "check")} of what is not in this capture`),
            checksTable(DATA.checks.filter((it) => it.result === "not_applicable")),
          ),
      ),
  );
}
