// Bandwidth per OST: the sum, all OSTs as a heat map if there are many, and single OSTs.

const FEW_LANES = 8;

const bandwidthSection = () =>
  section({
    id: "bandwidth",
    title: "Bandwidth per OST",
    plots: ["bandwidth-per-ost", "requests-per-client", "lock-cost"],
    how:
      "One lane per OST, all with one scale that begins at 0. The height is bytes per second; the bytes of an RPC are spread evenly " +
      "over the time in which it was handled. Hatched is the part whose size is only estimated. With many OSTs each is a row of the " +
      "heat map; click rows to see them as lanes. One OST far above or below the others: a bad stripe layout, or a slow OST. Gaps that " +
      "all share: the clients or the network. Where there are more bins than pixels, each column of pixels shows its highest bin: zoom " +
      "in to see them all. With clients or objects selected, the lanes are made of single RPCs.",
    follows: ["time", "targets", "clients", "objects", "direction"],
    missing: () => (DATA.series.lanes.length ? null : `No reads or writes on OSTs ${AMONG}.`),
    build: buildBandwidth,
    wide: true,
  });

function buildBandwidth(body, controls) {
  const edges = precise(DATA.series.edges_s);
  const bins = edges.length - 1;
  let measure = "bytes";
  let lanesShown = FEW_LANES;
  const widths = Array.from({ length: bins }, (_, i) => edges[i + 1] - edges[i]);
  const heat = DATA.series.heat && {
    ...DATA.series.heat,
    edges: precise(DATA.series.heat.edges_s),
    read: rough(DATA.series.heat.read_bytes),
    write: rough(DATA.series.heat.write_bytes),
  };
  const arrays = new Map();
  const columns = (lane) => {
    if (!arrays.has(lane))
      arrays.set(
        lane,
        Object.fromEntries(
          Object.values(MEASURES)
            .flatMap((it) => it.of)
            .map((key) => [key, dense(lane[key], bins)]),
        ),
      );
    return arrays.get(lane);
  };

  const note = el("p.sample", { hidden: true });
  controls.append(
    choice(
      "Show",
      Object.entries(MEASURES).map(([key, it]) => [key, it.name]),
      measure,
      (value) => {
        measure = value;
        update();
      },
    ),
  );
  const more = el("button", {
    type: "button",
    onclick: () => {
      lanesShown = lanesShown > FEW_LANES ? FEW_LANES : DATA.series.lanes.length;
      update();
    },
  });
  controls.append(more);
  const key = el("div");
  body.append(key, note);

  /** The lanes of a measure out of single RPCs, by target; -1 is the sum. */
  function fromSample(it) {
    const rpc = sample();
    const lanes = new Map();
    const lane = (target) => {
      if (!lanes.has(target))
        lanes.set(target, {
          target: target < 0 ? null : target,
          known: true,
          columns: Object.fromEntries(
            ["read_bytes", "write_bytes", "read_rpcs", "write_rpcs", "queued", "in_process"].map((name) => [name, new Float32Array(bins)]),
          ),
        });
      return lanes.get(target).columns;
    };
    for (const i of sampled({ ...it, time: null })) {
      const way = rpc.write[i] ? "write" : "read";
      for (const into of [lane(-1), lane(Number.isNaN(rpc.target[i]) ? -2 : rpc.target[i])]) {
        if (!Number.isNaN(rpc.bytes[i])) spread(into[`${way}_bytes`], edges, rpc.start[i], rpc.end[i], rpc.bytes[i] * SAMPLE_ONE_IN);
        into[`${way}_rpcs`][Math.min(bins - 1, binOf(edges, rpc.end[i]))] += SAMPLE_ONE_IN;
        spread(into.queued, edges, rpc.arrival[i], rpc.start[i], (rpc.start[i] - rpc.arrival[i]) * SAMPLE_ONE_IN);
        spread(into.in_process, edges, rpc.start[i], rpc.end[i], (rpc.end[i] - rpc.start[i]) * SAMPLE_ONE_IN);
      }
    }
    for (const { columns: own } of lanes.values()) {
      for (const name of ["queued", "in_process"]) own[name] = own[name].map((value, bin) => value / widths[bin]);
    }
    return lanes;
  }

  /** A lane of an OST that has none of its own, from the coarser heat map. */
  function fromHeat(target) {
    const row = heat ? heat.targets.indexOf(target) : -1;
    if (row < 0) return null;
    const n = heat.edges.length - 1;
    const own = { read_bytes: heat.read.slice(row * n, (row + 1) * n), write_bytes: heat.write.slice(row * n, (row + 1) * n) };
    return { target, edges: heat.edges, columns: own };
  }

  function chosenLanes(it) {
    if (needsSample(it)) {
      const made = fromSample(it);
      const single = [...made]
        .filter(([target]) => target !== -1)
        .sort((a, b) => a[0] - b[0])
        .map(([, lane]) => lane);
      return { total: made.get(-1), lanes: single.slice(0, Math.max(FEW_LANES, lanesShown)), of: single.length };
    }
    const own = DATA.series.lanes.map((lane) => ({ target: lane.target, columns: columns(lane), ceilings: lane }));
    const total = { target: null, columns: columns(DATA.series.total), ceilings: DATA.series.total };
    if (it.targets.length) {
      const lanes = it.targets.map((target) => own.find((lane) => lane.target === target) ?? fromHeat(target)).filter(Boolean);
      return { total, lanes, of: lanes.length };
    }
    const n = DATA.series.heat && lanesShown === FEW_LANES ? 4 : lanesShown;
    // Few OSTs in the order of their names, so that the eye finds them; of many the busiest.
    const rank = ({ target }) => (target === null ? 2 : targetName(target).startsWith("MDT") ? 1 : 0);
    const byName = (a, b) => rank(a) - rank(b) || targetName(a.target).localeCompare(targetName(b.target));
    const order = accusedFirst("targets", own.length <= n ? [...own].sort(byName) : own, (lane) => lane.target);
    return { total, lanes: order.slice(0, n), of: own.length };
  }

  function parts(lane, it) {
    const { rate, of } = MEASURES[measure];
    const at = lane.edges ?? edges;
    const { words } = MEASURES[measure];
    // Of the first and second word are the columns at even and odd places.
    const shown = (name) => !isHidden("bandwidth", words[of.indexOf(name) % 2]);
    const on = (name) => (measure === "load" || it.direction.includes(name[0])) && shown(name);
    const values = (name) => {
      const raw = lane.columns[name] ?? new Float32Array(at.length - 1);
      return Array.from(raw, (value, i) => (on(name) ? (rate ? value / (at[i + 1] - at[i]) : value) : 0));
    };
    const [first, second, firstBounded, secondBounded] = of.map(values);
    return { edges: at, first, second, firstBounded, secondBounded };
  }

  const laneColors = () => (measure === "load" ? [colors.service, colors.queue] : [colors.read, colors.write]);

  function drawn(lane, it, title, height) {
    const part = parts(lane, it);
    const [firstColor, secondColor] = laneColors();
    const sum = part.first.map((value, i) => value + part.second[i]);
    const series = [];
    // The higher ones first; what is drawn later covers their lower part.
    if (part.secondBounded?.some(Boolean)) series.push(stepArea("", part.edges, sum, hatch(secondColor), secondColor));
    series.push(
      stepArea(
        "",
        part.edges,
        sum.map((value, i) => value - (part.secondBounded?.[i] ?? 0)),
        pale(secondColor, 0.75),
        part.secondBounded?.some(Boolean) ? null : secondColor,
      ),
    );
    if (part.firstBounded?.some(Boolean)) series.push(stepArea("", part.edges, part.first, hatch(firstColor), firstColor));
    series.push(
      stepArea(
        "",
        part.edges,
        part.first.map((value, i) => value - (part.firstBounded?.[i] ?? 0)),
        pale(firstColor, 0.75),
        part.firstBounded?.some(Boolean) ? null : firstColor,
      ),
    );
    const [from, to] = visible(it);
    const seen = sum.filter((_, i) => part.edges[i + 1] > from && part.edges[i] < to);
    const { text, words } = MEASURES[measure];
    // What the user's survey says an OST can deliver.
    const ceilings =
      measure !== "bytes" || !lane.ceilings
        ? []
        : [
            ["r", "read_ceiling", "read"],
            ["w", "write_ceiling", "write"],
          ]
            .filter(([way, key]) => it.direction.includes(way) && lane.ceilings[key])
            .map(([, key, color]) => [lane.ceilings[key], colors[color], color === "read" ? "read" : "written"]);
    series.push(
      ...ceilings.map(([rate, color]) => ({
        type: "line",
        data: [
          [from, rate],
          [to, rate],
        ],
        symbol: "none",
        silent: true,
        lineStyle: { color, width: 1.5, type: "dashed" },
      })),
    );
    const highest = seen.reduce((most, value) => Math.max(most, value), 0);
    return {
      title,
      accused: isAccused("targets", lane.target),
      height,
      series,
      highest,
      top: Math.max(highest, ...ceilings.map(([rate]) => rate)),
      note:
        ceilings.length && highest > 0
          ? `highest ${text(highest)}; dashed: can deliver ${ceilings.map(([rate, , word]) => `${text(rate)} ${word}`).join(", ")}`
          : undefined,
      value: (time) => text(sum[binOf(part.edges, time)]),
      hover: (time) => {
        const bin = binOf(part.edges, time);
        const doubt = (bounded) => (bounded?.[bin] > 0 ? RULES.estimated : "");
        const rows = [
          [firstColor, words[0], doubt(part.firstBounded) + text(part.first[bin])],
          [secondColor, words[1], doubt(part.secondBounded) + text(part.second[bin])],
        ];
        return {
          head: `${title}, ${timeRange(part.edges[bin], part.edges[bin + 1])}`,
          rows: rows.filter((_, i) => measure === "load" || it.direction.includes("rw"[i])),
          foot: needsSample(it) && SAMPLE_ONE_IN > 1 ? SAMPLE_NOTE : null,
        };
      },
      pick: () => lane.target !== null && lane.target !== undefined && toggleSelected("targets", lane.target),
    };
  }

  const chart = timeChart(body, {
    label: "Bandwidth per OST over time",
    lanes(it, width) {
      const chosen = chosenLanes(it);
      if (needsSample(it) && !chosen.total)
        return {
          empty:
            SAMPLE_ONE_IN > 1
              ? `None of the sampled RPCs (1 in ${count(SAMPLE_ONE_IN)}) is of what is selected.`
              : "No reads or writes of what is selected.",
        };
      const several = chosen.lanes.length > 1 || chosen.of > 1;
      const name = (lane) =>
        lane.target === null || lane.target === undefined
          ? `${DATA.names.unattributed} (the log does not name the OST)`
          : marked("targets", lane.target, targetName(lane.target));
      const lanes = [];
      if (several || !chosen.lanes.length) lanes.push(drawn(chosen.total, it, needsSample(it) ? "All of the selection" : "All OSTs", 110));
      const { axis, text, tick = text } = MEASURES[measure];
      let highestCell = 0;
      if (heat && measure === "bytes" && !needsSample(it) && it.targets.length !== 1) {
        const map = heatLane(heat, it, width);
        highestCell = map.highest;
        lanes.push(map);
      }
      const single = chosen.lanes.map((lane) => drawn(lane, it, name(lane), chosen.lanes.length > 4 ? 64 : 84));
      if (chosen.lanes.length < chosen.of && !needsSample(it)) {
        const which = single.some((lane) => lane.accused) ? "those that findings name and the busiest:" : "the busiest";
        single[0].first = `${which} ${single.length} of ${plural(DATA.totals.osts, "OST")}: `;
      }
      lanes.push(...single);
      const scale = Math.max(0, ...single.map((lane) => lane.top));
      for (const lane of lanes) {
        lane.y ??= {
          ...axis(single.includes(lane) ? scale : (lane.top ?? lane.highest), 3),
          axisLabel: { formatter: (value) => (value ? tick(value) : "0") },
        };
        lane.note ??=
          (lane.first ?? "") +
          (lane.highest > 0
            ? `highest ${text(lane.highest)}`
            : visible(it) && it.time
              ? "nothing in the visible time"
              : measure === "bytes"
                ? "no known bytes"
                : "nothing");
      }
      return {
        lanes,
        highestCell,
        summary: `${plural(lanes.length, "lane")}, highest ${text(Math.max(0, ...lanes.map((lane) => lane.highest)))}`,
      };
    },
  });

  const list = ostTable(body);

  function update() {
    const [first, second] = laneColors();
    const { words } = MEASURES[measure];
    const hatched =
      measure === "bytes" &&
      [DATA.series.total.read_bounded_bytes, DATA.series.total.write_bounded_bytes].some(Boolean) &&
      !needsSample(selection);
    chart.refresh();
    fill(
      key,
      legend([[first, words[0]], [second, words[1]], ...(hatched ? [[colors.muted, "size estimated", "hatched"]] : [])], {
        view: "bandwidth",
        redraw: update,
      }),
      chart.plan?.highestCell ? heatLegend("0", byteRate(chart.plan.highestCell), "heat map, square-root scale") : null,
    );
    note.textContent = needsSample(selection) ? `Clients and objects over time: ${SAMPLE_NOTE}.` : movedBefore();
    note.hidden = !note.textContent;
    more.hidden = selection.targets.length > 0 || DATA.series.lanes.length <= FEW_LANES;
    more.textContent =
      lanesShown > FEW_LANES ? "Fewer OSTs" : `${DATA.series.heat ? "Busiest" : "All"} ${DATA.series.lanes.length} OSTs as lanes`;
    list.show();
  }
  return update;
}
