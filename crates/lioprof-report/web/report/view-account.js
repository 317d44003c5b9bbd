// Where the time went: what clients waited for, over time and in all.

const accountSection = () =>
  section({
    id: "account",
    title: "Where the time went",
    plots: ["time-account"],
    how:
      "What clients waited for, from their first request to the end of the last; every instant counts once, and requests that are under " +
      "way at the same time share it. Above all clients together over time, below the sums for all, for each client and each job. One " +
      "OST over a long stretch: everybody waits for it. Much of the time queued: too few service threads, or too much at once. Waiting " +
      "for locks: clients fight. Grey: no request is in any server's log: the clients' own work, the network, a server whose " +
      "log is missing, or what a log has lost.",
    follows: ["time"],
    missing: () => (DATA.time_account ? null : "No client sent anything."),
    build: buildAccount,
    wide: true,
  });

/** The colour of a kind of time; OSTs have colours in the order of their time. */
function accountColor(kind, bulk) {
  const name = { lock_wait: "locks", unknown: "other" }[kind.on] ?? kind.on ?? "rest";
  return `--time-${kind.on === "bulk" ? `ost-${bulk}` : name}`;
}

/** What nobody can do anything about: no server was asked, or the log does not say for what. */
const NOT_TO_BE_HELPED = ["nothing", "unknown"];

function buildAccount(body) {
  const account = DATA.time_account;
  let bulk = 0;
  const kinds = account.kinds.map((kind) => ({ ...kind, ink: accountColor(kind, kind.on === "bulk" ? bulk++ % 6 : 0) }));
  const key = el("div");
  body.append(key);

  const share = (us, all) => (all > 0 ? us / all : 0);
  const n = account.bins[0]?.length ?? 0;
  const start = account.start - DATA.window.start;
  const edges = Array.from({ length: n + 1 }, (_, bin) => start + bin * account.bin_s);
  /** `[kind, share]` of a bin, from below. */
  const partsOf = (bin) => {
    const all = account.bins.reduce((sum, row) => sum + row[bin], 0);
    const parts = kinds.map((kind, i) => [kind, share(account.bins[i][bin], all)]);
    return parts.filter(([kind, part]) => part > 0 && !isHidden("account", kind.name));
  };
  const inks = () => {
    const style = getComputedStyle(document.documentElement);
    return new Map(kinds.map((kind) => [kind, style.getPropertyValue(kind.ink).trim()]));
  };
  const chart = timeChart(body, {
    label: "Shares of the time of all clients, over time",
    lanes(it) {
      const [from, to] = visible(it);
      const seen = [...Array(n).keys()].filter((bin) => edges[bin + 1] > from && edges[bin] < to && partsOf(bin).length > 0);
      if (!seen.length) return { empty: "No client had sent anything yet, or the last one was done, in the visible time." };
      const ink = inks();
      const paint = (pen, across, down) => {
        const x = (time) => Math.round(((time - from) / (to - from)) * across);
        for (const bin of seen) {
          let y = down;
          for (const [kind, part] of partsOf(bin)) {
            pen.fillStyle = ink.get(kind);
            pen.fillRect(x(edges[bin]), y - part * down, Math.max(1, x(edges[bin + 1]) - x(edges[bin])), part * down);
            y -= part * down;
          }
        }
      };
      return {
        summary: `${plural(seen.length, "bin")} of ${seconds(account.bin_s)}`,
        lanes: [
          {
            title: "All clients together",
            note: "shares of each instant",
            height: 140,
            y: { min: 0, max: 1, interval: 0.5, axisLabel: { formatter: percent }, splitLine: { show: false } },
            series: [picture(paint)],
            hover: (time) => {
              const bin = binOf(edges, time);
              const told = partsOf(bin).filter(([, part]) => part >= 0.005);
              const rows = told.sort((a, b) => b[1] - a[1]).map(([kind, part]) => [ink.get(kind), kind.name, percent(part)]);
              if (!rows.length || time < edges[0] || time >= edges[n]) return null;
              // Bins are round; the first may begin before the log.
              return { head: timeRange(Math.max(0, edges[bin]), Math.min(SPAN_S, edges[bin + 1])), rows };
            },
          },
        ],
      };
    },
  });

  const most = (row) => {
    const parts = kinds.map((kind, i) => [row.us[i], kind]).sort((a, b) => b[0] - a[0]);
    const [us, kind] = parts.find(([time, it]) => time > 0 && !NOT_TO_BE_HELPED.includes(it.on)) ?? parts[0] ?? [0, { name: "" }];
    return [us, kind.name];
  };
  const bar = (row) => {
    let at = 0;
    const stops = kinds.map((kind, i) => {
      const from = at;
      at += 100 * share(row.us[i], row.span_us);
      return `var(${kind.ink}) ${from}% ${at}%`;
    });
    return el("span.account-bar", { style: { background: `linear-gradient(to right, ${stops.join(", ")})` } });
  };
  const sumsNote = partNote(body, "These sums are");
  const list = table(body, {
    label: "Where the time went",
    first: 12,
    columns: [
      { name: "name", value: (row) => row.name },
      { name: "of", value: (row) => row.of },
      {
        name: "time",
        title: "from the first request to the end of the last",
        number: true,
        unit: "us",
        value: (row) => row.span_us,
        text: (row) => micros(row.span_us),
      },
      { name: "0 … 100 %", title: "shares of the time", value: (row) => most(row)[0] / row.span_us, cell: bar },
      {
        name: "most of it",
        title: "the largest part that somebody can do something about",
        value: (row) => most(row)[0] / row.span_us,
        text: (row) => `${percent(share(most(row)[0], row.span_us))} ${most(row)[1]}`,
      },
    ],
    accused: (row) => isAccused("names", row.name) || isAccused("jobs", row.name),
    rows: () => account.rows,
  });
  const all = account.rows[0].span_us;
  body.append(el("h3", null, "Is that as it should be?"));
  const judged = table(body, {
    label: "Is that as it should be?",
    first: 12,
    columns: [
      { name: "time of all clients", value: (row) => row.name },
      { name: "share", number: true, value: (row) => row.us, text: (row) => percent(row.us / all) },
      { name: "judged", value: (row) => row.finding ?? row.state },
      { name: "why", value: (row) => row.reason ?? "" },
    ],
    rows: () => (account.judged.length > 0 ? account.judged : "nothing takes a fifth of the clients' time"),
  });
  function update() {
    chart.refresh();
    const ink = inks();
    fill(key, legend(kinds.map((kind) => [ink.get(kind), kind.name]), { view: "account", redraw: update }));
    // What all of the view does not follow, its own note says.
    sumsNote(["targets", "clients", "objects", "direction"]);
    list.show();
    judged.show();
  }
  return update;
}
