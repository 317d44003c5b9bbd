// One operation from the system call to the disk: what it waited for, and its RPCs on the way to servers and back.

const operationSection = () =>
  section({
    id: "operation",
    title: DATA.from_clients ? "One operation, from the system call to the disk" : "One RPC at its server",
    how:
      "The first bar is the operation, cut into what it waited for, in the order of time. Below it each RPC that it sent has a line, in " +
      "the order in which they were sent: thin while the RPC is in the client or on the way, thick while it is at the server whose name " +
      "stands on the left. All times are on the client's clock; the split of the network into out and back is as exact as the comparison " +
      "of the clocks, their sum is exact.",
    follows: ["kinds", "operations"],
    missing: () => (DATA.slowest.length ? null : "No operation and no RPC in these logs."),
    build: buildOperation,
    wide: true,
  });

function buildOperation(body, controls) {
  let zoomed = 1;
  controls.append(
    choice(
      "Width",
      [
        ["1", "all of it"],
        ["4", "× 4"],
        ["16", "× 16"],
        ["64", "× 64"],
      ],
      "1",
      (value) => {
        zoomed = Number(value);
        update();
      },
    ),
  );
  const facts = el("dl.facts.operation-facts");
  const key = el("div");
  const lanes = el("div.lanes", { role: "img" });
  const frame = el("div.lanes-frame", { tabindex: "0", role: "region", "aria-label": "Lanes of the operation" }, lanes);
  const note = el("p.note");
  const figures = el("div.columns.operation-tables");
  body.append(facts, key, frame, note, figures);

  function update() {
    const it = shownOperation();
    if (!it) return;
    const kind = DATA.kinds[it.kind].name;
    const node = DATA.nodes[it.node];
    const own = inOrder(it.stretches, 0);
    const joined = `${count(it.joined_rpcs)} of them in servers' logs`;
    const sent = it.sent.map((rpc) => ({ ...rpc, pieces: inOrder(rpc.stretches, rpc.from) }));
    // What begins earlier, such as an RPC that waited to be sent, or ends later is cut off.
    const within = (pieces) =>
      pieces.map((piece) => ({ ...piece, from: Math.max(0, piece.from), to: Math.min(it.us, piece.to) })).filter((p) => p.to > p.from);
    fill(
      facts,
      [
        ["what", kind],
        ["took", milliseconds(it.us)],
        [DATA.from_clients ? "client" : "server", `${node}, pid ${it.pid}`],
        DATA.from_clients && ["file", fileOf(it)],
        ["began", `${timeOfDay(it.begin_us)} UTC`],
        it.result !== null && ["returned", String(it.result)],
        DATA.from_clients && ["RPCs", it.rpcs === it.joined_rpcs ? count(it.rpcs) : `${count(it.rpcs)}, ${joined}`],
      ]
        .filter(Boolean)
        .map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))),
    );
    const used = new Set([...own, ...sent.flatMap((rpc) => rpc.pieces)].map((piece) => piece.part));
    fill(key, partsLegend(PARTS.filter((part) => used.has(part))));
    const where = (rpc) => (rpc.node === null ? "server's log not known" : [DATA.nodes[rpc.node], rpc.target].filter(Boolean).join(", "));
    const span = Math.max(1, it.us);
    fill(
      lanes,
      el("div.lane-name"),
      el("div.lane-axis", null, axis(span, zoomed)),
      lane({ label: kind, note: node, pieces: own, thin: false }, span),
      sent.map((rpc) => lane({ label: rpc.opcode, note: where(rpc), pieces: within(rpc.pieces), thin: true }, span)),
    );
    lanes.style.width = `calc(var(--lane-name) + (100% - var(--lane-name)) * ${zoomed})`;
    const ticks = roundStep(span, 6 * zoomed);
    lanes.style.setProperty("--grid-step", `${(100 * ticks) / span}%`);
    const below = `${plural(sent.length, "RPC")} as lines below`;
    lanes.setAttribute("aria-label", `${kind} of ${micros(it.us)}: ${partsText(it.parts, 10)}; ${below}`);
    const drawn = plural(sent.length, "longest RPC");
    const notes = [
      it.is_coarse && "Of its many stretches neighbours are drawn together.",
      it.left_out_rpcs > 0 && `Its ${drawn} of ${count(sent.length + it.left_out_rpcs)} with both ends in the log are drawn.`,
      DATA.from_clients &&
        it.evidence !== "logged" &&
        `It was inferred (${it.evidence.replace("_", " ")}): the call lasted at least so long.`,
      it.is_walk && "It begins with the first step of the walk along its path.",
      !DATA.clocks_known && "Some clocks could not be compared: times of the network are unknown there.",
    ].filter(Boolean);
    note.hidden = !notes.length;
    note.textContent = notes.join(" ");
    fill(figures, operationTables(it, own, sent, where));
  }
  return update;
}

/** The same as figures: the stretches in the order of time, and the RPCs. */
function operationTables(it, own, sent, where) {
  const row = (cells) =>
    el(
      "tr",
      null,
      cells.map(([text, isFigure]) => el(`td${isFigure ? ".figure" : ""}`, null, text)),
    );
  const head = (cells) =>
    el(
      "thead",
      null,
      el(
        "tr",
        null,
        cells.map(([text, isFigure]) => el("th", { scope: "col", class: isFigure ? "figure" : null }, text)),
      ),
    );
  const ms = (us) => (us / 1e3).toFixed(3);
  const stretches = el(
    "details",
    null,
    el("summary", null, `${plural(own.length, "stretch", "stretches")} in the order of time`),
    el(
      "div.table",
      { tabindex: "0", role: "region", "aria-label": "Stretches in the order of time" },
      el(
        "table",
        null,
        head([["from ms", true], ["to ms", true], ["took ms", true], ["what"]]),
        el(
          "tbody",
          null,
          own.map((p) =>
            row([
              [ms(p.from), true],
              [ms(p.to), true],
              [ms(p.to - p.from), true],
              [[el("i", { class: `swatch ${p.part.style}` }), ` ${p.part.name}`]],
            ]),
          ),
        ),
      ),
    ),
  );
  const rpcs = el(
    "details",
    null,
    el("summary", null, plural(sent.length, "RPC")),
    el(
      "div.table",
      { tabindex: "0", role: "region", "aria-label": "RPCs of the operation" },
      el(
        "table",
        null,
        head([["RPC"], ["at"], ["sent ms", true], ["arrived", true], ["handled from", true], ["to", true], ["answered", true]]),
        el(
          "tbody",
          null,
          sent.map((rpc) =>
            row([
              [rpc.opcode],
              [where(rpc)],
              [ms(rpc.sent), true],
              ...(rpc.served ?? [null, null, null]).map((us) => [us === null ? UNKNOWN : ms(us), true]),
              [ms(rpc.answered), true],
            ]),
          ),
        ),
      ),
    ),
  );
  return [stretches, sent.length > 0 && rpcs];
}
