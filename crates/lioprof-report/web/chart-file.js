// A chart as a file of its own: with a heading, and with the legend that stands above it on the page.

/** Room between lines of a heading or legend. */
const fileLine = () => Math.round(colors.font * 1.7);

/** What the legend above a chart says: `[fill, text]`, `[colours of a scale, text]`. */
function legendAbove(box) {
  const found = [];
  for (let node = box.previousElementSibling; node && !node.matches("h3, .chart"); node = node.previousElementSibling) {
    found.unshift(...node.querySelectorAll(".legend"));
  }
  return found.flatMap((it) => {
    const texts = [...it.children].map((child) => child.textContent).filter(Boolean);
    if (it.querySelector(".scale")) return [[colors.heat, `${texts[0]}: ${texts.slice(1).join(" … ")}`]];
    return [...it.querySelectorAll(".entry:not([aria-pressed=false])")].map((entry) => {
      const style = getComputedStyle(entry.querySelector(".swatch"));
      return [style.backgroundImage === "none" ? style.color : hatch(colors.muted), entry.textContent];
    });
  });
}

/** The same as shapes of ECharts, in lines from a place on; and where they end. */
function legendShapes(entries, width, [left, top]) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${colors.font}px ${colors.family}`;
  const size = Math.round(colors.font * 0.85);
  let [x, y] = [left, top];
  const shapes = entries.flatMap(([fillStyle, text]) => {
    const wide = Array.isArray(fillStyle) ? size * 8 : size;
    const room = wide + pen.measureText(text).width + size * 2.4;
    if (x > left && x + room > width) [x, y] = [left, y + fileLine()];
    const gradient = { type: "linear", x: 0, y: 0, x2: 1, y2: 0, colorStops: [] };
    if (Array.isArray(fillStyle)) gradient.colorStops = fillStyle.map((color, i) => ({ offset: i / (fillStyle.length - 1), color }));
    const style = { fill: Array.isArray(fillStyle) ? gradient : fillStyle };
    const both = [
      { type: "rect", left: x, top: y + 1, shape: { width: wide, height: size }, style },
      { type: "text", left: x + wide + size * 0.5, top: y, style: { text, fill: colors.muted, fontSize: colors.font } },
    ];
    x += room;
    return both;
  });
  return [shapes, entries.length ? y + fileLine() : top];
}

/** Saves a chart as `png` or `svg`. */
function saveChart(chart, kind) {
  const { width, plan } = chart;
  const heading = [chart.box.closest("section")?.querySelector("h2").textContent, DATA.title].filter(Boolean).join(" · ");
  const margin = Math.round(colors.font);
  const [shapes, bottom] = legendShapes(legendAbove(chart.box), width, [margin, margin + fileLine()]);
  // Everything is as on the page, below the legend and a margin away from the sides.
  const by = { top: bottom, left: margin, right: margin, bottom: margin };
  const further = ([key, at]) => [key, by[key] && Number.isFinite(at) ? at + by[key] : at];
  const shifted = (it) => Object.fromEntries(Object.entries(it).map(further));
  const inside = (parts) => [parts ?? []].flat().map(shifted);
  const option = chart.fullOption();
  const size = { width: width + 2 * margin, height: plan.height + bottom + margin };
  const drawing = echarts.init(kind === "svg" ? null : el("div"), null, {
    renderer: kind === "svg" ? "svg" : "canvas",
    ssr: kind === "svg",
    devicePixelRatio: 2,
    ...size,
  });
  printDensity = 2;
  drawing.setOption({
    ...option,
    backgroundColor: colors.surface,
    grid: inside(option.grid),
    title: inside(option.title),
    graphic: [
      { type: "text", left: margin, top: margin, style: { text: heading, fill: colors.ink, fontSize: colors.font * 1.2, fontWeight: 600 } },
      ...shapes,
      ...inside(option.graphic),
    ],
  });
  printDensity = 0;
  const keep = (blob) => {
    save(heading, kind, blob);
    drawing.dispose();
  };
  if (kind === "svg") keep(new Blob([drawing.renderToSVGString()], { type: "image/svg+xml" }));
  else drawing.renderToCanvas({ backgroundColor: colors.surface, pixelRatio: 2 }).toBlob(keep);
}

/** The buttons for it. */
function chartTools(chart) {
  const button = (kind) => {
    const name = kind.toUpperCase();
    return el("button", { type: "button", title: `Save this chart as ${name}`, onclick: () => saveChart(chart, kind) }, name);
  };
  return el("div.chart-tools", null, button("png"), button("svg"));
}
