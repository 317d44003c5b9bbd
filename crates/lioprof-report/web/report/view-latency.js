// How long reads and writes took: over time, and as a distribution of what is visible.

const latencySection = () =>
  section({
    id: "latency",
    title: "Latency",
    plots: ["latency-heatmap", "io-time-distribution"],
    how:
      "Time to the right, time from arrival to end of an RPC upwards (logarithmic); darkness (in the dark theme: brightness) is the " +
      "number of RPCs, logarithmic. A band that climbs: a queue builds up. A second band high above: some RPCs wait for something " +
      "else, such as disk instead of cache, or a lock. Single cells far up: stragglers that a mean hides. Below: how many RPCs of the " +
      "visible time took how long; two humps are two kinds of I/O.",
    follows: ["time", "targets", "clients", "objects", "direction"],
    missing: () => (DATA.latency.length ? null : `No read or write with times ${AMONG}.`),
    build: buildLatency,
  });

function buildLatency(body) {
  const maps = DATA.latency.map((it) => ({ ...it, edges: precise(it.edges_s) }));
  const key = el("div");
  const note = el("p.sample", { hidden: true });
  body.append(key, note);
  // A few RPCs more or less are no difference in colour.
  const LEAST_SCALE = 10;
  let most = LEAST_SCALE;

  /** Cells of a direction: those of the analysis, or made of single RPCs for what it has no sums of. */
  function cellsOf(map, it) {
    if (!needsSample(it) && !it.targets.length) return map.cells;
    const rpc = sample();
    const sums = new Map();
    for (const i of sampled({ ...it, direction: map.direction[0], time: null })) {
      const total = rpc.queueUs[i] + rpc.serviceUs[i];
      let bucket = map.edges_us.findLastIndex((edge) => edge <= total);
      bucket = Math.max(0, Math.min(bucket, map.edges_us.length - 1));
      const at = binOf(map.edges, rpc.end[i]) * 1000 + bucket;
      sums.set(at, (sums.get(at) ?? 0) + SAMPLE_ONE_IN);
    }
    return [...sums].map(([at, rpcs]) => [Math.floor(at / 1000), at % 1000, rpcs]);
  }

  const wanted = (it) => maps.filter((map) => it.direction.includes(map.direction[0]));
  const low = (map, bucket) => Math.max(map.edges_us[bucket], 0.5);
  const high = (map, bucket) => (bucket + 1 < map.edges_us.length ? map.edges_us[bucket + 1] : map.edges_us[bucket] * 1.19);
  const fromSampleNow = (it) => needsSample(it) || it.targets.length > 0;

  const chart = timeChart(body, {
    label: "Time from arrival to end of reads and writes, over time",
    lanes(it, width) {
      const shown = wanted(it)
        .map((map) => ({ map, cells: cellsOf(map, it) }))
        .filter(({ cells }) => cells.length);
      if (!shown.length)
        return {
          empty:
            fromSampleNow(it) && SAMPLE_ONE_IN > 1
              ? `None of the sampled RPCs (1 in ${count(SAMPLE_ONE_IN)}) is of what is selected.`
              : "No reads or writes of what is selected.",
        };
      const [from, to] = visible(it);
      const bottom = Math.min(...shown.map(({ map, cells }) => Math.min(...cells.map(([, bucket]) => low(map, bucket)))));
      const top = Math.max(...shown.map(({ map, cells }) => Math.max(...cells.map(([, bucket]) => high(map, bucket)))));
      const logs = [Math.floor(Math.log10(bottom) * 2) / 2, Math.ceil(Math.log10(top) * 2) / 2];
      most = Math.max(
        LEAST_SCALE,
        ...shown.flatMap(({ map, cells }) =>
          cells.filter(([bin]) => map.edges[bin + 1] > from && map.edges[bin] < to).map(([, , rpcs]) => rpcs),
        ),
      );
      const ticks = roundTimes(...logs, 6);
      const lane = ({ map, cells }) => {
        const at = new Map(cells.map(([bin, bucket, rpcs]) => [bin * 1000 + bucket, rpcs]));
        const rpcs = cells.reduce((sum, [bin, , n]) => sum + (map.edges[bin + 1] > from && map.edges[bin] < to ? n : 0), 0);
        return {
          title: map.direction === "read" ? "Reads" : "Writes",
          note: `${fromSampleNow(it) && SAMPLE_ONE_IN > 1 ? RULES.estimated : ""}${plural(rpcs, "RPC")}`,
          height: width < 600 ? 130 : 150,
          y: {
            min: logs[0],
            max: logs[1],
            axisLabel: { customValues: ticks, formatter: (value) => micros(10 ** value) },
            axisTick: { customValues: ticks },
            splitLine: { show: false },
          },
          series: [
            picture((pen, w, h) => {
              pen.fillStyle = colors.empty;
              pen.fillRect(0, 0, w, h);
              const x = (time) => ((time - from) / (to - from)) * w;
              const y = (us) => (1 - (Math.log10(us) - logs[0]) / (logs[1] - logs[0])) * h;
              for (const [bin, bucket, n] of cells) {
                const [x0, x1] = [Math.round(x(map.edges[bin])), Math.round(x(map.edges[bin + 1]))];
                if (x1 < 0 || x0 > w) continue;
                const [y0, y1] = [Math.round(y(high(map, bucket))), Math.round(y(low(map, bucket)))];
                pen.fillStyle = heatColor(0.08 + 0.92 * logShare(n, 1, most));
                pen.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
              }
            }),
          ],
          hover: (time, value) => {
            const bin = binOf(map.edges, time);
            const bucket = map.edges_us.findLastIndex((edge, i) => Math.max(edge, 0.5) <= 10 ** value && i < map.edges_us.length);
            const n = at.get(bin * 1000 + bucket);
            return n
              ? {
                  head: timeRange(map.edges[bin], map.edges[bin + 1]),
                  rows: [[null, `${micros(map.edges_us[bucket])} to ${micros(high(map, bucket))}`, plural(n, "RPC")]],
                }
              : null;
          },
        };
      };
      return {
        lanes: shown.map(lane),
        summary: shown
          .map(
            ({ map, cells }) =>
              `${plural(
                cells.reduce((sum, it2) => sum + it2[2], 0),
                map.direction,
              )}`,
          )
          .join(", "),
      };
    },
  });

  const marks = el("ul.note.plain-list");
  const distribution = new Chart(body, {
    label: "Distribution of the time from arrival to end",
    layout() {
      const [from, to] = visible();
      const shown = wanted(selection)
        .map((map) => {
          const sums = new Map();
          for (const [bin, bucket, rpcs] of cellsOf(map, selection)) {
            if (map.edges[bin + 1] > from && map.edges[bin] < to) sums.set(bucket, (sums.get(bucket) ?? 0) + rpcs);
          }
          return { map, sums };
        })
        .filter(({ sums }) => sums.size);
      if (!shown.length) return { empty: "No reads or writes ended in the visible time." };
      const room = Math.round(colors.font * 9);
      return {
        shown,
        room,
        height: shown.length * room + Math.round(colors.font * 2),
        summary: shown.map(({ map, sums }) => `${count([...sums.values()].reduce((a, b) => a + b, 0))} ${map.direction}s`).join(", "),
      };
    },
    option({ shown, room }, width) {
      const bars = shown.map(({ map, sums }) =>
        [...sums].map(([bucket, rpcs]) => [Math.log10(low(map, bucket)), Math.log10(high(map, bucket)), rpcs]),
      );
      const [first, last] = [Math.min(...bars.flat().map((it) => it[0])), Math.max(...bars.flat().map((it) => it[1]))];
      const pad = Math.max(0.05, (last - first) * 0.02);
      const ticks = roundTimes(first - pad, last + pad, width / (colors.font * 5));
      return {
        grid: shown.map((_, i) => ({
          left: gutter(width),
          right: Math.round(colors.font * 2),
          top: i * room + Math.round(colors.font * 2.2),
          height: room - Math.round(colors.font * 2.9),
        })),
        title: shown.map(({ map }, i) => ({
          text: `{t|${map.direction === "read" ? "Reads" : "Writes"}}  {n|how many took how long}`,
          left: gutter(width) - 5,
          top: i * room,
          padding: [4, 5],
          textStyle: {
            rich: {
              t: { fontSize: colors.font * 1.05, fontWeight: 600, color: colors.ink },
              n: { fontSize: colors.font, color: colors.muted },
            },
          },
        })),
        xAxis: shown.map((_, i) => ({
          type: "value",
          gridIndex: i,
          min: first - pad,
          max: last + pad,
          ...axisLook({
            splitLine: { show: false },
            axisLabel: { show: i === shown.length - 1, customValues: ticks, formatter: (value) => micros(10 ** value) },
          }),
          axisTick: { show: true, customValues: ticks, lineStyle: { color: colors.line } },
        })),
        yAxis: bars.map((list, i) => ({
          type: "value",
          gridIndex: i,
          ...axisLook({ axisLabel: { formatter: (value) => count(value) } }),
          ...countFromZero(Math.max(...list.map((it) => it[2])), 2),
        })),
        series: bars.map((list, i) => ({
          type: "custom",
          silent: true,
          clip: true,
          encode: { x: [0, 1], y: 2 },
          data: list,
          xAxisIndex: i,
          yAxisIndex: i,
          renderItem(_, api) {
            const [x0, y0] = api.coord([api.value(0), api.value(2)]);
            const [x1, y1] = api.coord([api.value(1), 0]);
            return {
              type: "rect",
              shape: { x: x0, y: y0, width: Math.max(1, x1 - x0 - 0.6), height: y1 - y0 },
              style: { fill: colors[shown[i].map.direction] },
            };
          },
        })),
      };
    },
  });
  body.append(marks);

  return () => {
    chart.refresh();
    distribution.refresh();
    fill(key, chart.plan?.empty ? null : heatLegend("1 RPC", plural(most, "RPC"), "RPCs per cell"));
    const ways = wanted(selection).map((map) => map.direction);
    note.hidden = !fromSampleNow(selection);
    note.textContent = fromSampleNow(selection) ? `Latency of single targets, clients and objects: ${SAMPLE_NOTE}.` : "";
    fill(
      marks,
      !selection.time && !fromSampleNow(selection)
        ? DATA.operations.rows
            .filter((it) => ["OST_READ", "OST_WRITE"].includes(it.name) && ways.includes(it.name.slice(4).toLowerCase()))
            .map((it) =>
              el(
                "li",
                null,
                `${it.name} on ${it.service}: median ${micros(it.total_us[2])}, ` +
                  `99 % ${micros(it.total_us[4])}, slowest ${micros(it.total_us[5])}`,
              ),
            )
        : null,
    );
  };
}
