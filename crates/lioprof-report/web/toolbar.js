// The bar that stays in sight: the whole run at a glance, what is selected, where to go.

function toolbar() {
  const chips = el("div.chips", { "aria-live": "polite" });
  const from = el("input", { type: "number", step: "any", min: "0", "aria-label": "from, seconds since start" });
  const to = el("input", { type: "number", step: "any", min: "0", "aria-label": "to, seconds since start" });
  const apply = () => zoom(Number(from.value), Number(to.value));
  [from, to].forEach((it) => it.addEventListener("change", apply));
  const directions = [["rw", "Reads + writes"], ["r", "Reads"], ["w", "Writes"]];
  const buttons = directions.map(([value, text]) => toggle(text, false, () => select({ direction: value })));
  const overview = el("div.overview");
  const nav = el("nav", { "aria-label": "Views" });
  const bar = el("div.toolbar", { role: "region", "aria-label": "Selection" },
    overview,
    el("div.row", null,
      el("div.buttons", { role: "group", "aria-label": "Reads and writes" }, buttons),
      el("div.times", null, from, el("span", null, "to"), to, el("span", null, "s"),
        el("button", { type: "button", title: "Zoom in", "aria-label": "Zoom in", onclick: () => zoomBy(0.5) }, "+"),
        el("button", { type: "button", title: "Zoom out", "aria-label": "Zoom out", onclick: () => zoomBy(2) }, "−")),
      chips),
    nav);
  const it = overviewChart(overview);
  follow((now) => {
    const [low, high] = visible(now);
    // As precise as the screen can show.
    const decimals = Math.max(0, Math.ceil(-Math.log10(SPAN_S / 1e4)));
    from.value = String(Number(low.toFixed(decimals)));
    to.value = String(Number(high.toFixed(decimals)));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(directions[i][0] === now.direction)));
    fill(chips, selectionChips(now));
    fill(nav, [["findings", "Findings"], ...sections.map((part) => [part.id, part.title, part.empty])].map(([id, title, without]) =>
      el("a", { href: hrefOf(id, now), class: without ? "without" : null }, title)));
    it.refresh();
  });
  return bar;
}

function zoomBy(factor) {
  const [from, to] = visible();
  const [middle, half] = [(from + to) / 2, ((to - from) * factor) / 2];
  zoom(middle - half, middle + half);
}

function selectionChips(now) {
  const chip = (text, title, clear) => el("button.chip", { type: "button", title: `Deselect ${title}`, onclick: clear }, el("span", null, text), el("b", { "aria-hidden": "true" }, "×"));
  const list = (kind, name) => {
    const numbers = now[kind];
    if (numbers.length > 3) return [chip(plural(numbers.length, kind.slice(0, -1)), kind, () => select({ [kind]: [] }))];
    return numbers.map((number) => chip(name(number), name(number), () => toggleSelected(kind, number)));
  };
  const chips = [
    now.time && chip(timeRange(...now.time), "the time", () => select({ time: null })),
    ...list("targets", targetName), ...list("clients", clientName), ...list("objects", objectName),
  ].filter(Boolean);
  if (!chips.length) return [el("span.hint", null, "Drag over a chart to zoom; click a row, cell or name to see only that.")];
  return [...chips, el("button.clear", { type: "button", onclick: () => select({ ...EVERYTHING }) }, "Clear all")];
}

/** All bytes over all of the time; the selected stretch stands out. */
function overviewChart(parent) {
  const edges = precise(DATA.series.edges_s);
  const read = dense(DATA.series.total.read_bytes, edges.length - 1);
  const write = dense(DATA.series.total.write_bytes, edges.length - 1);
  const rates = Array.from(read, (value, i) => (value + write[i]) / (edges[i + 1] - edges[i]));
  return timeChart(parent, {
    label: "Overview of all reads and writes",
    lanes: () => {
      if (!rates.some((it) => it > 0)) return { empty: "no bytes of reads or writes over time" };
      const highest = Math.max(...rates);
      const series = stepArea("all", edges, rates, pale(colors.accent, 0.55), colors.accent);
      const marks = [];
      if (selection.time) marks.push([{ xAxis: selection.time[0] }, { xAxis: selection.time[1] }]);
      series.markArea = { silent: true, data: marks, itemStyle: { color: colors.accent, opacity: 0.22 } };
      series.markLine = { silent: true, symbol: "none", label: { show: false }, animation: false,
        lineStyle: { color: colors.muted, type: "dotted" }, data: DATA.markers.map((it) => ({ xAxis: it.at_s })) };
      return {
        range: [0, SPAN_S],
        summary: `highest ${byteRate(highest)}`,
        lanes: [{ height: Math.round(colors.font * 2.6), gap: 0.4, series: [series],
          y: { ...bytesFromZero(highest, 1), axisLabel: { formatter: (value) => (value ? `${roundBytes(value)}/s` : "") }, splitLine: { show: false }, axisTick: { show: false } },
          pick: () => select({ time: null }),
          hover: (time) => {
            const bin = binOf(edges, time);
            const mark = DATA.markers.find((it) => Math.abs(it.at_s - time) < SPAN_S / 200);
            return { head: timeRange(edges[bin], edges[bin + 1]), rows: [[colors.accent, "reads and writes", byteRate(rates[bin])]], foot: mark && `mark: ${mark.text}` };
          } }],
      };
    },
  });
}
