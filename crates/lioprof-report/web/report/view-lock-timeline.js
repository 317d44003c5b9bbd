// Who held and who waited for an object's locks, when.

const lockTimelineSection = () =>
  section({
    id: "lock-timeline",
    title: "Lock timeline",
    plots: ["lock-timeline"],
    how:
      "One row per client. A pale bar is a lock that the client holds, a full bar one that it asked for with just these bytes and got " +
      "no more; hatching is a wait for another client's lock; a triangle is a callback that asks the holder to give it back. Bars of " +
      "two clients that alternate, each with a wait before it: they take the lock from each other. Point at a bar to see the bytes: if " +
      "what they asked for never overlaps, the fight is about expanded locks, not about data.",
    follows: ["time", "clients", "objects", "targets"],
    missing: () =>
      noLocks() ??
      (DATA.locks.objects.some((it) => it.timeline)
        ? null
        : DATA.locks.evidence === "rpctrace"
          ? "Needs mask dlmtrace: without the lock manager's lines nobody knows who held what, and when."
          : "No object of an OST has locks over time."),
    build: buildLockTimeline,
    wide: true,
  });

const LOCK_ROWS = 14;

function buildLockTimeline(body, controls) {
  const objects = DATA.locks.objects.filter((it) => it.timeline);
  let chosen = 0;
  const picker = choice(
    "Object",
    objects.map((it, i) => [String(i), `${foughtName(it)}: ${plural(it.conflicts, "conflict")}`]),
    "0",
    (value) => {
      chosen = Number(value);
      update();
    },
  );
  if (objects.length > 1) controls.append(picker);
  const key = el("div");
  const note = el("p.note");
  body.append(key);
  const extent = (first, last) => `${count(first)} to ${last === null ? "the end" : count(last)}`;

  const chart = timeChart(body, {
    label: "Locks of an object over time",
    lanes(it) {
      const object = objects[chosen];
      const [from, to] = visible(it);
      const wanted = (client) => !it.clients.length || it.clients.includes(client);
      const holds = object.timeline.holds.filter(
        ([client, , start, end]) => wanted(client) && (end ?? SPAN_S) >= from && (start ?? 0) <= to,
      );
      const waits = object.timeline.waits.filter(([client, start, end]) => wanted(client) && (end ?? SPAN_S) >= from && start <= to);
      const asts = object.timeline.blocking_asts.filter(([time, client]) => wanted(client) && time >= from && time <= to);
      const sums = new Map();
      [...holds, ...waits].forEach(([client]) => sums.set(client, (sums.get(client) ?? 0) + 1));
      if (!sums.size) return { empty: "No lock of what is selected in the visible time." };
      const clients = [...sums]
        .sort((a, b) => b[1] - a[1])
        .slice(0, LOCK_ROWS)
        .map(([client]) => client)
        .sort((a, b) => clientName(a).localeCompare(clientName(b), "en", { numeric: true }));
      const row = new Map(clients.map((client, i) => [client, i]));
      const items = [
        ...holds
          .filter(([client]) => row.has(client))
          .map((hold) => ({ kind: "hold", client: hold[0], from: hold[2] ?? 0, to: hold[3] ?? SPAN_S, hold })),
        ...waits
          .filter(([client]) => row.has(client))
          .map((wait) => ({ kind: "wait", client: wait[0], from: wait[1], to: wait[2] ?? SPAN_S, wait })),
        ...asts.filter(([, client]) => row.has(client)).map(([time, client]) => ({ kind: "ast", client, from: time, to: time })),
      ];
      const pattern = new Map(clients.map((client) => [client, hatch(clientColor(client))]));
      return {
        wide: true,
        summary:
          `${foughtName(object)}: ${plural(holds.length, "lock")}, ${plural(waits.length, "wait")}, ` +
          `${plural(asts.length, "callback")}`,
        truncated: object.timeline.truncated,
        hidden: sums.size - clients.length,
        lanes: [
          {
            title: foughtName(object),
            note:
              plural(object.conflicts, "conflict") +
              (object.true_conflicts === null ? "" : `, ${count(object.true_conflicts)} of them about the same bytes`),
            height: Math.round(Math.max(70, clients.length * colors.font * 4)),
            y: { min: 0, max: clients.length, inverse: true, interval: 1, axisLabel: { show: false }, axisTick: { show: false } },
            names: clients.map((client, i) => [marked("clients", client, clientName(client)), i + 0.5]),
            series: [
              {
                type: "custom",
                silent: true,
                clip: true,
                encode: { x: [0, 1], y: 2 },
                data: items.map((item) => [item.from, item.to, row.get(item.client)]),
                renderItem(parameters, api) {
                  const item = items[parameters.dataIndex];
                  const [x0, y0] = api.coord([api.value(0), api.value(2)]);
                  const [x1, y1] = api.coord([api.value(1), api.value(2) + 1]);
                  const { x: left, width } = parameters.coordSys;
                  const [a, b] = [Math.max(x0, left - 1), Math.min(x1, left + width + 1)];
                  const h = y1 - y0;
                  const rect = (top, height, fillStyle) => ({
                    type: "rect",
                    shape: { x: a, y: y0 + h * top, width: Math.max(0.8, b - a), height: h * height },
                    style: { fill: fillStyle },
                  });
                  const color = clientColor(item.client);
                  if (item.kind === "wait") return rect(0.12, 0.22, pattern.get(item.client));
                  if (item.kind === "ast")
                    return {
                      type: "polygon",
                      shape: {
                        points: [
                          [x0 - 4, y0 + h * 0.98],
                          [x0 + 4, y0 + h * 0.98],
                          [x0, y0 + h * 0.84],
                        ],
                      },
                      style: { fill: colors.ink },
                    };
                  const [, , , , first, last, wantedFirst, wantedLast] = item.hold;
                  const exactly = String(first) === String(wantedFirst) && String(last) === String(wantedLast);
                  return rect(0.4, 0.4, exactly ? color : pale(color, 0.45));
                },
              },
            ],
            hover: (time, y) => {
              const client = clients[Math.floor(y)];
              const part = y - Math.floor(y);
              const slack = ((to - from) / 900) * 2;
              const hit = items.find(
                (item) =>
                  item.client === client &&
                  item.kind === (part < 0.37 ? "wait" : "hold") &&
                  time >= item.from - slack &&
                  time <= item.to + slack,
              );
              if (!hit) return { head: `${clientName(client)}, ${timeLabel(time, (to - from) / 500)}`, foot: "neither held nor waited" };
              const rows = [
                [null, "from", (hit.hold ? hit.hold[2] === null : false) ? "before the log" : timeLabel(hit.from, 1e-4)],
                [null, "for", micros((hit.to - hit.from) * 1e6)],
              ];
              if (hit.kind === "wait")
                return { head: `${clientName(client)} waits`, rows: [...rows, [null, "asks for bytes", extent(hit.wait[3], hit.wait[4])]] };
              return {
                head: `${clientName(client)} holds ${hit.hold[1]}`,
                rows: [
                  ...rows,
                  [null, "asked for bytes", extent(hit.hold[6], hit.hold[7])],
                  [null, "was granted", extent(hit.hold[4], hit.hold[5])],
                ],
              };
            },
            pick: (_, y) => clients[Math.floor(y)] !== undefined && toggleSelected("clients", clients[Math.floor(y)]),
          },
        ],
      };
    },
  });
  rowNames(chart);
  body.append(note);

  let shown = null;
  function update() {
    // A finding chooses its object once.
    const isNew = selection.finding !== shown;
    shown = selection.finding;
    const isWanted = (it) => isSelected("objects", it) || (isNew && shown !== null && isAccused("objects", it));
    const wanted = objects.findIndex((it) => it.object !== null && isWanted(it.object));
    const onTarget = objects.findIndex((it) => selection.targets.includes(it.target));
    if (wanted >= 0) chosen = wanted;
    else if (onTarget >= 0 && !selection.targets.includes(objects[chosen].target)) chosen = onTarget;
    picker.querySelector("select").value = String(chosen);
    chart.refresh();
    fill(
      key,
      legend([
        [pale(colors.clients[0], 0.45), "holds more than it asked for"],
        [colors.clients[0], "holds what it asked for"],
        [colors.clients[0], "waits", "hatched"],
        [colors.ink, "called back", "triangle"],
      ]),
    );
    const { plan } = chart;
    note.textContent = [
      plan?.truncated ? "More happened than is kept: the beginning is shown." : "",
      plan?.hidden > 0 ? `${plural(plan.hidden, "client")} with fewer locks not shown.` : "",
    ]
      .filter(Boolean)
      .join(" ");
  }
  return update;
}
