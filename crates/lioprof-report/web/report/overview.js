// The whole run at a glance, in the bar that stays in sight.

/** All bytes over all of the time; the selected stretch stands out. */
function overviewChart(parent) {
  const edges = precise(DATA.series.edges_s);
  const read = dense(DATA.series.total.read_bytes, edges.length - 1);
  const write = dense(DATA.series.total.write_bytes, edges.length - 1);
  const rates = Array.from(read, (value, i) => (value + write[i]) / (edges[i + 1] - edges[i]));
  return timeChart(parent, {
    label: "Overview of all reads and writes",
    saved: false,
    lanes: () => {
      if (!rates.some((it) => it > 0)) return { empty: "no bytes of reads or writes over time" };
      const highest = rates.reduce((most, rate) => Math.max(most, rate), 0);
      const series = stepArea("all", edges, rates, pale(colors.accent, 0.55), colors.accent);
      const marks = [];
      if (selection.time) marks.push([{ xAxis: selection.time[0] }, { xAxis: selection.time[1] }]);
      series.markArea = { silent: true, data: marks, itemStyle: { color: colors.accent, opacity: 0.22 } };
      series.markLine = {
        silent: true,
        symbol: "none",
        label: { show: false },
        animation: false,
        lineStyle: { color: colors.muted, type: "dotted" },
        data: DATA.markers.map((it) => ({ xAxis: it.at_s })),
      };
      return {
        range: [0, SPAN_S],
        summary: `highest ${byteRate(highest)}`,
        lanes: [
          {
            height: Math.round(colors.font * 2.6),
            gap: 0.4,
            series: [series],
            y: {
              ...bytesFromZero(highest, 1),
              axisLabel: { formatter: (value) => (value ? `${roundBytes(value)}/s` : "0"), hideOverlap: false },
            },
            pick: () => select({ time: null }),
            hover: (time) => {
              const bin = binOf(edges, time);
              const mark = DATA.markers.find((it) => Math.abs(it.at_s - time) < SPAN_S / 200);
              return {
                head: timeRange(edges[bin], edges[bin + 1]),
                rows: [[colors.accent, "reads and writes", byteRate(rates[bin])]],
                foot: mark && `mark: ${mark.text}`,
              };
            },
          },
        ],
      };
    },
  });
}
