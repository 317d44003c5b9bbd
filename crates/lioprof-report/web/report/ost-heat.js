// All OSTs as rows of one heat map over time.

function heatLane(heat, it, width) {
  const n = heat.edges.length - 1;
  const [from, to] = visible(it);
  const value = (row, bin) =>
    ((it.direction.includes("r") ? heat.read[row * n + bin] : 0) + (it.direction.includes("w") ? heat.write[row * n + bin] : 0)) /
    (heat.edges[bin + 1] - heat.edges[bin]);
  const rows = it.targets.length
    ? heat.targets
        .map((target, i) => [target, i])
        .filter(([target]) => it.targets.includes(target))
        .map(([, i]) => i)
    : heat.targets.map((_, i) => i);
  let highest = 0;
  for (const row of rows)
    for (let bin = 0; bin < n; bin += 1)
      if (heat.edges[bin + 1] > from && heat.edges[bin] < to) highest = Math.max(highest, value(row, bin));
  const height = Math.round(Math.min(width < 600 ? 260 : 420, Math.max(80, rows.length * 9)));
  const paint = (pen, across, down, density) => {
    const perLine = Math.max(1, rows.length / down);
    pen.fillStyle = colors.empty;
    pen.fillRect(0, 0, across, down);
    const x = (time) => Math.round(((time - from) / (to - from)) * across);
    for (let bin = 0; bin < n; bin += 1) {
      const [x0, x1] = [x(heat.edges[bin]), x(heat.edges[bin + 1])];
      if (x1 <= 0 || x0 >= across) continue;
      // Rows that share a line of pixels show the highest of them: an outlier is never averaged away.
      for (let line = 0; line < rows.length; line += perLine) {
        let most = 0;
        for (let row = Math.floor(line); row < Math.min(rows.length, Math.ceil(line + perLine)); row += 1)
          most = Math.max(most, value(rows[row], bin));
        if (most <= 0) continue;
        const [y0, y1] = [Math.round((line / rows.length) * down), Math.round(((line + perLine) / rows.length) * down)];
        pen.fillStyle = heatColor(Math.sqrt(most / highest));
        pen.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
      }
    }
    // A mark at both ends of the rows that findings name.
    pen.fillStyle = colors.critical;
    rows.forEach((row, at) => {
      if (!isAccused("targets", heat.targets[row])) return;
      const [y, size] = [((at + 0.5) / rows.length) * down, colors.font * 0.5 * density];
      for (const [edge, tip] of [
        [0, size],
        [across, across - size],
      ]) {
        pen.beginPath();
        pen.moveTo(edge, y - size);
        pen.lineTo(tip, y);
        pen.lineTo(edge, y + size);
        pen.fill();
      }
    });
  };
  const rowAt = (y) => rows[Math.max(0, Math.min(rows.length - 1, Math.floor(y)))];
  return {
    title: `${plural(rows.length, "OST")}, one row each`,
    note: "by name; click a row to see it as a lane",
    height,
    highest,
    y: {
      min: 0,
      max: rows.length,
      inverse: true,
      interval: 2 ** Math.max(0, Math.ceil(Math.log2(rows.length / Math.max(2, height / 50)))),
      axisLabel: { formatter: (at) => (at < rows.length ? targetName(heat.targets[rows[at]]).replace(/^OST/, "") : "") },
      splitLine: { show: false },
    },
    series: [picture(paint)],
    hover: (time, y) => {
      const [row, bin] = [rowAt(y), binOf(heat.edges, time)];
      const rate = (array) => byteRate(array[row * n + bin] / (heat.edges[bin + 1] - heat.edges[bin]));
      return {
        head: `${marked("targets", heat.targets[row], targetName(heat.targets[row]))}, ${timeRange(heat.edges[bin], heat.edges[bin + 1])}`,
        rows: [
          [colors.read, "read", rate(heat.read)],
          [colors.write, "written", rate(heat.write)],
        ],
      };
    },
    pick: (_, y) => toggleSelected("targets", heat.targets[rowAt(y)]),
  };
}
