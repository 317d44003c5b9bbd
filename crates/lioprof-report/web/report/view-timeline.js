// Every RPC as a bar: pale while it waits for a thread, full while it is handled.

const timelineSection = () =>
  section({
    id: "timeline",
    title: "I/O timeline",
    plots: ["io-timeline"],
    how:
      "One row per client (or OST), one bar per RPC from arrival to end: pale while it waits for a thread, full while it is handled. " +
      "RPCs that overlap are drawn below each other: the height of a pack is how many were under way. Long pale parts: queueing. Bars " +
      "of many clients that end together: they all waited for one thing. One bar after the other where a client could have eight under " +
      "way: the application waits for each. Zoom in to tell single bars.",
    follows: ["time", "targets", "clients", "objects", "direction"],
    missing: () =>
      DATA.sample.direction.length
        ? null
        : "No single RPCs in this analysis: nothing was read or written, or not in the selected part of the capture.",
    build: buildTimeline,
    wide: true,
  });

const TIMELINE_ROWS = 16;
const TIMELINE_DEPTH = 8;
const TIMELINE_WORDS = ["read, handled", "write, handled"];

function buildTimeline(body, controls) {
  const rpc = sample();
  let by = "client";
  controls.append(
    choice(
      "Rows",
      [
        ["client", "Clients"],
        ["target", "OSTs"],
      ],
      by,
      (value) => {
        by = value;
        update();
      },
    ),
  );
  const key = el("div");
  const note = el("p.note");
  body.append(key);

  const chart = timeChart(body, {
    label: "Single reads and writes over time",
    lanes(it, width) {
      const found = sampled(it).filter((i) => !isHidden("timeline", TIMELINE_WORDS[rpc.write[i] ? 1 : 0]));
      if (!found.length)
        return {
          empty:
            SAMPLE_ONE_IN > 1
              ? `None of the sampled RPCs (1 in ${count(SAMPLE_ONE_IN)}) is of what is selected.`
              : "No reads or writes of what is selected in the visible time.",
        };
      const [from, to] = visible(it);
      const groups = new Map();
      for (const i of found) {
        const at = rpc[by][i];
        const name = Number.isNaN(at) ? -1 : at;
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(i);
      }
      const nameOf = (at) => (at < 0 ? DATA.names.unattributed : by === "client" ? clientName(at) : targetName(at));
      const kind = by === "client" ? "clients" : "targets";
      const most = [...groups].sort((a, b) => b[1].length - a[1].length);
      const order = accusedFirst(kind, most, ([at]) => at)
        .slice(0, TIMELINE_ROWS)
        .sort((a, b) => nameOf(a[0]).localeCompare(nameOf(b[0]), "en", { numeric: true }));
      const bars = [];
      // A row is as high as it has RPCs under way at once, up to a limit beyond which bars share a line.
      const rows = order.map(([name, list]) => {
        const ends = [];
        const pixel = (to - from) / width;
        for (const i of [...list].sort((a, b) => rpc.arrival[a] - rpc.arrival[b])) {
          let line = ends.findIndex((end) => end <= rpc.arrival[i] - pixel * 0.2);
          if (line < 0) line = ends.length < TIMELINE_DEPTH ? ends.length : i % TIMELINE_DEPTH;
          ends[line] = Math.max(rpc.end[i], rpc.arrival[i] + pixel);
          bars.push({ i, row: name, line });
        }
        return { name, lines: ends.length };
      });
      const tops = [];
      let lines = 0;
      for (const row of rows) {
        tops.push(lines + 0.3);
        row.top = lines + 0.3;
        lines += row.lines + 0.6;
      }
      const topOf = new Map(rows.map((row) => [row.name, row.top]));
      const height = Math.round(Math.max(60, Math.min(lines * 11, 620)));
      const middles = rows.map((row) => row.top + row.lines / 2);
      const barAt = (time, y) =>
        bars.find(({ i, row, line }) => {
          const slack = ((to - from) / width) * 2;
          return (
            time >= rpc.arrival[i] - slack && time <= rpc.end[i] + slack && Math.floor(y - topOf.get(row)) === line && y >= topOf.get(row)
          );
        });
      return {
        wide: true,
        found: bars.length,
        hidden: groups.size - order.length,
        depth: rows.some((row) => row.lines >= TIMELINE_DEPTH),
        summary: `${plural(bars.length, "RPC")} in ${plural(rows.length, "row")}`,
        lanes: [
          {
            height,
            y: {
              min: 0,
              max: lines,
              inverse: true,
              interval: lines,
              axisLabel: { show: false },
              axisTick: { show: false },
              splitLine: { show: false },
            },
            series: [
              {
                type: "custom",
                silent: true,
                clip: true,
                encode: { x: [0, 2], y: 3 },
                // Labels of the rows stand beside the plot.
                markLine: {
                  silent: true,
                  symbol: "none",
                  animation: false,
                  lineStyle: { color: colors.grid, type: "solid" },
                  data: rows.slice(1).map((row) => ({ yAxis: row.top - 0.3, label: { show: false } })),
                },
                data: bars.map(({ i, row, line }) => [rpc.arrival[i], rpc.start[i], rpc.end[i], topOf.get(row) + line]),
                renderItem(parameters, api) {
                  const { i } = bars[parameters.dataIndex];
                  const [x0, y0] = api.coord([api.value(0), api.value(3)]);
                  const [x1] = api.coord([api.value(1), 0]);
                  const [x2, y1] = api.coord([api.value(2), api.value(3) + 0.86]);
                  const color = rpc.write[i] ? colors.write : colors.read;
                  const left = parameters.coordSys.x;
                  const right = left + parameters.coordSys.width;
                  const clip = (a, b) => ({
                    x: Math.max(a, left - 1),
                    width: Math.max(0.8, Math.min(b, right + 1) - Math.max(a, left - 1)),
                  });
                  const rect = (a, b, fillStyle) => ({
                    type: "rect",
                    shape: { ...clip(a, b), y: y0, height: y1 - y0 },
                    style: { fill: fillStyle },
                  });
                  return {
                    type: "group",
                    children: x1 - x0 > 0.5 ? [rect(x0, x1, pale(color, 0.35)), rect(x1, x2, color)] : [rect(x0, x2, color)],
                  };
                },
              },
            ],
            names: rows.map((row, at) => [marked(kind, row.name, nameOf(row.name)), middles[at], row.name]),
            hover: (time, y) => {
              const hit = barAt(time, y);
              if (!hit) return null;
              const { i } = hit;
              const target = Number.isNaN(rpc.target[i]) ? "an OST that the log does not name" : targetName(rpc.target[i]);
              return {
                head: `${rpc.write[i] ? "Write" : "Read"} by ${clientName(rpc.client[i])} on ${target}`,
                rows: [
                  [null, "arrived", timeLabel(rpc.arrival[i], 1e-3)],
                  [pale(rpc.write[i] ? colors.write : colors.read, 0.35), "waited for a thread", micros(rpc.queueUs[i])],
                  [rpc.write[i] ? colors.write : colors.read, "handled", micros(rpc.serviceUs[i])],
                  ...rpcFacts(i),
                  [null, "bytes", Number.isNaN(rpc.bytes[i]) ? UNKNOWN : bytes(rpc.bytes[i])],
                  ...(Number.isNaN(rpc.first[i]) ? [] : [[null, "from byte", count(rpc.first[i])]]),
                  ...(Number.isNaN(rpc.object[i]) ? [] : [[null, "object", DATA.names.objects[rpc.object[i]][1]]]),
                ],
              };
            },
            pick: (_, y) => {
              const row = rows.find((it2) => y >= it2.top - 0.3 && y < it2.top + it2.lines + 0.3);
              if (row && row.name >= 0) toggleSelected(kind, row.name);
            },
          },
        ],
      };
    },
  });
  rowNames(chart);
  body.append(note);

  function update() {
    chart.refresh();
    fill(
      key,
      legend(
        [
          [colors.read, TIMELINE_WORDS[0]],
          [colors.write, TIMELINE_WORDS[1]],
        ],
        { view: "timeline", redraw: update },
      ),
      legend([
        [pale(colors.read, 0.35), "read, waiting for a thread"],
        [pale(colors.write, 0.35), "write, waiting for a thread"],
      ]),
    );
    const { plan } = chart;
    note.textContent = plan?.empty
      ? ""
      : [
          SAMPLE_ONE_IN > 1
            ? `${count(plan?.found)} of the visible RPCs: 1 in ${count(SAMPLE_ONE_IN)} is kept.`
            : `Every one of the ${count(plan?.found)} RPCs that are visible.`,
          plan?.hidden > 0 ? `${plural(plan.hidden, "row")} with fewer RPCs not shown.` : "",
          plan?.depth ? `Where more than ${TIMELINE_DEPTH} overlap, bars share a line.` : "",
        ]
          .filter(Boolean)
          .join(" ");
  }
  return update;
}

/** Writes the names of a lane's rows (`names`: text, place on the y axis) to the left of the plot. */
function rowNames(chart) {
  const plain = chart.makeOption;
  chart.makeOption = (plan, width) => {
    const option = plain(plan, width);
    option.graphic = plan.lanes.flatMap((lane) =>
      (lane.names ?? []).map(([text, at]) => ({
        type: "text",
        silent: true,
        right: width - plan.left + 8,
        top: lane.top + ((at - lane.y.min) / (lane.y.max - lane.y.min)) * lane.height - colors.font * 0.55,
        style: { text, fill: colors.muted, fontSize: colors.font, width: plan.left - 12, overflow: "truncate", ellipsis: "…" },
      })),
    );
    return option;
  };
}
