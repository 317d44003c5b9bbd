// Who used which OST: clients x OSTs. A cell filters every view by both.

const matrixSection = () =>
  section({
    id: "matrix",
    title: "Clients × OSTs",
    plots: ["client-ost-matrix"],
    how:
      "Rows are clients, the busiest first; columns are OSTs by name. Darkness (in the dark theme: brightness) is bytes, on a " +
      "logarithmic scale. A dark column: everybody uses one OST. A single dark cell: one client with one OST, often a file with one " +
      "stripe. A dark row: one client that uses everything. Click a cell to see only that client on that OST in every view; click it " +
      "again to see all. With the keyboard: arrow keys and Enter.",
    follows: ["targets", "clients", "direction"],
    missing: () => (DATA.clients.rows.length ? null : `No RPC of any client ${AMONG}.`),
    build: buildMatrix,
  });

function buildMatrix(body) {
  const { clients, targets, cells, other_clients: otherClients, other_targets: otherTargets } = DATA.matrix;
  const rowName = (slot) => (slot.is === "one" ? clientName(slot.number) : `${plural(otherClients, "other")}`);
  const columnName = (slot) =>
    slot.is === "one" ? targetName(slot.number) : slot.is === "unknown" ? DATA.names.unattributed : `${plural(otherTargets, "other")}`;
  const cellAt = new Map(cells.map((cell) => [cell.row * targets.length + cell.column, cell]));
  const own = (slots) => slots.filter((slot) => slot.is === "one").length;
  let cursor = null;
  let scale = [1, 1];
  const key = el("div");
  body.append(key);

  const chosen = (slot, kind) => slot.is === "one" && isSelected(kind, slot.number);
  const named = (slot, kind) => slot.is === "one" && isAccused(kind, slot.number);
  const value = (cell) => {
    const it = moved(cell, selection.direction);
    return it.known ? it.bytes : 0;
  };

  const chart = new Chart(body, {
    label: "Bytes by client and OST",
    layout(width) {
      if (!cells.length) return { empty: `No client read or wrote anything ${AMONG}.` };
      const left = gutter(width, true);
      const across = Math.min(width - left - 8, targets.length * colors.font * 12);
      const right = width - left - across;
      const line = Math.max(colors.font * 1.15, Math.min(30, 420 / clients.length));
      const top = Math.round(colors.font * (across / targets.length < colors.font * 6 ? 7.4 : 2.2));
      // Whatever the others come to in sum is no measure for one.
      const isOne = (cell) => clients[cell.row].is !== "others" && targets[cell.column].is !== "others";
      const ones = cells.filter(isOne).map(value);
      const amounts = (ones.some(Boolean) ? ones : cells.map(value)).filter((it) => it > 0);
      const least = Math.min(...amounts);
      const highest = Math.max(...amounts);
      // Cells that are nearly the same have nearly the same colour.
      scale = amounts.length ? [Math.min(least, highest / 16), highest] : [1, 1];
      return {
        left,
        right,
        top,
        line,
        height: Math.round(top + line * clients.length + 8),
        summary:
          `${plural(own(clients), "client")}, ${plural(own(targets), "OST")}, ` +
          `largest cell ${amounts.length ? bytes(scale[1]) : "without known bytes"}`,
      };
    },
    option(plan, width) {
      const across = width - plan.left - plan.right;
      const marked = (list, kind) => list.map((slot) => (chosen(slot, kind) ? "on" : named(slot, kind) ? "named" : "off"));
      const look = (names, picked) => ({
        axisTick: { show: false },
        axisLine: { show: false },
        splitLine: { show: false },
        axisLabel: {
          fontSize: colors.font,
          interval: (i) =>
            names.length <= 1 || picked[i] !== "off" || i % Math.ceil(names.length / Math.max(1, across / (colors.font * 1.25))) === 0,
          formatter: (text, i) => `{${picked[i]}|${picked[i] === "named" ? `${ACCUSED} ` : ""}${text}}`,
          rich: {
            on: { color: colors.ink, fontWeight: 700, fontSize: colors.font },
            named: { color: colors.critical, fontWeight: 700, fontSize: colors.font },
            off: { color: colors.muted, fontSize: colors.font },
          },
        },
      });
      const [rowNames, columnNames] = [clients.map(rowName), targets.map(columnName)];
      const x = look(columnNames, marked(targets, "targets"));
      const y = look(rowNames, marked(clients, "clients"));
      y.axisLabel.interval = 0;
      y.axisLabel.width = plan.left - 8;
      y.axisLabel.overflow = "truncate";
      return {
        grid: { left: plan.left, right: plan.right, top: plan.top, height: plan.line * clients.length },
        xAxis: {
          type: "category",
          position: "top",
          data: columnNames,
          ...x,
          axisLabel: { ...x.axisLabel, rotate: plan.top > colors.font * 4 ? 90 : 0 },
        },
        yAxis: { type: "category", inverse: true, data: rowNames, ...y },
        series: [
          picture((pen, w, h, density) => {
            pen.fillStyle = colors.empty;
            pen.fillRect(0, 0, w, h);
            for (const cell of cells) {
              const [x0, x1] = [cell.column, cell.column + 1].map((at) => Math.round((at / targets.length) * w));
              const [y0, y1] = [cell.row, cell.row + 1].map((at) => Math.round((at / clients.length) * h));
              const amount = value(cell);
              const io = moved(cell, selection.direction);
              if (!io.rpcs) continue;
              const gap = x1 - x0 > 6 * density ? density : 0;
              const picked =
                (!selection.clients.length || chosen(clients[cell.row], "clients")) &&
                (!selection.targets.length || chosen(targets[cell.column], "targets"));
              pen.globalAlpha = picked ? 1 : 0.25;
              const color = amount > 0 ? heatColor(0.06 + 0.94 * logShare(amount, scale[0], scale[1])) : null;
              pen.fillStyle = color ?? pen.createPattern(hatch(colors.muted).image, "repeat");
              pen.fillRect(x0, y0, x1 - x0 - gap, y1 - y0 - gap);
              const text = `${io.exact ? "" : RULES.estimated}${amount > 0 ? bytes(amount) : UNKNOWN}`;
              pen.font = `${colors.font * density * 0.95}px ${colors.family}`;
              if (color && x1 - x0 > pen.measureText(text).width + 8 * density && y1 - y0 > colors.font * density * 1.1) {
                const [r, g, b] = rgb(color);
                pen.fillStyle = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111111" : "#ffffff";
                pen.textAlign = "center";
                pen.textBaseline = "middle";
                pen.fillText(text, (x0 + x1 - gap) / 2, (y0 + y1 - gap) / 2);
              }
              pen.globalAlpha = 1;
            }
            if (cursor) {
              pen.strokeStyle = colors.accent;
              pen.lineWidth = 2 * density;
              pen.strokeRect(
                (cursor[1] / targets.length) * w + density,
                (cursor[0] / clients.length) * h + density,
                w / targets.length - 2 * density,
                h / clients.length - 2 * density,
              );
            }
          }),
        ],
      };
    },
  });

  function slotsAt([x, y]) {
    const { plan, width } = chart;
    if (!plan || plan.empty) return null;
    const column = Math.floor(((x - plan.left) / (width - plan.left - plan.right)) * targets.length);
    const row = Math.floor((y - plan.top) / plan.line);
    if (row >= clients.length || column >= targets.length || (row < 0 && column < 0)) return null;
    return [row, column];
  }

  function tipOf(row, column) {
    const cell = cellAt.get(row * targets.length + column);
    const head = `${rowName(clients[row])} on ${columnName(targets[column])}`;
    if (!cell) return { head, foot: "no reads or writes" };
    return {
      head,
      rows: [
        [colors.read, "read", `${ioBytes(cell.read)} in ${plural(cell.read.rpcs, "RPC")}`],
        [colors.write, "written", `${ioBytes(cell.write)} in ${plural(cell.write.rpcs, "RPC")}`],
      ],
    };
  }

  function pick(row, column) {
    const client = clients[row]?.is === "one" ? [clients[row].number] : [];
    const target = targets[column]?.is === "one" ? [targets[column].number] : [];
    // A name alone is a row or a column.
    if (row >= 0 && column >= 0) {
      const same =
        client.length === selection.clients.length &&
        client.every((it) => isSelected("clients", it)) &&
        target.length === selection.targets.length &&
        target.every((it) => isSelected("targets", it));
      if (!client.length && !target.length) return;
      select(same ? { clients: [], targets: [] } : { clients: client, targets: target });
    } else if (client.length) toggleSelected("clients", ...client);
    else if (target.length) toggleSelected("targets", ...target);
  }

  chart.canvas.addEventListener("pointermove", (event) => {
    const at = slotsAt(chart.place(event));
    chart.canvas.style.cursor = at ? "pointer" : "";
    if (at && at[0] >= 0 && at[1] >= 0) showTip(tipOf(...at), event.clientX, event.clientY);
    else hideTip();
  });
  chart.canvas.addEventListener("pointerleave", hideTip);
  chart.canvas.addEventListener("click", (event) => {
    const at = slotsAt(chart.place(event));
    if (at) pick(...at);
  });
  chart.box.addEventListener("keydown", (event) => {
    if (chart.plan?.empty) return;
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      const [row, column] = cursor ?? [0, -1];
      const clamp = (it, n) => Math.max(0, Math.min(n - 1, it));
      cursor =
        cursor || step[1] > 0 || step[0] > 0 ? [clamp(row + step[0], clients.length), clamp(column + step[1], targets.length)] : [0, 0];
      chart.refresh();
      const box = chart.canvas.getBoundingClientRect();
      showTip(
        tipOf(...cursor),
        box.left + chart.plan.left + ((cursor[1] + 0.5) / targets.length) * (chart.width - chart.plan.left - chart.plan.right),
        box.top + chart.plan.top + (cursor[0] + 0.5) * chart.plan.line,
      );
    } else if (event.key === "Enter" && cursor) pick(...cursor);
    else return;
    event.preventDefault();
  });
  chart.box.addEventListener("blur", () => {
    if (!cursor) return;
    cursor = null;
    hideTip();
    chart.refresh();
  });

  const list = clientTable(body);

  return () => {
    chart.refresh();
    const any = cells.some((cell) => value(cell) > 0);
    fill(
      key,
      any
        ? heatLegend(
            bytes(scale[0]),
            bytes(scale[1]),
            selection.direction === "r" ? "read" : selection.direction === "w" ? "written" : "read and written",
          )
        : null,
    );
    list.show();
  };
}

