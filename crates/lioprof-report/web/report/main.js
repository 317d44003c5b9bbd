// The page of an analysis.

/** What was moved, by whom; of a log of events alone, how many of which kind. */
function figuresOfReport() {
  const { totals, window: span } = DATA;
  if (!totals.rpcs && DATA.events.rows.length)
    return countBy(DATA.events.rows, kindText).map(([kind, rows]) => [kind, count(rows), null, null]);
  return [
    ["read", ioBytes(totals.read), `${plural(totals.read.rpcs, "RPC")}`, ioExactly(totals.read)],
    ["written", ioBytes(totals.write), `${plural(totals.write.rpcs, "RPC")}`, ioExactly(totals.write)],
    ["RPCs handled", count(totals.rpcs), totals.server_rpcs ? `${count(totals.server_rpcs)} from servers` : null, "of any kind"],
    ["OSTs", count(totals.osts), plural(totals.servers, "server"), null],
    ["clients", count(totals.clients), totals.client_logs ? `logs of ${count(totals.client_logs)}` : null, "without servers"],
    ["time", seconds(span.duration_s), null, date(span.start)],
  ];
}

/** What the capture is of: servers, file system, files, masks. */
function captureFacts() {
  const { servers, file_systems: systems, files, bytes: size, masks } = DATA.capture;
  const more = DATA.totals.servers - servers.length;
  const named = servers.map(([name, role]) => (role ? `${name} (${role})` : name)).join(", ");
  const facts = [
    // Kernel logs alone do not say what a node is.
    [servers.some(([, role]) => role) ? "servers" : "nodes", named + (more > 0 ? ` and ${more} more` : "")],
    ["file system", systems.join(", ")],
    ["logs", `${plural(files, "file")}, ${bytes(size)}`],
    ["masks that they have lines of", masks.join(", ")],
  ];
  return el(
    "dl.capture",
    null,
    facts.map(([name, text]) => text && el("div", null, el("dt", null, name), el("dd", null, text))),
  );
}

function reportPage() {
  const { totals, window: span, verdict } = DATA;
  const dom = totals.dom_read.rpcs + totals.dom_write.rpcs;
  // The events of a kernel log may have no times, and then there is no chart to drag over.
  const isTimed = totals.rpcs > 0 || span.start > 0;
  return [
    el(
      "header.page",
      null,
      el(
        "div",
        null,
        el("h1", null, DATA.title),
        el(
          "p",
          null,
          isTimed ? timed(() => dateText(span.start)) : "no time is known",
          dom
            ? `; besides, Data-on-MDT: ${ioBytes(totals.dom_read)} read in ${plural(totals.dom_read.rpcs, "RPC")}, ` +
                `${ioBytes(totals.dom_write)} written in ${plural(totals.dom_write.rpcs, "RPC")}`
            : "",
        ),
        captureFacts(),
        DATA.selected && el("p", null, el("strong", null, DATA.selected)),
      ),
      themeSwitch(),
    ),
    verdictBanner(verdict.level, SEVERITY_MARK[verdict.level], SEVERITY[verdict.level], verdict.text),
    el(
      "dl.totals",
      null,
      figuresOfReport().map(([name, value, more, hint]) =>
        el("div", { title: hint }, el("dt", null, name), el("dd", { "data-total": name }, value, more && el("small", null, more))),
      ),
    ),
    // Views first: the links of findings and of the bar lead to them.
    ...(() => {
      const views = [
        accountSection,
        bandwidthSection,
        matrixSection,
        latencySection,
        partsSection,
        sizesSection,
        queueSection,
        timelineSection,
        locksSection,
        lockTimelineSection,
        enqueuesSection,
        objectsSection,
        jobsSection,
        operationsSection,
        eventsSection,
        qualitySection,
      ].map((make) => make());
      const nodes = (empty) => views.filter((it) => it.empty === empty).map((it) => it.node);
      const bar = toolbar({
        overview: totals.rpcs ? overviewChart : null,
        directions: Boolean(totals.rpcs),
        times: isTimed,
        hint: isTimed ? "Drag over a chart to zoom; click a row, cell or name to see only that." : null,
      });
      return [findingsPart(), bar, el("main", null, nodes(false), nodes(true))];
    })(),
    pageFoot(
      `Made by ${DATA.generator.name} ${DATA.generator.version}. Figures are those of analysis.json; ` +
        `${RULES.estimated} means estimated, ${UNKNOWN} unknown.`,
    ),
  ];
}

start(reportPage);
