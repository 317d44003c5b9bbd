// Who takes locks from whom, and what that costs.

function lockConflicts() {
  return DATA.locks ? DATA.locks.totals.conflicts + DATA.locks.mdt_totals.conflicts : 0;
}

function noLocks() {
  if (!DATA.locks) return DATA.totals.rpcs ? "Lock contention was not analysed (--no-locks)." : `No RPC ${AMONG}.`;
  if (lockConflicts()) return null;
  const { own, server } = DATA.locks.totals.kinds;
  const others =
    own + server
      ? ` There were ${plural(own, "conflict")} of a client with a lock of its own and ` +
        `${count(server)} of the servers' own making (unlink), which are no contention.`
      : "";
  return `No lock conflicts between clients.${others}`;
}

const locksSection = () =>
  section({
    id: "locks",
    title: "Lock contention",
    plots: ["lock-contention-per-ost", "lock-pairs", "lock-wait-distribution"],
    lead: DATA.locks && lockConflicts() ? DATA.locks.doubts : null,
    how:
      "A conflict is a lock request of one client that met a lock of another one. True: both asked for overlapping bytes. " +
      "Expansion-only: they asked for different bytes, only the larger extent that the server had granted is in the way; then the " +
      "application need not change its data, only its layout or its lock requests. Waiting is the mean number of requests that wait " +
      "for another client's lock. In the square, rows are clients that held, columns clients that wanted; two dark cells that mirror " +
      "each other: two clients take a lock from each other, to and fro. A busy OST has more conflicts: bandwidth while waiting is no " +
      "proof of cause.",
    follows: ["time", "targets", "clients", "objects"],
    missing: noLocks,
    build: buildLocks,
    wide: true,
  });

/** What conflicts cost: on OSTs, and of MDTs besides; `null` if the page does not have it of the selected targets. */
function lockSums(now) {
  const { totals, mdt_totals: mdts, targets, of_targets: ofTargets } = DATA.locks;
  if (!now.targets.length) return { osts: totals, mdts };
  const rows = targets.filter((row) => now.targets.includes(row.target));
  // Those without conflicts have no row, nor have any beyond the first ones.
  if (rows.length < now.targets.length && ofTargets > targets.length) return null;
  const isMdt = (row) => /-MDT[0-9a-f]{4}$/.test(DATA.names.targets[row.target]);
  const sum = (some) => {
    const of = (key) => (some.some((row) => row[key] === null) ? null : some.reduce((all, row) => all + row[key], 0));
    const keys = ["conflicts", "true_conflicts", "expansion_conflicts", "handovers", "wait_s"];
    return Object.fromEntries(keys.map((key) => [key, of(key)]));
  };
  return { osts: sum(rows.filter((row) => !isMdt(row))), mdts: sum(rows.filter(isMdt)) };
}

/** The same to be shown. */
function lockFacts(now) {
  const { osts, mdts } = lockSums(now) ?? lockSums(EVERYTHING);
  const fact = (name, value, hint) => el("div", { title: hint }, el("dt", null, name), el("dd", null, value));
  const waited = "client-seconds, all clients together";
  return [
    fact("conflicts between clients on OSTs", count(osts.conflicts)),
    osts.true_conflicts !== null && fact("really overlap", count(osts.true_conflicts)),
    osts.expansion_conflicts !== null && fact("only hit an expanded lock", count(osts.expansion_conflicts)),
    fact("hand-overs", count(osts.handovers)),
    fact("time waited", seconds(osts.wait_s), waited),
    osts.evictions !== undefined && fact("evictions", count(osts.evictions)),
    mdts.conflicts > 0 && fact("conflicts on MDTs", count(mdts.conflicts)),
    mdts.conflicts > 0 && fact("hand-overs on MDTs", count(mdts.handovers)),
    mdts.conflicts > 0 && fact("time waited on MDTs", seconds(mdts.wait_s), waited),
  ];
}

/** Conflicts per second by kind, those whose kind nobody knows, and the waiting. */
const LOCK_WORDS = [
  "true conflicts per second",
  "expansion-only",
  "kind not known",
  "conflicts per second (their kind is not known without dlmtrace)",
  "requests waiting, mean number",
];