/** Clients, of the selected OSTs alone where the page has them. */
function clientTable(body) {
  const byTarget = (it) => it.targets.length > 0 && narrowsTargets(it) && (!it.clients.length || narrowsClients(it));
  const note = partNote(body, "The figures of each client in this table are");
  const cells = (it) => [
    el("td"),
    el("td.figure", null, count(it.rpcs)),
    el("td.figure", null, count(it.read.rpcs)),
    el("td.figure", null, ioBytes(it.read)),
    el("td.figure", null, count(it.write.rpcs)),
    el("td.figure", null, ioBytes(it.write)),
    el("td"),
  ];
  const all = otherCells(DATA.clients, "client", cells);
  const list = table(body, {
    label: "Clients",
    columns: [
      { name: "client", value: (row) => clientName(row.client) },
      serverTimeColumn(),
      { ...countColumn("RPCs", (row) => row.rpcs, "RPCs of any kind"), value: (row) => row.rpcs },
      countColumn("reads", (row) => row.read.rpcs),
      bytesColumn("read", (row) => row.read),
      countColumn("writes", (row) => row.write.rpcs),
      bytesColumn("written", (row) => row.write),
      countColumn("targets", (row) => row.targets, "targets that it read or wrote"),
    ],
    rows: (it) =>
      byTarget(it)
        ? narrowed(it, "row")
            .filter(({ slot }) => slot.is === "one")
            // RPCs of other kinds are not known by OST.
            .map(({ slot: { number: client }, read, write, cells: targets }) => ({
              client,
              server_us: null,
              rpcs: null,
              read,
              write,
              targets,
            }))
        : DATA.clients.rows.filter((row) => !it.clients.length || it.clients.includes(row.client)),
    others: (it) => {
      if (!byTarget(it)) return it.clients.length ? null : all?.();
      const rest = narrowed(it, "row").find(({ slot }) => slot.is === "others");
      return rest && [el("th", { scope: "row" }, plural(DATA.matrix.other_clients, "other client")), ...cells({ ...rest, rpcs: null })];
    },
    pick: (row) => () => toggleSelected("clients", row.client),
    picked: (row) => isSelected("clients", row.client),
    accused: (row) => isAccused("clients", row.client),
  });
  const { server_rpcs: ofServers } = DATA.totals;
  if (ofServers) body.append(el("p.note", null, `Not in these rows: ${plural(ofServers, "RPC")} that servers sent to each other.`));
  return {
    show() {
      // What all of the view does not follow, its own note says.
      note(["time", "clients", "objects", "direction", ...(byTarget(selection) ? ["targets"] : [])]);
      list.show();
    },
  };
}
