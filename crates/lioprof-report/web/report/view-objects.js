// Objects: how much, by how many, and which bytes when.

const objectsSection = () =>
  section({
    id: "objects",
    title: "Objects",
    plots: ["object-offsets"],
    how:
      "An object is the part of a file on one OST. In the chart a mark is one RPC: when it was handled, and where it began and ended; " +
      "the colour is the client; filled marks are writes, hollow ones reads. Colours mixed within one band: clients that may take " +
      "locks from each other. Rising lines are sequential, clouds random I/O. Click a row to see that object.",
    follows: ["time", "targets", "clients", "objects", "direction"],
    missing: () =>
      DATA.objects.rows.length
        ? null
        : !DATA.totals.rpcs
          ? `No RPC ${AMONG}.`
          : "No object is known: mask rpctrace names objects of buffered I/O, dlmtrace also those of direct I/O.",
    build: buildObjects,
    wide: true,
  });

const OBJECT_LANES = 3;

/** What lanes and their order count. */
const SAMPLED_RPC = SAMPLE_ONE_IN > 1 ? "sampled RPC" : "RPC";

function buildObjects(body) {
  const rpc = sample();
  const key = el("div");
  const note = el("p.note");
  body.append(key);
  const chart = timeChart(body, {
    label: "Bytes of objects touched over time",
    lanes(it, width) {
      const groups = new Map();
      for (const i of sampled(it)) {
        if (Number.isNaN(rpc.object[i]) || Number.isNaN(rpc.first[i])) continue;
        if (!groups.has(rpc.object[i])) groups.set(rpc.object[i], []);
        groups.get(rpc.object[i]).push(i);
      }
      if (!groups.size)
        return {
          empty: rpc.length
            ? "No read or write of what is selected, in the visible time, whose object and bytes are known."
            : "No single RPCs in this analysis.",
        };
      const bySize = [...groups].sort((a, b) => b[1].length - a[1].length || a[0] - b[0]);
      const order = accusedFirst("objects", bySize, ([object]) => object).slice(0, it.objects.length ? 6 : OBJECT_LANES);
      const clients = [...new Set(order.flatMap(([, list]) => list.map((i) => rpc.client[i])))];
      return {
        clients,
        hidden: groups.size - order.length,
        summary: order.map(([object, list]) => `${objectName(object)}: ${plural(list.length, SAMPLED_RPC)}`).join("; "),
        lanes: order.map(([object, all]) => {
          const list = all.filter((i) => !isHidden("objects", clientName(rpc.client[i])));
          const last = (i) => (Number.isNaN(rpc.last[i]) ? rpc.first[i] : rpc.last[i]);
          const top = list.reduce((most, i) => Math.max(most, last(i)), 1);
          const axis = bytesFromZero(top, 3);
          return {
            title: marked("objects", object, objectName(object)),
            accused: isAccused("objects", object),
            note: `${plural(list.length, SAMPLED_RPC)} of ${plural(new Set(list.map((i) => rpc.client[i])).size, "client")}`,
            height: width < 600 ? 130 : 160,
            y: { ...axis, axisLabel: { formatter: roundBytes } },
            series: [
              {
                type: "custom",
                silent: true,
                clip: true,
                encode: { x: [0, 1], y: [2, 3] },
                data: list.map((i) => [rpc.start[i], rpc.end[i], rpc.first[i], last(i)]),
                renderItem(parameters, api) {
                  const i = list[parameters.dataIndex];
                  const [x0, y1] = api.coord([api.value(0), api.value(2)]);
                  const [x1, y0] = api.coord([api.value(1), api.value(3)]);
                  const color = clientColor(rpc.client[i]);
                  const height = Math.max(2, y1 - y0);
                  const left = Math.max(x0, parameters.coordSys.x - 2);
                  const wide = Math.max(2.5, Math.min(x1, parameters.coordSys.x + parameters.coordSys.width + 2) - left);
                  return {
                    type: "rect",
                    shape: { x: left, y: y1 - height, width: wide, height },
                    style: rpc.write[i]
                      ? { fill: color, stroke: colors.surface, lineWidth: height > 4 ? 0.5 : 0 }
                      : { fill: pale(color, 0.15), stroke: color, lineWidth: 1 },
                  };
                },
              },
            ],
            hover: (time, y) => {
              const slackT = ((visible()[1] - visible()[0]) / width) * 4;
              const slackY = axis.max / 50;
              const hit = list.find(
                (i) => time >= rpc.start[i] - slackT && time <= rpc.end[i] + slackT && y >= rpc.first[i] - slackY && y <= last(i) + slackY,
              );
              return hit === undefined
                ? null
                : {
                    head: `${rpc.write[hit] ? "Write" : "Read"} by ${clientName(rpc.client[hit])}`,
                    rows: [
                      [null, "bytes", `${count(rpc.first[hit])} to ${Number.isNaN(rpc.last[hit]) ? UNKNOWN : count(rpc.last[hit])}`],
                      [null, "from", timeLabel(rpc.start[hit], 1e-3)],
                      [null, "for", micros(rpc.serviceUs[hit])],
                      ...rpcFacts(hit),
                    ],
                  };
            },
            pick: () => toggleSelected("objects", object),
          };
        }),
      };
    },
  });
  body.append(note);
  const narrowing = partNote(body, "The figures of each object in this table are");
  const list = table(body, {
    label: "Objects",
    columns: [
      {
        name: "object",
        value: (row) => (row.object === null ? "" : DATA.names.objects[row.object][1]),
        text: (row) => (row.object === null ? `${plural(row.objects, "other object")} or more` : DATA.names.objects[row.object][1]),
      },
      {
        name: "target",
        value: (row) => (row.target === null ? null : targetName(row.target)),
        text: (row) => (row.target === null ? "" : targetName(row.target)),
      },
      countColumn("reads", (row) => row.read.rpcs),
      bytesColumn("read", (row) => row.read),
      countColumn("writes", (row) => row.write.rpcs),
      bytesColumn("written", (row) => row.write),
      { ...countColumn("clients", (row) => row.clients), value: (row) => row.clients },
      { ...countColumn("writers", (row) => row.writers, "clients that wrote it"), value: (row) => row.writers },
      {
        name: "bytes touched",
        number: true,
        value: (row) => (row.last_byte === null ? null : Number(row.last_byte)),
        text: (row) => (row.last_byte === null ? UNKNOWN : `${bytes(row.first_byte)} to ${bytes(Number(row.last_byte) + 1)}`),
        hint: (row) => (row.last_byte === null ? null : `${count(row.first_byte)} to ${count(row.last_byte)}`),
      },
    ],
    rows: (it) =>
      DATA.objects.rows.filter(
        (row) => (!it.objects.length || it.objects.includes(row.object)) && (!it.targets.length || it.targets.includes(row.target)),
      ),
    pick: (row) => row.object !== null && (() => toggleSelected("objects", row.object)),
    picked: (row) => row.object !== null && isSelected("objects", row.object),
    accused: (row) => isAccused("objects", row.object),
  });
  function update() {
    chart.refresh();
    const { plan } = chart;
    const clients = plan?.clients ?? [];
    // More clients than colours: a legend would tell nothing apart.
    fill(
      key,
      clients.length && clients.length <= colors.clients.length
        ? legend(
            clients.map((client) => [clientColor(client), clientName(client)]),
            { view: "objects", redraw: update },
          )
        : null,
    );
    note.textContent = plan?.empty
      ? ""
      : [
          plan?.hidden > 0 ? `${plural(plan.hidden, "object")} with fewer ${SAMPLED_RPC}s not drawn.` : "",
          DATA.sample.shown,
          clients.length > colors.clients.length ? "Several clients share a colour." : "",
        ]
          .filter(Boolean)
          .join(" ");
    narrowing(["targets", "objects", "direction"]);
    list.show();
  }
  return update;
}
