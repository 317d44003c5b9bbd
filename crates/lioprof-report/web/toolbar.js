// The bar that stays in sight: the whole run at a glance, what is selected, where to go.

/**
 * `overview(parent)`: a chart of the whole time, or null; `directions`: whether reads and writes can be told apart; `times`: whether
 * a stretch of time can be selected; `findings`: whether the page has any; `hint`: what can be done while nothing is selected.
 */
function toolbar({ overview: makeOverview, directions: told, times = true, findings = true, hint }) {
  const chips = el("div.chips", { "aria-live": "polite" });
  const from = el("input", { type: "number", step: "any", min: "0", "aria-label": "from, seconds since start" });
  const to = el("input", { type: "number", step: "any", min: "0", "aria-label": "to, seconds since start" });
  const unit = el("span");
  const clockChoice = AXIS_START === null ? null : choice("Times", CLOCKS, clockName, chooseClock);
  const apply = () => zoom(Number(from.value), Number(to.value));
  [from, to].forEach((it) => it.addEventListener("change", apply));
  const directions = [
    ["rw", "Reads + writes"],
    ["r", "Reads"],
    ["w", "Writes"],
  ];
  const buttons = directions.map(([value, text]) => toggle(text, false, () => select({ direction: value })));
  const overview = makeOverview && el("div.overview");
  const nav = el("nav", { "aria-label": "Views" });
  const bar = el(
    "div.toolbar",
    { role: "region", "aria-label": "Selection" },
    overview,
    el(
      "div.row",
      null,
      told && el("div.buttons", { role: "group", "aria-label": "Reads and writes" }, buttons),
      times &&
        el(
          "div.times",
          null,
          from,
          el("span", null, "to"),
          to,
          unit,
          el("button", { type: "button", title: "Zoom in", "aria-label": "Zoom in", onclick: () => zoomBy(0.5) }, "+"),
          el("button", { type: "button", title: "Zoom out", "aria-label": "Zoom out", onclick: () => zoomBy(2) }, "−"),
        ),
      clockChoice,
      chips,
    ),
    nav,
  );
  const it = makeOverview?.(overview);
  // Links lead to just below it: its rows are as many as fit side by side.
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  follow((now) => {
    const [low, high] = visible(now);
    // As precise as the screen can show.
    const decimals = Math.max(0, Math.ceil(-Math.log10(SPAN_S / 1e4)));
    from.value = String(Number(low.toFixed(decimals)));
    to.value = String(Number(high.toFixed(decimals)));
    unit.textContent = byWallClock() ? "s since start" : "s";
    if (clockChoice) clockChoice.querySelector("select").value = clockName;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(directions[i][0] === now.direction)));
    fill(chips, selectionChips(now, hint));
    const places = sections.map((part) => [part.id, part.title, part.empty]);
    if (findings) places.unshift(["findings", "Findings"]);
    fill(
      nav,
      places.map(([id, title, without]) => el("a", { href: hrefOf(id, now), class: without ? "without" : null }, title)),
    );
    it?.refresh();
    measure();
  });
  new ResizeObserver(measure).observe(bar);
  return bar;
}

function zoomBy(factor) {
  const [from, to] = visible();
  const [middle, half] = [(from + to) / 2, ((to - from) * factor) / 2];
  zoom(middle - half, middle + half);
}

function selectionChips(now, hint) {
  const chip = (text, title, clear) =>
    el(
      "button.chip",
      { type: "button", title: `Deselect ${title}`, onclick: clear },
      el("span", null, text),
      el("b", { "aria-hidden": "true" }, "×"),
    );
  const list = (kind, name) => {
    const numbers = now[kind];
    if (numbers.length > 3) return [chip(plural(numbers.length, kind.slice(0, -1)), kind, () => select({ [kind]: [] }))];
    return numbers.map((number) => chip(name(number), name(number), () => toggleSelected(kind, number)));
  };
  const chips = [
    now.time && chip(timeRange(...now.time), "the time", () => select({ time: null })),
    now.finding !== null && chip(sentence(DATA.findings[now.finding].title), "the finding", () => select({ finding: null })),
    ...Object.entries(NAMED).flatMap(([kind, [, , text]]) => list(kind, text)),
  ].filter(Boolean);
  if (!chips.length) return [el("span.hint", null, hint)];
  return [...chips, el("button.clear", { type: "button", onclick: () => select({ ...EVERYTHING }) }, "Clear all")];
}
