// How long reads and writes took: which share took no longer than a time.

const latencySection = () =>
  section({
    id: "latency",
    title: "Latency",
    how:
      "From arrival to end. The line says which share of the reads (or writes) took no longer than a time: further left is faster. " +
      "Where the lines cross, some became faster and others slower. Dashed: half of them, and 99 %.",
    follows: [],
    missing: () =>
      SIDES.some((side) => DIRECTIONS.some(({ times }) => side[times].length)) ? null : "No read or write with times in either run.",
    build: buildLatency,
    wide: true,
  });

/** Points of the share that took no longer: `[microseconds, share]`, from 0 to 1. */
function sharesOf(histogram) {
  const total = histogram.reduce((sum, [, rpcs]) => sum + rpcs, 0);
  let below = 0;
  const points = [];
  for (const [low, rpcs] of histogram) {
    // Four buckets per factor of two.
    const high = low + Math.max(1, 2 ** (Math.floor(Math.log2(Math.max(low, 1))) - 2));
    if (!points.length || points[points.length - 1][0] < low) points.push([Math.max(low, 0.5), below / total]);
    below += rpcs;
    points.push([high, below / total]);
  }
  return points;
}

/** The share at a time, between the points. */
function shareAt(points, us) {
  if (us <= points[0][0]) return 0;
  const after = points.findIndex(([at]) => at >= us);
  if (after < 0) return 1;
  const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
  return y0 + ((y1 - y0) * (us - x0)) / (x1 - x0);
}

function buildLatency(body) {
  const key = el("div");
  const columns = el("div.columns");
  body.append(key, columns);
  const charts_ = DIRECTIONS.filter(({ times }) => SIDES.some((side) => side[times].length)).map((direction) => {
    const box = el("div", null, el("h3", null, direction.name));
    columns.append(box);
    return latencyChart(box, direction);
  });
  const rows = figureRows(DATA.totals).filter((row) => isPercentile(row.name));
  const list = figureTable(body, "Percentiles", rows);
  body.append(...unjudgedNotes(rows));
  return () => {
    charts_.forEach((chart) => chart.refresh());
    fill(key, sidesLegend());
    list.show();
  };
}

function latencyChart(parent, { name, times }) {
  const runs = SIDES.filter((side) => side[times].length).map((side) => ({ side, points: sharesOf(side[times]) }));
  const ends = runs.flatMap(({ points }) => [points[0][0], points[points.length - 1][0]]);
  // On a logarithmic axis.
  const [low, high] = [Math.log10(Math.min(...ends)), Math.log10(Math.max(...ends))];
  const ticks = (width) => roundTimes(low, high, width / (colors.font * 6));
  const chart = new Chart(parent, {
    label: `Share of the ${name.toLowerCase()} by how long they took`,
    layout: (width) => ({
      left: gutter(width),
      right: Math.round(colors.font * 1.5),
      top: 8,
      inner: 220,
      height: 220 + 8 + Math.round(colors.font * 2.4),
    }),
    option: (plan, width) => ({
      grid: { left: plan.left, right: plan.right, top: plan.top, height: plan.inner },
      xAxis: {
        type: "value",
        min: low,
        max: high,
        ...axisLook({
          axisLabel: { customValues: ticks(width), formatter: (value) => micros(10 ** value) },
          splitLine: { show: false },
        }),
        axisTick: { customValues: ticks(width), lineStyle: { color: colors.line } },
      },
      yAxis: { type: "value", min: 0, max: 1, interval: 0.25, ...axisLook({ axisLabel: { formatter: (value) => percent(value) } }) },
      series: runs.map(({ side, points }, i) => ({
        type: "line",
        data: [[low, 0], ...points.map(([us, share]) => [Math.log10(us), share]), [high, 1]],
        symbol: "none",
        silent: true,
        lineStyle: { width: 2.2, color: sideColor(side) },
        markLine: i === 0 && {
          silent: true,
          symbol: "none",
          animation: false,
          label: { show: false },
          lineStyle: { color: colors.muted, type: "dashed" },
          data: [{ yAxis: 0.5 }, { yAxis: 0.99 }],
        },
      })),
    }),
  });
  chart.canvas.addEventListener("pointermove", (event) => {
    const [x, y] = chart.place(event);
    const { plan, width } = chart;
    const inside = chart.echart && x >= plan.left && x <= width - plan.right && y >= plan.top && y <= plan.top + plan.inner;
    chart.hair.hidden = !inside;
    if (!inside) return hideTip();
    chart.hair.style.left = `${x}px`;
    const us = 10 ** chart.echart.convertFromPixel({ gridIndex: 0 }, [x, y])[0];
    showTip(
      {
        head: `${name} of at most ${micros(us)}`,
        rows: runs.map(({ side, points }) => [sideColor(side), side.name, percent(shareAt(points, us))]),
      },
      event.clientX,
      event.clientY,
    );
  });
  chart.canvas.addEventListener("pointerleave", () => {
    chart.hair.hidden = true;
    hideTip();
  });
  return chart;
}
