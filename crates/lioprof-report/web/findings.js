// The top of the page: what is wrong, in one sentence and as cards.

const SEVERITY = { critical: "Critical", warning: "Warning", info: "Worth knowing", healthy: "Healthy", unknown: "Not judged" };
// Shapes differ, too: not everybody sees the colours.
const SEVERITY_MARK = { critical: "▲", warning: "◆", info: "●", healthy: "✔", unknown: "?" };

function verdictBanner() {
  const { level, text } = DATA.verdict;
  return el("p.verdict", { class: `verdict ${level}`, id: "verdict" },
    el("span.mark", { "aria-hidden": "true" }, SEVERITY_MARK[level]), el("span", null, el("strong", null, `${SEVERITY[level]}. `), sentence(text)));
}

/** What a finding is about, as a selection. */
function selectionOf(finding) {
  const time = finding.interval_s && finding.interval_s[1] > finding.interval_s[0]
    ? [Math.max(0, finding.interval_s[0]), Math.min(SPAN_S, finding.interval_s[1])] : null;
  return { ...EVERYTHING, time, targets: finding.targets, clients: finding.clients, objects: finding.objects };
}

/** The view that shows a finding best; one of the others if there is nothing in it. */
function viewOf(finding) {
  if (!finding.plot) return finding.id === "trace-quality" ? sections.find((it) => it.id === "quality") : null;
  const best = sections.find((it) => it.plots.includes(finding.plot));
  return best && !best.empty ? best : sections.find((it) => !it.empty);
}

function concerned(name, list, limit = 6) {
  if (!list.length) return null;
  const more = list.length - limit;
  return el("div", null, el("dt", null, name), el("dd", null,
    list.slice(0, limit).map((it, i) => [i ? ", " : "", el("span.name", null, it)]), more > 0 ? ` and ${more} more` : ""));
}

/** The card of the finding that explains another one. */
function causeLink(id) {
  const cause = DATA.findings.findIndex((it) => it.id === id);
  if (cause < 0) return el("code", null, id);
  return el("button.link", { type: "button", onclick: () => document.getElementById(`finding-${cause}`).scrollIntoView() }, `“${sentence(DATA.findings[cause].title)}”`);
}

function findingCard(finding) {
  const evidence = Object.entries(finding.evidence).map(([key, value]) => figure(key, value));
  const limits = Object.entries(finding.thresholds);
  const view = viewOf(finding);
  return el(`article.card.${finding.severity}`, { id: `finding-${DATA.findings.indexOf(finding)}` },
    el("p.kind", null, el("span.mark", { "aria-hidden": "true" }, SEVERITY_MARK[finding.severity]),
      `${SEVERITY[finding.severity]} · confidence ${finding.confidence}`),
    el("h3", null, sentence(finding.title)),
    el("div.inside", null,
      el("div", null,
        finding.cost_s !== null && el("p.cost", null, "Cost: about ", el("strong", null, seconds(finding.cost_s)), finding.cost_of ? ` (${finding.cost_of})` : ""),
        finding.explained_by && el("p.cost", null, "Probably a consequence of ", causeLink(finding.explained_by), "."),
        el("p", null, finding.explanation),
        finding.remedies.length > 0 && el("div.remedy", null, el("h4", null, "What to do"), el("ul", null, finding.remedies.map((it) => el("li", null, code(it)))))),
      el("div", null,
        el("dl.about", null,
          concerned("Targets", finding.targets.map(targetName)),
          concerned("Clients", finding.clients.map(clientName)),
          concerned("Objects", finding.objects.map(objectName), 3),
          concerned("Jobs", finding.jobs),
          concerned("Servers", finding.nodes),
          finding.interval_s && el("div", null, el("dt", null, "When"), el("dd", null, timeRange(...finding.interval_s)))),
        evidence.length > 0 && el("dl.evidence", null, evidence.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value)))))),
    limits.length > 0 && el("details", null, el("summary", null, "Held against these limits"),
      el("table", null, limits.map(([name, value]) => el("tr", null, el("td", null, el("code", null, name)), el("td.figure", null, number(value)))))),
    el("p.links", null,
      view && el("a.show", { href: hrefOf(view.id, selectionOf(finding)) }, `Show in “${view.title}”`),
      el("span.docs", null, "Explained in ", el("code", null, `docs/findings.md#${finding.docs}`))));
}

/** Text with `code` in backticks. */
function code(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", null, part) : part));
}

function findingsPart() {
  const worth = DATA.findings.filter((it) => it.severity === "info");
  const bad = DATA.findings.filter((it) => it.severity !== "info");
  const undecided = DATA.checks.filter((it) => it.result === "not_enough_evidence");
  const healthy = DATA.checks.filter((it) => it.result === "healthy");
  const cards = (list) => el("div.cards", null, list.map(findingCard));
  return el("div.findings", { id: "findings" },
    bad.length > 0 && cards(bad),
    worth.length > 0 && el("details", { open: bad.length === 0 }, el("summary", null, `${plural(worth.length, "fact")} worth knowing`), cards(worth)),
    DATA.checks.length > 0 && el("details.checks", null,
      el("summary", null, `${plural(DATA.checks.length, "check")}: ${DATA.checks.length - healthy.length - undecided.length} found something, ${healthy.length} healthy, ${undecided.length} with too little evidence`),
      el("table", null, el("tbody", null, DATA.checks.map((it) => el("tr", null, el("th", { scope: "row" }, el("code", null, it.id)),
        el("td", null, { found: "found", healthy: "healthy", not_enough_evidence: "not enough evidence" }[it.result]), el("td", null, it.reason ?? "")))))));
}