function buildLocks(body) {
  const it = DATA.locks;
  const facts = el("dl.facts");
  const factsNote = partNote(body, "These figures are");
  body.append(facts);

  const edges = precise(it.edges_s);
  const n = edges.length - 1;
  const lanesData = it.lanes.map((lane) => ({
    target: lane.target,
    conflicts: dense(lane.conflicts, n),
    certain: dense(lane.true_conflicts, n),
    expansion: dense(lane.expansion_conflicts, n),
    waiting: dense(lane.waiting, n),
  }));
  const key = el("div");
  body.append(key);
  const chartNote = partNote(body, "This chart is");
  const chart = timeChart(body, {
    label: "Lock conflicts per target over time",
    lanes(now) {
      const shown = lanesData.filter((lane) => !now.targets.length || now.targets.includes(lane.target)).slice(0, 8);
      if (!shown.length)
        return {
          empty: now.targets.length
            ? "No lock conflicts between clients on the selected targets."
            : "When the conflicts were is not known.",
        };
      const [from, to] = visible(now);
      const made = shown.map((lane) => {
        const rate = (array) => Array.from(array, (value, i) => value / (edges[i + 1] - edges[i]));
        const shown = (words, values) => shownOf("locks", words, Array.from(values));
        const sum = (first, ...others) => first.map((value, i) => others.reduce((all, it) => all + it[i], value));
        const all = rate(lane.conflicts);
        const [certain, expansion] = [rate(lane.certain), rate(lane.expansion)].map((it, i) => shown(LOCK_WORDS[i], it));
        const unclassified = shown(
          it.evidence === "rpctrace" ? LOCK_WORDS[3] : LOCK_WORDS[2],
          rate(lane.conflicts.map((value, i) => value - lane.certain[i] - lane.expansion[i])),
        );
        const waiting = shown(LOCK_WORDS[4], lane.waiting);
        const seen = (values) => Math.max(0, ...values.filter((_, i) => edges[i + 1] > from && edges[i] < to));
        return {
          title: marked("targets", lane.target, targetName(lane.target)),
          accused: isAccused("targets", lane.target),
          note:
            `highest ${number(seen(all))} conflicts/s; ` +
            `waiting: ${number(seen(Array.from(lane.waiting)))} at once`,
          height: 84,
          highest: Math.max(seen(all), seen(Array.from(lane.waiting))),
          series: [
            stepArea("", edges, sum(certain, expansion, unclassified), colors.unclassified, colors.unclassified),
            stepArea("", edges, sum(certain, expansion), colors.expansion, colors.expansion),
            stepArea("", edges, certain, colors.true, colors.true),
            stepLine("", edges, waiting, colors.ink),
          ],
          value: (time) => `${number(all[binOf(edges, time)])} conflicts/s`,
          hover: (time) => {
            const bin = binOf(edges, time);
            return {
              head: `${targetName(lane.target)}, ${timeRange(edges[bin], edges[bin + 1])}`,
              rows: [
                [colors.true, "true conflicts", count(lane.certain[bin])],
                [colors.expansion, "expansion-only", count(lane.expansion[bin])],
                [colors.unclassified, "of all conflicts", count(lane.conflicts[bin])],
                [colors.ink, "waiting at once", number(lane.waiting[bin])],
              ],
            };
          },
          pick: () => toggleSelected("targets", lane.target),
        };
      });
      const scale = fromZero(Math.max(...made.map((lane) => lane.highest)), 3);
      made.forEach((lane) => {
        lane.y = { ...scale, axisLabel: { formatter: (value) => number(value) } };
      });
      return { lanes: made, summary: `${plural(made.length, "target")}` };
    },
  });

  const square = pairsChart(body);

  body.append(el("h3", null, "Objects that clients fight over"));
  const objectsNote = partNote(body, "The figures of each object are");
  const objects = table(body, {
    label: "Objects that clients fight over",
    first: 8,
    columns: [
      {
        name: "object",
        value: foughtName,
        text: (row) => `${row.inferred ? RULES.estimated : ""}${foughtName(row)}`,
      },
      {
        name: "",
        title: "a sustained fight",
        value: (row) => (row.ping_pong ? "ping-pong" : ""),
        cell: (row) => (row.ping_pong ? el("span.tag", null, "ping-pong") : ""),
      },
      countColumn("conflicts", (row) => row.conflicts),
      { ...countColumn("true", (row) => row.true_conflicts, "requested bytes overlap"), value: (row) => row.true_conflicts },
      {
        ...countColumn("expansion", (row) => row.expansion_conflicts, "only the expanded lock is in the way"),
        value: (row) => row.expansion_conflicts,
      },
      countColumn("turns", (row) => row.alternations, "changes of owner"),
      { ...countColumn("clients", (row) => row.of_clients), hint: (row) => row.clients.map(clientName).join(", ") },
      { name: "waited", number: true, unit: "s", value: (row) => row.wait_s, text: (row) => seconds(row.wait_s) },
      timeColumn("wait p50", (row) => row.wait_us, 2),
      timeColumn("wait p99", (row) => row.wait_us, 4),
    ],
    rows: (now) => {
      if (!it.objects.length)
        return it.evidence === "rpctrace" ? "Which objects is not known: needs mask dlmtrace." : "No object has conflicts between clients.";
      return it.objects.filter(
        (row) =>
          (!now.targets.length || now.targets.includes(row.target)) &&
          (!now.objects.length || now.objects.includes(row.object)) &&
          (!now.clients.length || row.clients.some((client) => now.clients.includes(client))),
      );
    },
    pick: (row) => row.object !== null && (() => toggleSelected("objects", row.object)),
    picked: (row) => row.object !== null && isSelected("objects", row.object),
    accused: (row) => isAccused("objects", row.object),
  });

  body.append(el("h3", null, "Targets"));
  const targetsNote = partNote(body, "The figures of each target are");
  const targets = table(body, {
    label: "Targets with lock conflicts",
    first: 8,
    columns: [
      {
        name: "target",
        value: (row) => targetName(row.target),
        text: (row) => `${row.is_inferred ? RULES.estimated : ""}${targetName(row.target)}`,
      },
      countColumn("conflicts", (row) => row.conflicts),
      countColumn("hand-overs", (row) => row.handovers),
      { name: "waited", title: "client-seconds", number: true, unit: "s", value: (row) => row.wait_s, text: (row) => seconds(row.wait_s) },
      {
        name: "contended",
        title: "time in which somebody waited",
        number: true,
        unit: "s",
        value: (row) => row.contended_s,
        text: (row) => seconds(row.contended_s),
      },
      timeColumn("wait p50", (row) => row.wait_us, 2),
      timeColumn("wait p99", (row) => row.wait_us, 4),
      timeColumn("release p50", (row) => row.release_us, 2, "callback to release; needs dlmtrace"),
      timeColumn("callback p50", (row) => row.blocking_ast_us, 2, "round trip of the callback"),
      {
        name: "while waiting",
        title: "bandwidth in bins in which a client waited",
        number: true,
        unit: "bytes_per_s",
        value: (row) => row.bandwidth_contended,
        text: (row) => byteRate(row.bandwidth_contended),
      },
      {
        name: "otherwise",
        title: "bandwidth in the other bins with traffic",
        number: true,
        unit: "bytes_per_s",
        value: (row) => row.bandwidth_uncontended,
        text: (row) => byteRate(row.bandwidth_uncontended),
      },
    ],
    rows: (now) => it.targets.filter((row) => !now.targets.length || now.targets.includes(row.target)),
    pick: (row) => () => toggleSelected("targets", row.target),
    picked: (row) => isSelected("targets", row.target),
    accused: (row) => isAccused("targets", row.target),
  });
  if (it.of_targets > it.targets.length)
    body.append(el("p.note", null, `The ${count(it.targets.length)} targets with most conflicts, of ${count(it.of_targets)}.`));
  let jobsNote = null;
  if (it.jobs.some((job) => job.wait_s > 0)) {
    body.append(el("h3", null, "Jobs that waited"));
    jobsNote = partNote(body, "The figures of each job are");
    table(body, {
      label: "Jobs that waited for locks",
      first: 8,
      columns: [
        { name: "job", value: (row) => row.job },
        countColumn("waits", (row) => row.blocked),
        { name: "waited", number: true, unit: "s", value: (row) => row.wait_s, text: (row) => seconds(row.wait_s) },
      ],
      rows: () => it.jobs.filter((job) => job.blocked > 0 || job.wait_s > 0),
    }).show();
  }

  function update() {
    // What all of the view does not follow, its own note says.
    factsNote(["direction", ...(lockSums(selection) ? ["targets"] : [])]);
    chartNote(["direction", "time", "targets"]);
    objectsNote(["direction", "targets", "clients", "objects"]);
    targetsNote(["direction", "targets"]);
    jobsNote?.(["direction"]);
    fill(facts, lockFacts(selection));
    chart.refresh();
    const kinds = [colors.true, colors.expansion, colors.unclassified].map((color, i) => [color, LOCK_WORDS[i]]);
    const conflicts = it.evidence === "rpctrace" ? [[colors.unclassified, LOCK_WORDS[3]]] : kinds;
    const entries = [...conflicts, [colors.ink, LOCK_WORDS[4], "line"]];
    fill(key, chart.plan?.empty ? null : legend(entries, { view: "locks", redraw: update }));
    square.refresh();
    objects.show();
    targets.show();
  }
  return update;
}
