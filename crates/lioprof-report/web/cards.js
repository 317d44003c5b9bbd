// A finding as a card: what is wrong, the evidence, what to do.

const SEVERITY = { critical: "Critical", warning: "Warning", info: "Worth knowing", healthy: "Healthy", unknown: "Cannot tell" };
// Shapes differ, too: not everybody sees the colours.
const SEVERITY_MARK = { critical: "▲", warning: "◆", info: "●", healthy: "✔", unknown: "?" };

/** The page in one sentence. */
function verdictBanner(level, mark, word, text) {
  return el(
    "p.verdict",
    { class: `verdict ${level}`, id: "verdict" },
    el("span.mark", { "aria-hidden": "true" }, mark),
    el("span", null, el("strong", null, `${word}. `), sentence(text)),
  );
}

/** Whom a finding is about. */
function concerned(name, list, limit = 6) {
  if (!list.length) return null;
  const more = list.length - limit;
  return el(
    "div",
    null,
    el("dt", null, name),
    el(
      "dd",
      null,
      list.slice(0, limit).map((it, i) => [i ? ", " : "", el("span.name", null, it)]),
      more > 0 ? ` and ${more} more` : "",
    ),
  );
}

/**
 * `tone`, `mark`, `kind`: colour, sign and words above the title; `concerns`: `[name, list of texts, how many to show]`; `cause`: the
 * node that names the finding of which this one is a consequence; `evidence`: rows `[name, measure, values]`; `more`: what stands below the
 * explanation; `show`: the link to a view.
 */
function findingCard(
  finding,
  { id, tone = finding.severity, mark = SEVERITY_MARK[finding.severity], kind, concerns, cause, evidence, more, show },
) {
  const limits = Object.entries(finding.thresholds);
  return el(
    `article.card.${tone}`,
    { id },
    el("p.kind", null, el("span.mark", { "aria-hidden": "true" }, mark), kind),
    el("h3", null, sentence(finding.title)),
    el(
      "div.inside",
      null,
      el(
        "div",
        null,
        finding.cost_s !== null &&
          el("p.cost", null, "Cost: about ", el("strong", null, seconds(finding.cost_s)), finding.cost_of ? ` (${finding.cost_of})` : ""),
        finding.saves && el("p.cost", null, "A remedy ", finding.saves, "."),
        cause && el("p.cost", null, "Probably a consequence of ", cause, "."),
        el("p", null, code(finding.explanation)),
        more,
        finding.remedies.length > 0 &&
          el(
            "div.remedy",
            null,
            el("h4", null, "What to do"),
            el(
              "ul",
              null,
              finding.remedies.map((it) => el("li", null, code(it))),
            ),
          ),
      ),
      el(
        "div",
        null,
        el(
          "dl.about",
          null,
          concerns.map((it) => concerned(...it)),
        ),
        evidence.length > 0 &&
          el(
            "dl.evidence",
            null,
            evidence.map(([name, measure, values]) => {
              const texts = values.map((value) => (value === null ? UNKNOWN : FIGURE_TEXT[measure](value)));
              return el("div", null, el("dt", null, name), el("dd", null, [...new Set(texts)].join(" → ")));
            }),
          ),
      ),
    ),
    limits.length > 0 &&
      el(
        "details",
        null,
        el("summary", null, "Held against these limits"),
        el(
          "table",
          null,
          limits.map(([name, value]) => el("tr", null, el("td", null, el("code", null, name)), el("td.figure", null, number(value)))),
        ),
      ),
    el("p.links", null, show, el("span.docs", null, "More: ", el("code", null, `lioprof explain ${finding.docs}`))),
  );
}

/** Text with `code` in backticks. */
function code(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", null, part) : part));
}
