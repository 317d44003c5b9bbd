// Puts a page together, and draws all of it for paper.

function themeSwitch() {
  const select_ = el(
    "select",
    { "aria-label": "Colours", id: "theme", onchange: () => chooseTheme(select_.value || null) },
    [
      ["", "Colours: as the system"],
      ["light", "Light"],
      ["dark", "Dark"],
    ].map(([value, text]) => el("option", { value }, text)),
  );
  return select_;
}

/** The foot of a page. */
function pageFoot(text) {
  return [
    el(
      "p.hidden",
      { id: "chart-keys" },
      "Drag to zoom in on a stretch of time. Keys, anywhere: plus and minus zoom, left and right move, 0 shows all.",
    ),
    el("footer", null, el("p", null, text), el("p", null, document.getElementById("notice").content.textContent)),
  ];
}

/** Everything is drawn: sharp, narrow enough for a sheet, on white. */
function preparePrint() {
  document.documentElement.classList.add("printing");
  document.documentElement.dataset.theme = "light";
  printDensity = 3;
  readColors();
  buildUpTo(sections.length);
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

/** Shows a page; `parts()` makes its elements. */
function start(parts) {
  readColors();
  applyTheme();
  document.title = `${DATA.title} · lioprof`;
  fill(document.body, parts(), TIP);
  follow(() => sections.forEach((it) => it.follow()));
  themeFollowers.push(() => {
    sections.forEach((it) => it.update?.());
    refreshCharts();
  });
  addEventListener("hashchange", goToAddress);
  addEventListener("keydown", keysOfTime);
  addEventListener("beforeprint", preparePrint);
  addEventListener("afterprint", afterPrint);
  watchSections();
  if (location.hash) goToAddress();
  document.documentElement.dataset.ready = "true";
}
