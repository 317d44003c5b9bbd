// Bandwidth of all OSTs over time, both runs from their first byte on.

/** Reads (or writes) that are no more than this share of the bytes would be a line along the axis. */
const HARDLY = 0.01;

/** More than these across the screen would hide one run behind the other's peaks. */
const MOST_STEPS = 120;

const bandwidthSection = () =>
  section({
    id: "bandwidth",
    title: "Bandwidth over time",
    how:
      "Bytes per second of all OSTs together. Both runs begin where their first byte moved, so the one that ends further left was " +
      "done sooner. The same work gives the same area.",
    follows: ["time"],
    missing: () => (SIDES.every((side) => side.span_s > 0) ? null : "One of the two runs has no bytes of OSTs over time."),
    build: buildBandwidth,
    wide: true,
  });

function buildBandwidth(body) {
  const runs = SIDES.map((side) => {
    const steps = DIRECTIONS.map(({ bytes: key }) => dense(side[key]));
    return { side, steps, sums: steps.map((values) => values.reduce((sum, value) => sum + value, 0)) };
  });
  const total = runs.flatMap((run) => run.sums).reduce((sum, value) => sum + value, 0);
  const shown = DIRECTIONS.map((direction, at) => ({ ...direction, at })).filter(
    ({ at }) => runs.reduce((sum, run) => sum + run.sums[at], 0) > HARDLY * total,
  );
  const key = el("div");
  const widths = el("p.note");
  body.append(key, widths);
  const chart = timeChart(body, {
    label: "Bandwidth before and after over time",
    lanes(it) {
      const [from, to] = visible(it);
      const drawn = atWidth(runs, (to - from) / MOST_STEPS);
      const seen = ({ edges }, values) => values.filter((_, i) => edges[i + 1] > from && edges[i] < to);
      const highest = Math.max(1, ...shown.flatMap(({ at }) => drawn.flatMap((run) => seen(run, run.rates[at]))));
      const y = { ...bytesFromZero(highest, 3), axisLabel: { formatter: (value) => (value ? `${roundBytes(value)}/s` : "0") } };
      const lanes = shown.map(({ name, at }) => ({
        title: name,
        note: runs.map(({ side, sums }) => `${side.name} ${bytes(Math.round(sums[at]))} in ${seconds(side.span_s)}`).join(", "),
        height: 190,
        y,
        series: [
          ...drawn.map((run) => ({ ...stepArea(run.side.name, run.edges, run.rates[at], sideColor(run.side)), z: 1 })).map(faint),
          ...drawn.map((run) => ({ ...stepLine(run.side.name, run.edges, run.rates[at], sideColor(run.side)), z: 2 })),
        ],
        hover: (time) => ({
          head: `${name}, ${timeLabel(time, SPAN_S / 1e3)} after the first byte`,
          rows: drawn.map(({ side, edges, rates }) => [
            sideColor(side),
            side.name,
            time < side.span_s ? byteRate(rates[at][binOf(edges, time)]) : "at its end",
          ]),
        }),
      }));
      widths.textContent = `In steps of ${[...new Set(drawn.map((run) => seconds(run.width)))].join(" (before) and ")}.`;
      return { lanes, summary: runs.map(({ side }) => `${side.name} ${seconds(side.span_s)}`).join(", ") };
    },
  });
  return () => {
    chart.refresh();
    fill(key, sidesLegend());
  };
}

/** An area through which the other run can be seen. */
function faint(series) {
  return { ...series, areaStyle: { ...series.areaStyle, opacity: 0.16 } };
}

/** Both runs in steps of about this width, the same for both where their bins allow: wider steps are smoother. */
function atWidth(runs, wanted) {
  const width = Math.max(wanted, ...runs.map(({ side }) => side.step_s));
  return runs.map(({ side, steps }) => {
    const joined = Math.max(1, Math.round(width / side.step_s));
    const n = Math.ceil(steps[0].length / joined);
    const edges = Array.from({ length: n + 1 }, (_, i) => Math.min(side.span_s, i * joined * side.step_s));
    const rates = steps.map((values) =>
      Array.from({ length: n }, (_, i) => {
        const sum = values.slice(i * joined, (i + 1) * joined).reduce((all, value) => all + value, 0);
        return sum / (edges[i + 1] - edges[i]);
      }),
    );
    return { side, edges, rates, width: joined * side.step_s };
  });
}
