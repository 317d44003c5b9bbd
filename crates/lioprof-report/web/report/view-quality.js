// What the capture lost, and what its figures rest on.

const qualitySection = () =>
  section({
    id: "quality",
    title: "Capture quality",
    how:
      "Every sign of loss that a log has. Where the servers' own counters were sampled beside the trace, the loss is what they " +
      "have and the trace has not. Else “no RPC missing” means that no scheduler number is missing and no beginning is gone. " +
      "“Unknown” is not “none”. Sizes and targets that rest on better evidence come first; masks dlmtrace and net remove most " +
      "doubts. docs/numbers.md explains each figure.",
    follows: [],
    build: buildQuality,
    wide: true,
  });

const LOSS_SIGNS = [
  ["nrs_sequence_gaps", "RPCs that the schedulers numbered and that are missing", 0],
  ["dropped_segments", "pieces of the log lost before they were read", 0],
  ["dropped_segment_rpcs", "RPCs known to be in these", 0],
  ["kernel_overflows", "times the kernel said that its buffer overflowed", 0],
  ["torn_seams", "places where the ring wrapped", 0],
  ["streams_without_head", "CPU buffers whose beginning is gone or was filtered out", 0],
  ["discarded_heads", "places where the kernel's buffer overflowed", 0],
  ["bad_records", "places that hold no record", 0],
  ["clock_steps", "places where time goes back", 0],
  ["missing_handled", "RPCs started, not finished (a few run at the end)", null],
  ["missing_handling", "RPCs finished, not started (a few from before the start)", null],
  ["never_handled", "reads and writes announced and never handled", null],
];

const EVIDENCE_WORDS = {
  failed: ["failed: nothing moved", 0],
  read_status: ["status of the read", 0],
  bulk: ["bulk transfer (net)", 0],
  inline: ["inline data", 0],
  extent: ["full extent", 0],
  niobufs: ["number of pieces", 1],
  lock_extent: ["extent with gaps", 1],
  refresh_line: ["named by the RPC", 0],
  local_lock: ["lock taken in its name", 0],
  nrs: ["request scheduler", 0],
  only_target: ["inferred: the only one", 1],
  none: ["unknown", 2],
};

function evidenceBar(title, sums) {
  const total = Object.values(sums).reduce((sum, n) => sum + n, 0);
  if (!total) return null;
  const order = Object.entries(sums)
    .filter(([, n]) => n)
    .sort((a, b) => (EVIDENCE_WORDS[a[0]]?.[1] ?? 2) - (EVIDENCE_WORDS[b[0]]?.[1] ?? 2) || b[1] - a[1]);
  const kinds = ["exact", "bounded", "unknown"];
  return el(
    "div.evidence-bar",
    null,
    el("h3", null, title),
    el(
      "div.bar",
      { "aria-hidden": "true" },
      order.map(([key, n]) => el(`i.${kinds[EVIDENCE_WORDS[key]?.[1] ?? 2]}`, { style: { flexGrow: String(n) } })),
    ),
    el(
      "ul",
      null,
      order.map(([key, n]) =>
        el(
          "li",
          null,
          el(`i.swatch.${kinds[EVIDENCE_WORDS[key]?.[1] ?? 2]}`),
          `${EVIDENCE_WORDS[key]?.[0] ?? key}: `,
          el("span.figure", null, `${count(n)} (${percent(n / total)})`),
        ),
      ),
    ),
  );
}

/** What counters and trace have, by service and OST. */
function lossTable(loss) {
  if (!loss.by_service.length && !loss.by_target.length) return null;
  const rows = [
    ...loss.by_service.map((it) => [it.service, it.node, it.counted_rpcs, it.seen_rpcs, count(it.lost_rpcs)]),
    ...loss.by_target.map((it) => [
      it.target,
      it.node,
      it.counted_rpcs,
      it.seen_rpcs,
      it.lost_rpcs_min === it.lost_rpcs_max
        ? count(it.lost_rpcs_max)
        : `${count(it.lost_rpcs_min)} to ${count(it.lost_rpcs_max)}`,
    ]),
  ];
  return el(
    "table",
    { id: "counted" },
    el("thead", null, el("tr", null, ["Service or OST", "Node", "Counted RPCs", "In the trace", "Lost"].map((it) => el("th", null, it)))),
    el(
      "tbody",
      null,
      rows.map(([name, node, counted, seen, lost]) =>
        el("tr", null, [name, node, count(counted), count(seen), lost].map((it) => el("td", null, it))),
      ),
    ),
  );
}

function lossOf(body) {
  const { loss, how_much: howMuch } = DATA.quality;
  body.append(
    el("p.lead", null, el("strong", { id: "loss" }, `Loss: ${howMuch}.`), loss.estimate ? ` ${sentence(loss.estimate)}.` : ""),
  );
  const counted = lossTable(loss);
  if (counted) body.append(counted);
}

