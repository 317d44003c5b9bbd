// Lanes above each other over one time axis. Dragging selects a stretch of time for all views, a click what is below it.

const TIME_STEPS = [
  1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120,
  300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
];

/** Decimals of a second that steps of an axis need. */
function decimalsOfStep(step, most) {
  return Math.max(0, Math.min(most, Math.ceil(-Math.log10(step * 1.001))));
}

/** A time by the chosen clock, as precise as a step of the axis needs. */
function timeLabel(s, step) {
  return byWallClock() ? wallTime(s, decimalsOfStep(step, SPAN_S >= 180 ? 3 : 6)) : sinceStart(s, step);
}

function sinceStart(s, step) {
  const span = SPAN_S;
  const decimals = decimalsOfStep(step, span >= 180 ? 3 : 9);
  // A start that rounding has put before the log: no minus before a zero.
  if (Math.abs(s) * 10 ** decimals < 0.5) s = 0;
  if (span >= 180) return clock(s, decimals);
  if (span < 0.5) return `${Number((s * 1e3).toFixed(Math.max(0, decimals - 3)))}\u202fms`;
  return `${s.toFixed(decimals)}\u202fs`;
}

/** `12.4 s to 12.6 s`, `08:51:24 to 08:51:26 UTC`; of a moment, one time. */
function timeRange(from, to) {
  const zone = byWallClock() ? ` ${zoneName(AXIS_START + from)}` : "";
  if (to - from < 1e-6) return timeLabel(from, SPAN_S / 100) + zone;
  const step = Math.max(1e-6, (to - from) / 20);
  return `${timeLabel(from, step)} to ${timeLabel(to, step)}${zone}`;
}

function timeAxis(range, gridIndex, width, labelled) {
  const span = range[1] - range[0];
  const stepFor = (letters) => {
    const n = Math.max(2, Math.floor(width / (colors.font * letters)));
    return TIME_STEPS.find((it) => span / it <= n) ?? roundStep(span, n);
  };
  // The clock's times are longer, the more so the finer they are.
  const step = stepFor(byWallClock() ? 3 + timeLabel(range[0], stepFor(7)).length / 2 : 5.5);
  // The library counts intervals from the range's beginning, which need not be round.
  const shift = clockShift(range[0]);
  const [first, last] = [Math.ceil((range[0] + shift) / step - 1e-6), Math.floor((range[1] + shift) / step + 1e-6)];
  const customValues = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step - shift);
  // Which clock it is stands at the first time.
  const zone = (value) => (byWallClock() && value === customValues[0] ? ` ${zoneName(AXIS_START + value)}` : "");
  return {
    type: "value",
    gridIndex,
    min: range[0],
    max: range[1],
    interval: step,
    ...axisLook({
      axisLabel: { show: labelled, customValues, formatter: (value) => timeLabel(value, step) + zone(value) },
      splitLine: { show: true, customValues, lineStyle: { color: colors.grid } },
    }),
    axisTick: { show: labelled, customValues, lineStyle: { color: colors.line } },
  };
}

