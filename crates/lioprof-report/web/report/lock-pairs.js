// Who takes locks from whom: holders against waiters.

const MAX_FIGHTERS = 24;

/** Holder x waiter. */
function pairsChart(body) {
  const { pairs } = DATA.locks;
  body.append(el("h3", null, "Who takes locks from whom"));
  if (!pairs.length) {
    body.append(el("p.empty", null, "Between which clients is not known."));
    return { refresh() {} };
  }
  const note = partNote(body, "This square is");
  let clients = [];
  let cells = new Map();
  const chart = new Chart(body, {
    label: "Lock conflicts by holder and waiter",
    layout(width) {
      const shown = pairs.filter(
        (pair) =>
          (!selection.targets.length || selection.targets.includes(pair.target)) &&
          (!selection.clients.length || selection.clients.includes(pair.holder) || selection.clients.includes(pair.waiter)),
      );
      if (!shown.length) return { empty: "No conflicts between clients of what is selected." };
      const sums = new Map();
      shown.forEach((pair) => [pair.holder, pair.waiter].forEach((client) => sums.set(client, (sums.get(client) ?? 0) + pair.conflicts)));
      clients = [...sums]
        .sort((a, b) => b[1] - a[1])
        .slice(0, Math.min(MAX_FIGHTERS, Math.floor((width - gutter(width, true) - 8) / (colors.font * 1.5))))
        .map(([client]) => client)
        .sort((a, b) => clientName(a).localeCompare(clientName(b), "en", { numeric: true }));
      cells = new Map();
      for (const pair of shown) {
        const [row, column] = [clients.indexOf(pair.holder), clients.indexOf(pair.waiter)];
        if (row < 0 || column < 0) continue;
        const cell = cells.get(row * clients.length + column) ?? { conflicts: 0, handovers: 0, wait: 0 };
        cells.set(row * clients.length + column, {
          conflicts: cell.conflicts + pair.conflicts,
          handovers: cell.handovers + pair.handovers,
          wait: cell.wait + pair.wait_s,
        });
      }
      const left = gutter(width, true);
      const size = Math.min(
        clients.length > 8 ? colors.font * 1.8 : clients.length > 4 ? colors.font * 4.2 : colors.font * 9.5,
        (width - left - 8) / clients.length,
      );
      const line = Math.max(Math.min(size, colors.font * 4), colors.font * 1.3);
      const top = Math.round(colors.font * (size < colors.font * 9 ? 8.5 : 2.6));
      return {
        left,
        size,
        top,
        height: Math.round(top + line * clients.length + 8),
        line,
        hidden: sums.size - clients.length,
        summary: `${plural(clients.length, "client")}, ${plural(
          shown.reduce((sum, pair) => sum + pair.conflicts, 0),
          "conflict",
        )}`,
      };
    },
    option(plan) {
      const most = Math.max(...[...cells.values()].map((cell) => cell.conflicts));
      const names = clients.map(clientName);
      const look = {
        axisTick: { show: false },
        axisLine: { show: false },
        splitLine: { show: false },
        nameTextStyle: { color: colors.muted, fontSize: colors.font },
      };
      return {
        grid: { left: plan.left, width: plan.size * clients.length, top: plan.top, height: plan.line * clients.length },
        xAxis: {
          type: "category",
          position: "top",
          data: names,
          ...look,
          axisLabel: {
            interval: 0,
            rotate: plan.size < colors.font * 9 ? 90 : 0,
            color: colors.muted,
            fontSize: colors.font,
            width: plan.size < colors.font * 9 ? plan.top - colors.font * 1.2 : plan.size - 4,
            overflow: "truncate",
          },
        },
        yAxis: {
          type: "category",
          inverse: true,
          data: names,
          ...look,
          axisLabel: { interval: 0, color: colors.muted, fontSize: colors.font, width: plan.left - 8, overflow: "truncate" },
        },
        graphic: [
          {
            type: "text",
            left: 0,
            top: Math.max(0, plan.top - colors.font * 1.4),
            style: { text: "held ↓   wanted →", fill: colors.muted, fontSize: colors.font },
          },
        ],
        series: [
          picture((pen, w, h, density) => {
            pen.fillStyle = colors.empty;
            pen.fillRect(0, 0, w, h);
            for (const [at, cell] of cells) {
              const [row, column] = [Math.floor(at / clients.length), at % clients.length];
              const [cw, ch] = [w / clients.length, h / clients.length];
              const color = heatColor(0.08 + 0.92 * (most > 1 ? logShare(cell.conflicts, 1, most) : 1));
              pen.fillStyle = color;
              pen.fillRect(column * cw, row * ch, cw - density, ch - density);
              pen.font = `${colors.font * density}px ${colors.family}`;
              const text = count(cell.conflicts);
              if (pen.measureText(text).width + 4 * density < cw) {
                const [r, g, b] = rgb(color);
                pen.fillStyle = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#111111" : "#ffffff";
                pen.textAlign = "center";
                pen.textBaseline = "middle";
                pen.fillText(text, (column + 0.5) * cw, (row + 0.5) * ch);
              }
            }
          }),
        ],
      };
    },
  });
  const at = (event) => {
    const [x, y] = chart.place(event);
    const { plan } = chart;
    if (!plan || plan.empty) return null;
    const [row, column] = [Math.floor((y - plan.top) / plan.line), Math.floor((x - plan.left) / plan.size)];
    return row >= 0 && column >= 0 && row < clients.length && column < clients.length ? [row, column] : null;
  };
  chart.canvas.addEventListener("pointermove", (event) => {
    const place = at(event);
    if (!place) return hideTip();
    const cell = cells.get(place[0] * clients.length + place[1]);
    showTip(
      {
        head: `${clientName(clients[place[0]])} held, ${clientName(clients[place[1]])} wanted`,
        rows: cell
          ? [
              [null, "conflicts", count(cell.conflicts)],
              [null, "hand-overs", count(cell.handovers)],
              [null, "waited", seconds(cell.wait)],
            ]
          : null,
        foot: cell ? null : "no conflict",
      },
      event.clientX,
      event.clientY,
    );
  });
  chart.canvas.addEventListener("pointerleave", hideTip);
  chart.canvas.addEventListener("click", (event) => {
    const place = at(event);
    if (!place || !cells.has(place[0] * clients.length + place[1])) return;
    const both = [...new Set([clients[place[0]], clients[place[1]]])];
    const same = both.length === selection.clients.length && both.every((it) => isSelected("clients", it));
    select({ clients: same ? [] : both });
  });
  if (DATA.locks.of_pairs > pairs.length)
    body.append(el("p.note", null, `The ${count(pairs.length)} pairs with most conflicts, of ${count(DATA.locks.of_pairs)}.`));
  return {
    refresh() {
      note(["direction", "targets", "clients"]);
      chart.refresh();
    },
  };
}