function signsOfLoss(body) {
  const { loss } = DATA.quality;
  body.append(
    el(
      "div.columns",
      null,
      evidenceBar("What sizes rest on", DATA.quality.size_evidence),
      evidenceBar("What targets rest on", DATA.quality.target_evidence),
      el(
        "div",
        null,
        el("h3", null, "Signs of loss"),
        el(
          "table.plain",
          null,
          el(
            "tbody",
            null,
            LOSS_SIGNS.map(([key, words, fine]) =>
              el(
                "tr",
                { class: fine !== null && Number(loss[key]) > fine ? "bad" : null },
                el("th", { scope: "row" }, words),
                el("td.figure", null, count(loss[key])),
              ),
            ),
          ),
        ),
      ),
    ),
  );
  const { totals } = DATA;
  const events = [
    ["resent_rpcs", "RPCs resent by clients"],
    ["replayed_rpcs", "replayed"],
    ["dropped_rpcs", "requests dropped before they were handled"],
    ["sent_timed_out", "RPCs of the servers that timed out"],
    ["evictions", "clients evicted"],
  ];
  body.append(
    el(
      "dl.facts",
      null,
      events.map(([key, words]) => el("div", null, el("dt", null, words), el("dd", null, count(totals[key])))),
    ),
  );
}

function buildQuality(body) {
  const { inputs, of_inputs: ofInputs, only_kernel_logs: onlyKernelLogs } = DATA.quality;
  if (!onlyKernelLogs) lossOf(body);
  if (DATA.warnings.length)
    body.append(
      el(
        "ul.warnings",
        null,
        DATA.warnings.map((it) => el("li", null, code(it))),
      ),
    );
  if (!onlyKernelLogs) signsOfLoss(body);
  const { client_faults: faults } = DATA.quality;
  let faultList = null;
  if (faults.length) {
    body.append(el("h3", null, "Clients with which something went wrong"));
    faultList = table(body, {
      label: "Clients with which something went wrong",
      first: 8,
      columns: [
        { name: "client", value: (row) => row.nid },
        countColumn("evictions", (row) => row.evictions, "thrown out for a lock that it did not give back"),
        countColumn("not connected", (row) => row.not_connected_rpcs, "RPCs answered with -ENOTCONN"),
        countColumn("timed out", (row) => row.timed_out_rpcs, "RPCs whose data did not arrive"),
        countColumn("dropped", (row) => row.dropped_rpcs),
        countColumn("resent", (row) => row.resent_rpcs),
        countColumn("replayed", (row) => row.replayed_rpcs),
        countColumn("connects", (row) => row.connects, "mounts and reconnects"),
        {
          name: "when",
          value: (row) => row.first,
          text: (row) => (row.first === null ? UNKNOWN : timeRange(row.first - DATA.window.start, row.last - DATA.window.start)),
        },
      ],
      rows: () => faults,
    });
  }
  body.append(el("h3", null, "Inputs"));
  const list = table(body, {
    label: "Inputs",
    first: 8,
    columns: [
      { name: "file", wrap: true, value: (row) => row.path },
      { name: "server", value: (row) => row.node },
      { name: "form", value: (row) => [row.format, row.compression].filter(Boolean).join(", ") },
      {
        name: "size",
        number: true,
        unit: "bytes",
        value: (row) => Number(row.bytes),
        text: (row) => bytes(row.bytes),
        hint: (row) => `${count(row.bytes)} bytes`,
      },
      countColumn("records", (row) => row.records),
      countColumn("interpreted", (row) => row.messages, "records of a kind that lioprof uses"),
      countColumn("unreadable", (row) => row.bad_records),
      countColumn("malformed", (row) => row.malformed, "known messages in an unknown form"),
      { name: "skipped", number: true, unit: "bytes", value: (row) => Number(row.skipped_bytes), text: (row) => bytes(row.skipped_bytes) },
      { name: "error", value: (row) => row.error ?? "", text: (row) => row.error ?? "" },
    ],
    rows: () => inputs,
  });
  if (ofInputs > inputs.length) body.append(el("p.note", null, `${count(inputs.length)} of ${count(ofInputs)} inputs.`));
  if (DATA.markers.length) {
    body.append(
      el("h3", null, "Marks"),
      el(
        "ul.marks",
        null,
        DATA.markers.map((it) =>
          el("li", null, el("span.figure", null, timed(() => timeLabel(it.at_s, 0.01))), ` ${it.text} `, el("em", null, it.node)),
        ),
      ),
    );
  }
  return () => {
    faultList?.show();
    list.show();
  };
}