/** The bin of a time. */
function binOf(edges, at) {
  let [low, high] = [0, edges.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** Corners of a row of steps: `values[i]` from `edges[i]` to `edges[i + 1]`; where there is nothing there is no line. */
function corners(edges, values) {
  const out = [];
  for (let i = 0; i < values.length; i += 1) {
    const [before, value] = [i > 0 ? values[i - 1] : 0, values[i]];
    if (value > 0 && !(before > 0)) out.push([edges[i], 0]);
    if (value > 0) out.push([edges[i], value], [edges[i + 1], value]);
    else if (before > 0) out.push([edges[i], 0], [edges[i], null]);
  }
  if (values[values.length - 1] > 0) out.push([edges[values.length], 0]);
  return out;
}

/** Steps as they can be seen in a range: of the bins that share a column of pixels the highest, so that no peak gets lost. */
function seenSteps(edges, values, [from, to], columns) {
  const [first, last] = [binOf(edges, from), binOf(edges, to)];
  if (last - first < columns) return [edges.slice(first, last + 2), values.slice(first, last + 1)];
  const [kept, highest] = [[], []];
  let column = -Infinity;
  for (let bin = first; bin <= last; bin += 1) {
    const its = Math.floor(((edges[bin] - from) / (to - from)) * columns);
    if (its > column) {
      kept.push(edges[bin]);
      highest.push(values[bin]);
      column = its;
    } else if (values[bin] > highest[highest.length - 1]) highest[highest.length - 1] = values[bin];
  }
  return [[...kept, edges[last + 1]], highest];
}

/** A row of steps, filled down to 0; the time chart makes its data, which depend on what is visible. */
function stepArea(name, edges, values, fillStyle, line) {
  return {
    type: "line",
    name,
    steps: [edges, values],
    symbol: "none",
    silent: true,
    connectNulls: false,
    lineStyle: { width: line ? 1.5 : 0, color: line ?? "transparent" },
    areaStyle: { color: fillStyle, opacity: 1, origin: "start" },
  };
}

function stepLine(name, edges, values, color, type = "solid") {
  const it = stepArea(name, edges, values, "transparent", color);
  return { ...it, areaStyle: undefined, lineStyle: { ...it.lineStyle, type } };
}

/**
 * `lanes(selection, width)` gives `{lanes, summary, wide, range}` or `{empty}`. A lane: `title`, `accused` (by a finding), `note`,
 * `height`, `y` (an axis of ECharts), `series`, `hover(time, y)` as for `showTip`, `value(time)`: what it shows at a time, `pick(time, y)`.
 */
function timeChart(parent, { label, lanes, zooms = true, saved = true }) {
  const TITLE = () => Math.round(colors.font * 1.9);
  const chart = new Chart(parent, {
    label,
    saved,
    layout(width) {
      const plan = lanes(selection, width);
      if (plan.empty) return plan;
      plan.range ??= visible();
      plan.left = gutter(width, plan.wide);
      plan.right = Math.round(colors.font * 2);
      let top = Math.round(colors.font * 0.5);
      for (const lane of plan.lanes) {
        // What is one chart should be on one sheet.
        if (printDensity) lane.height = Math.round(lane.height * 0.7);
        lane.top = top + (lane.title ? TITLE() : 4);
        top = lane.top + lane.height + Math.round(colors.font * (lane.gap ?? 1.1));
      }
      plan.height = top + Math.round(colors.font * 1.8);
      plan.summary = [plan.summary, timeRange(...plan.range)].filter(Boolean).join("; ");
      return plan;
    },
    option(plan, width) {
      const inner = width - plan.left - plan.right;
      const last = plan.lanes.length - 1;
      return {
        grid: plan.lanes.map((lane) => ({ left: plan.left, right: plan.right, top: lane.top, height: lane.height, containLabel: false })),
        title: plan.lanes.flatMap((lane) =>
          lane.title
            ? [
                {
                  text: `{${lane.accused ? "a" : "t"}|${lane.title}}${lane.note ? `  {n|${lane.note}}` : ""}`,
                  left: plan.left - 5,
                  top: lane.top - TITLE() - 2,
                  padding: [4, 5],
                  textStyle: {
                    width: inner,
                    overflow: "truncate",
                    rich: {
                      t: { fontSize: colors.font * 1.05, fontWeight: 600, color: colors.ink },
                      a: { fontSize: colors.font * 1.05, fontWeight: 600, color: colors.critical },
                      n: { fontSize: colors.font, color: colors.muted },
                    },
                  },
                },
              ]
            : [],
        ),
        xAxis: plan.lanes.map((_, i) => timeAxis(plan.range, i, inner, i === last)),
        yAxis: plan.lanes.map((lane, i) => ({
          type: "value",
          gridIndex: i,
          ...axisLook(lane.y),
          ...(lane.y.axisTick && { axisTick: { ...axisLook().axisTick, ...lane.y.axisTick } }),
        })),
        series: plan.lanes.flatMap((lane, i) =>
          lane.series.map(({ steps, ...it }) => ({
            ...it,
            ...(steps && { data: corners(...seenSteps(...steps, plan.range, Math.max(1, Math.floor(inner)))) }),
            xAxisIndex: i,
            yAxisIndex: i,
          })),
        ),
      };
    },
  });
  chart.zooms = zooms;
  if (zooms) chart.box.setAttribute("aria-describedby", "chart-keys");
  watchPointer(chart, zooms);
  return chart;
}

function laneAt(plan, y) {
  return plan.lanes.findIndex((lane) => y >= lane.top && y <= lane.top + lane.height);
}

function timeAt(chart, x) {
  const { plan, width } = chart;
  const share = (x - plan.left) / (width - plan.left - plan.right);
  return plan.range[0] + Math.max(0, Math.min(1, share)) * (plan.range[1] - plan.range[0]);
}

function xOf(chart, time) {
  const { plan, width } = chart;
  return plan.left + ((time - plan.range[0]) / (plan.range[1] - plan.range[0])) * (width - plan.left - plan.right);
}

/** What the other lanes of a chart show at the same time. */
function otherLanes(lanes, at, time) {
  return lanes.flatMap((lane, i) => (i === at || !lane.value ? [] : [[null, lane.title, lane.value(time)]]));
}

/** Hover, drag, click and keys of a time chart. */
function watchPointer(chart, zooms) {
  const { canvas, hair, range } = chart;
  let drag = null;
  const hover = (x, y, screenX, screenY) => {
    const lane = chart.echart && chart.plan && !chart.plan.empty ? laneAt(chart.plan, y) : -1;
    const inside = lane >= 0 && x >= chart.plan.left && x <= chart.width - chart.plan.right;
    hair.hidden = !inside;
    if (!inside) return hideTip();
    hair.style.left = `${x}px`;
    const value = chart.echart.convertFromPixel({ gridIndex: lane }, [x, y])[1];
    const [time, [from, to]] = [timeAt(chart, x), chart.plan.range];
    const content = chart.plan.lanes[lane].hover?.(time, value);
    const others = content && otherLanes(chart.plan.lanes, lane, time);
    if (content) showTip({ ...content, others, when: momentText(time, (to - from) / 1000) }, screenX, screenY);
    else hideTip();
  };
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = chart.place(event);
    if (drag) {
      drag.moved ||= Math.abs(x - drag.x) > 5;
      range.hidden = !drag.moved;
      range.style.left = `${Math.min(x, drag.x)}px`;
      range.style.width = `${Math.abs(x - drag.x)}px`;
      if (drag.moved) hideTip();
      return;
    }
    hover(x, y, event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerleave", () => {
    hair.hidden = true;
    if (!drag) hideTip();
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !chart.plan || chart.plan.empty) return;
    drag = { x: chart.place(event)[0], moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  const end = (event) => {
    if (!drag) return;
    const [x, y] = chart.place(event);
    const { x: from, moved: isDrag } = drag;
    drag = null;
    range.hidden = true;
    if (event.type === "pointercancel") return;
    if (isDrag && zooms) return zoom(timeAt(chart, from), timeAt(chart, x));
    const lane = laneAt(chart.plan, y);
    if (!isDrag && lane >= 0) {
      chart.plan.lanes[lane].pick?.(timeAt(chart, x), chart.echart.convertFromPixel({ gridIndex: lane }, [x, y])[1]);
    }
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
}

/** Keys zoom and move wherever they have no other meaning. */
function keysOfTime(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !charts.some((chart) => chart.zooms)) return;
  if (event.target.closest?.("input, select, textarea, .table")) return;
  const [from, to] = visible();
  const span = to - from;
  const keys = {
    ArrowLeft: [from - span / 4, to - span / 4],
    ArrowRight: [from + span / 4, to + span / 4],
    "+": [from + span / 4, to - span / 4],
    "-": [from - span / 2, to + span / 2],
    0: [0, SPAN_S],
  };
  let wanted = keys[event.key === "=" ? "+" : event.key];
  if (!wanted) return;
  event.preventDefault();
  // Moving stops at the ends, and does not zoom there.
  if (event.key.startsWith("Arrow")) {
    const shift = Math.max(-wanted[0], 0) - Math.max(wanted[1] - SPAN_S, 0);
    wanted = [wanted[0] + shift, wanted[1] + shift];
  }
  zoom(...wanted);
}
