// Puts the page together.

const PAGES = { report: reportPage };

function themeSwitch() {
  const select_ = el("select", { "aria-label": "Colours", id: "theme", onchange: () => chooseTheme(select_.value || null) },
    [["", "Colours: as the system"], ["light", "Light"], ["dark", "Dark"]].map(([value, text]) => el("option", { value }, text)));
  return select_;
}

function reportPage() {
  const { totals, window: span } = DATA;
  const figures = [
    ["read", ioBytes(totals.read), `${plural(totals.read.rpcs, "RPC")}`, ioExactly(totals.read)],
    ["written", ioBytes(totals.write), `${plural(totals.write.rpcs, "RPC")}`, ioExactly(totals.write)],
    ["RPCs handled", count(totals.rpcs), totals.server_rpcs ? `${count(totals.server_rpcs)} from servers` : null, "of any kind"],
    ["OSTs", count(totals.osts), plural(totals.nodes, "server"), null],
    ["clients", count(totals.clients), null, "without servers"],
    ["time", seconds(span.duration_s), null, date(span.start)],
  ];
  const dom = totals.dom_read.rpcs + totals.dom_write.rpcs;
  return [
    el("header.page", null,
      el("div", null, el("h1", null, DATA.title), el("p", null, date(span.start), dom ? `; besides, Data-on-MDT: ${ioBytes(totals.dom_read)} read in ${plural(totals.dom_read.rpcs, "RPC")}, ${ioBytes(totals.dom_write)} written in ${plural(totals.dom_write.rpcs, "RPC")}` : "")),
      themeSwitch()),
    verdictBanner(),
    el("dl.totals", null, figures.map(([name, value, more, hint]) => el("div", { title: hint }, el("dt", null, name), el("dd", { "data-total": name }, value, more && el("small", null, more))))),
    DATA.quality.loss.head_overwritten || DATA.quality.loss.estimated_lost_fraction > 0.01
      ? el("p.banner", null, DATA.quality.loss.head_overwritten ? "The beginning of this capture was overwritten; how much is missing is unknown. Sums are lower bounds." : `About ${percent(DATA.quality.loss.estimated_lost_fraction)} of the RPCs are missing; counts and bytes are too low by that much.`) : null,
    // Views first: the links of findings and of the bar lead to them.
    ...(() => {
      const views = [bandwidthSection, matrixSection, latencySection, sizesSection, queueSection, timelineSection, locksSection, lockTimelineSection, objectsSection, jobsSection, operationsSection, qualitySection].map((make) => make().node);
      return [findingsPart(), toolbar(), el("main", null, views)];
    })(),
    el("p.hidden", { id: "chart-keys" }, "Drag to zoom in on a stretch of time; a click on the overview shows all of it. Keys: plus and minus zoom, left and right move, 0 shows all."),
    el("footer", null, el("p", null, `Made by ${DATA.generator.name} ${DATA.generator.version}. Figures are those of analysis.json; ~ means estimated, ? unknown.`), el("p", null, document.getElementById("notice").content.textContent)),
  ];
}

/** Everything is drawn: sharp, narrow enough for a sheet, on white. */
function preparePrint() {
  document.documentElement.classList.add("printing");
  document.documentElement.dataset.theme = "light";
  printDensity = 3;
  readColors();
  charts.forEach((chart) => chart.release());
  sections.forEach((it) => it.update?.());
  charts.forEach((chart) => {
    chart.refresh();
    chart.drawIfNeeded();
  });
}

function afterPrint() {
  document.documentElement.classList.remove("printing");
  printDensity = 0;
  charts.forEach((chart) => chart.release());
  applyTheme();
}

function start() {
  readColors();
  applyTheme();
  document.title = `${DATA.title} · lioprof`;
  fill(document.body, PAGES[document.body.dataset.kind](), TIP);
  follow(() => sections.forEach((it) => {
    it.note?.();
    it.update?.();
  }));
  themeFollowers.push(() => {
    sections.forEach((it) => it.update?.());
    refreshCharts();
  });
  addEventListener("hashchange", goToAddress);
  addEventListener("beforeprint", preparePrint);
  addEventListener("afterprint", afterPrint);
  if (location.hash) goToAddress();
  document.documentElement.dataset.ready = "true";
}

start();
