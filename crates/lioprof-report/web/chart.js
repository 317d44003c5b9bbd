// A chart: an ECharts canvas that is drawn when it comes into view, again when its width, the theme or the selection
// changes, and before a page is printed.

const charts = [];
const onScreen = new IntersectionObserver(
  (entries) =>
    entries.forEach((entry) => {
      const chart = charts.find((it) => it.box === entry.target);
      chart.near = entry.isIntersecting;
      if (chart.near) chart.drawIfNeeded();
    }),
  { rootMargin: "300px 0px" },
);
const widths = new ResizeObserver((entries) =>
  entries.forEach((entry) => {
    const chart = charts.find((it) => it.box === entry.target);
    if (Math.abs(chart.box.clientWidth - chart.width) > 1) chart.refresh();
  }),
);

let printDensity = 0;

/** Pixels of a canvas per pixel of the page; a sheet of paper has more than most screens. */
function pixelDensity() {
  return printDensity || window.devicePixelRatio || 1;
}

class Chart {
  /**
   * `label`: what it shows, for those who do not see it. `layout(width)`: what to draw, as cheaply as can be, with its
   * `height`, or `{empty: reason}`. `option(layout, width)`: ECharts' option, when it is really drawn. `saved`: whether it can be.
   */
  constructor(parent, { label, layout, option, saved = true }) {
    this.makeLayout = layout;
    this.makeOption = option;
    this.canvas = el("div.canvas");
    this.hair = el("div.hair", { hidden: true });
    this.range = el("div.range", { hidden: true });
    this.reason = el("p.empty", { hidden: true });
    this.box = el("div.chart", { tabindex: "0", role: "img", "aria-label": label }, this.canvas, this.hair, this.range, this.reason);
    if (saved) this.box.append(chartTools(this));
    this.label = label;
    this.width = 0;
    this.dirty = false;
    this.near = false;
    parent.append(this.box);
    charts.push(this);
    onScreen.observe(this.box);
    widths.observe(this.box);
  }

  /** Something changed. */
  refresh() {
    this.width = this.box.clientWidth;
    if (!this.width) return;
    this.plan = this.makeLayout(this.width);
    const empty = this.plan.empty;
    this.reason.hidden = !empty;
    this.reason.textContent = empty ?? "";
    this.canvas.hidden = Boolean(empty);
    this.box.classList.toggle("is-empty", Boolean(empty));
    this.canvas.style.height = empty ? "0" : `${this.plan.height}px`;
    this.box.setAttribute("aria-label", empty ? `${this.label}: ${empty}` : [this.label, this.plan.summary].filter(Boolean).join(": "));
    this.dirty = true;
    if (this.near) this.drawIfNeeded();
  }

  drawIfNeeded() {
    if (!this.dirty || !this.plan) return;
    this.dirty = false;
    if (this.plan.empty) return;
    this.echart ??= echarts.init(this.canvas, null, {
      renderer: "canvas",
      devicePixelRatio: pixelDensity(),
      width: this.width,
      height: this.plan.height,
    });
    this.echart.resize({ width: this.width, height: this.plan.height });
    this.echart.setOption(this.fullOption(), { notMerge: true });
  }

  fullOption() {
    return {
      animation: false,
      backgroundColor: "transparent",
      textStyle: { fontFamily: colors.family, color: colors.ink, fontSize: colors.font },
      ...this.makeOption(this.plan, this.width),
    };
  }

  /** Lets go of the canvas; the next drawing makes another. */
  release() {
    this.echart?.dispose();
    this.echart = null;
    this.dirty = Boolean(this.plan);
  }

  /** Place of a pointer event within the chart. */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}

function refreshCharts() {
  charts.forEach((chart) => chart.refresh());
}

/** Room to the left of the plots, for the labels of their axes. */
function gutter(width, wide = false) {
  return Math.round(wide ? Math.min(width * 0.34, colors.font * 13) : colors.font * 5.4);
}

/** Looks that all axes share. */
function axisLook(extra = {}) {
  return {
    axisLine: { show: true, lineStyle: { color: colors.line } },
    axisTick: { show: true, lineStyle: { color: colors.line } },
    splitLine: { show: true, lineStyle: { color: colors.grid } },
    ...extra,
    axisLabel: { color: colors.muted, fontSize: colors.font, hideOverlap: true, ...extra.axisLabel },
  };
}

/** A round step so that `span` has about `n` of them. */
function roundStep(span, n, choices = [1, 2, 5, 10]) {
  const raw = span / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(raw));
  return choices.map((it) => it * power).find((it) => it >= raw * 0.999) ?? 10 * power;
}

/** An axis from 0 with round ticks: `{min, max, interval}`. */
function fromZero(max, n = 3, unit = 1) {
  return upTo(max, roundStep(Math.max(max, 1e-9) / unit, n) * unit);
}

/** The same for what is counted: no ticks between 0 and 1. */
function countFromZero(max, n = 3) {
  return upTo(max, Math.max(1, roundStep(Math.max(max, 1), n)));
}

/** The same for bytes, whose round numbers are those of their unit. */
function bytesFromZero(max, n = 3) {
  let unit = 1;
  while (max >= 1000 * unit) unit *= 1024;
  // 500 MiB, 1,000 MiB would be 0.98 GiB.
  return max >= 500 * unit ? upTo(max, 256 * unit) : fromZero(max, n, unit);
}

function upTo(max, step) {
  return { min: 0, max: Math.max(step, Math.ceil((max / step) * 0.999) * step), interval: step };
}

/** Ticks of a logarithmic axis of times, as powers of ten, about `room`: 1, 2, 5; fewer or more where these are too many or few. */
function roundTimes(from, to, room) {
  const of = (digits) =>
    Array.from({ length: Math.ceil(to) - Math.floor(from) + 1 }, (_, i) => digits.map((digit) => Math.floor(from) + i + Math.log10(digit)))
      .flat()
      .filter((at) => at >= from - 1e-9 && at <= to + 1e-9);
  const few = of([1, 2, 5]).length < 3;
  return [...(few ? [[1, 1.5, 2, 3, 4, 5, 7]] : []), [1, 2, 5], [1, 3], [1]].map(of).find((list) => list.length <= room) ?? of([1]);
}
