// Stretches of time as bars below one axis.

/** Parts that pass within a server; the others pass on the client or on the way. */
const IN_SERVER = new Set(["server_queue", "lock_wait", "server_work", "disk"]);

/** `[part, microseconds]` one after the other from `from`, as `{part, from, to}`. */
function inOrder(pieces, from) {
  let at = from;
  return pieces.map(([number, us]) => {
    const piece = { part: PARTS[number], from: at, to: at + us };
    at += us;
    return piece;
  });
}

/** A lane: `label`, `note` below it, `pieces`; `thin`: pieces outside of servers are drawn thin. */
function lane({ label, note, pieces, thin }, span) {
  const place = (us) => (100 * us) / span;
  const bars = pieces
    .filter((piece) => piece.to > piece.from)
    .map((piece) => {
      const isThin = thin && !IN_SERVER.has(piece.part.key);
      const bar = el("i", {
        class: `${piece.part.style}${isThin ? " thin" : ""}`,
        style: { left: `${place(piece.from)}%`, width: `${place(piece.to - piece.from)}%` },
      });
      const tip = (event) =>
        showTip(
          {
            head: label,
            rows: [[null, piece.part.name, micros(piece.to - piece.from)]],
            foot: `from ${milliseconds(piece.from)} to ${milliseconds(piece.to)} after the begin`,
          },
          event.clientX,
          event.clientY,
        );
      bar.addEventListener("pointermove", tip);
      bar.addEventListener("pointerleave", hideTip);
      return bar;
    });
  return [el("div.lane-name", null, el("span", null, label), note && el("small", null, note)), el("div.lane", null, bars)];
}

/** `12.345 ms`, to the microsecond. */
function milliseconds(us) {
  return `${(us / 1e3).toFixed(3)}\u202fms`;
}

/** The axis above: round times, as many as there is room for. */
function axis(span, zoom) {
  const step = roundStep(span, 6 * zoom);
  const ticks = [];
  for (let at = 0; at <= span * 0.999; at += step) ticks.push(at);
  return ticks.map((at) => el("span", { style: { left: `${(100 * at) / span}%` } }, at === 0 ? "0" : micros(at)));
}
