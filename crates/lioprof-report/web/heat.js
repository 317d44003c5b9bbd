// Heat maps: cells painted into one picture, so that a thousand OSTs are as quick to draw as ten.

/** Logarithmic place of a value between two others, 0 to 1. */
function logShare(value, low, high) {
  return high > low ? Math.log(value / low) / Math.log(high / low) : 1;
}

/**
 * A series of ECharts that paints cells. `paint(pen, x, y, width, height)` gets the place of the plot; it paints into a
 * picture of exactly as many pixels as the screen has there.
 */
function picture(paint) {
  return {
    type: "custom",
    silent: true,
    clip: true,
    data: [[0, 0]],
    encode: { x: -1, y: -1 },
    renderItem(parameters) {
      const { x, y, width, height } = parameters.coordSys;
      const density = pixelDensity();
      const canvas = document.createElement("canvas");
      canvas.width = Math.max(1, Math.round(width * density));
      canvas.height = Math.max(1, Math.round(height * density));
      const pen = canvas.getContext("2d");
      paint(pen, canvas.width, canvas.height, density);
      return { type: "image", style: { image: canvas, x, y, width, height } };
    },
  };
}

/** The legend of a heat map: lowest and highest value of the scale. */
function heatLegend(low, high, what) {
  if (low === high) return legend([[heatColor(1), `${what}: ${high}`]]);
  const gradient = Array.from({ length: 12 }, (_, i) => heatColor(i / 11)).join(", ");
  return el(
    "div.legend",
    null,
    el("span", null, what),
    el("span.figure", null, low),
    el("i.scale", { style: { background: `linear-gradient(to right, ${gradient})` } }),
    el("span.figure", null, high),
  );
}

/**
 * Legend entries: `[colour or pattern, text]`. `view`: what hides them, then entries hide and show their series, of which there are more
 * than one; `redraw()` shows it.
 */
function legend(entries, { view, redraw } = {}) {
  const series = entries.filter(([, , kind]) => kind !== "hatched");
  return el(
    "div.legend",
    null,
    entries.map(([color, text, kind = "box"]) => {
      const swatch = el(`i.swatch.${kind}`, { style: kind === "hatched" ? { color } : { background: color, color } });
      if (!view || series.length < 2 || kind === "hatched") return el("span.entry", null, swatch, text);
      const shown = !isHidden(view, text);
      const onclick = () => {
        const others = hiddenIn(view).filter((it) => it !== text);
        keepSetting(`hide:${view}`, (shown ? [...others, text] : others).join("|"));
        redraw();
      };
      return el("button.entry", { type: "button", "aria-pressed": String(shown), title: shown ? "Hide" : "Show", onclick }, swatch, text);
    }),
  );
}

function hiddenIn(view) {
  return setting(`hide:${view}`).split("|").filter(Boolean);
}

/** Whether the reader hides a series of a view. */
function isHidden(view, text) {
  return hiddenIn(view).includes(text);
}

/** Values of a series, none of one that is hidden. */
function shownOf(view, text, values) {
  return isHidden(view, text) ? values.map(() => 0) : values;
}
