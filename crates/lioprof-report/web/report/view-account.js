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
    follows: [],
    missing: () => (DATA.time_account ? null : "No client sent anything."),
    build: buildAccount,
    wide: true,
  });

/** The variable of the colour of a kind of time; OSTs have colours in the order of their time. */
function accountColor(kind, bulk) {
  const name = { lock_wait: "locks", unknown: "other" }[kind.on] ?? kind.on ?? "rest";
  return `var(--time-${kind.on === "bulk" ? `ost-${bulk}` : name})`;
}

function buildAccount(body) {
  const account = DATA.time_account;
  let bulk = 0;
  const kinds = account.kinds.map((kind) => ({ color: accountColor(kind, kind.on === "bulk" ? bulk++ % 6 : 0), name: kind.name }));
  body.append(legend(kinds.map((kind) => [kind.color, kind.name])));

  const share = (us, all) => (all > 0 ? (100 * us) / all : 0);
  const stack = (us, all, to) => {
    let at = 0;
    const stops = kinds.map((kind, i) => {
      const from = at;
      at += share(us(i), all);
      return `${kind.color} ${from}% ${at}%`;
    });
    return `linear-gradient(${to}, ${stops.join(", ")})`;
  };
  const bins = account.bins[0]?.length ?? 0;
  const start = account.start - DATA.window.start;
  const columns = Array.from({ length: bins }, (_, bin) => {
    const us = (i) => account.bins[i][bin];
    const all = kinds.reduce((sum, _kind, i) => sum + us(i), 0);
    const told = kinds.map((kind, i) => [share(us(i), all), kind.name]).filter(([part]) => part >= 0.5);
    const lines = told.sort((a, b) => b[0] - a[0]).map(([part, name]) => `${percent(part / 100)} ${name}`);
    const from = start + bin * account.bin_s;
    const title = [timeRange(from, from + account.bin_s), ...lines].join("\n");
    return el("i", { title, style: { background: all > 0 ? stack(us, all, "to top") : "none" } });
  });
  body.append(el("div.account", { role: "img", "aria-label": "Shares of the time of all clients, over time" }, columns));
  const span = timeRange(start, start + bins * account.bin_s);
  body.append(el("p.account-times", null, el("span", null, span), el("span", null, "shares of each instant")));

  const most = (row) => kinds.map((kind, i) => [row.us[i], kind.name]).sort((a, b) => b[0] - a[0])[0] ?? [0, ""];
  const bar = (row) => el("span.account-bar", { style: { background: stack((i) => row.us[i], row.span_us, "to right") } });
  const list = table(body, {
    label: "Where the time went",
    first: 12,
    columns: [
      { name: "name", value: (row) => row.name || "all clients" },
      { name: "of", value: (row) => row.of },
      {
        name: "time",
        title: "from the first request to the end of the last",
        number: true,
        value: (row) => row.span_us,
        text: (row) => micros(row.span_us),
      },
      { name: "0 … 100 %", title: "shares of the time", value: (row) => most(row)[0] / row.span_us, cell: bar },
      {
        name: "most of it",
        value: (row) => most(row)[0] / row.span_us,
        text: (row) => `${percent(share(most(row)[0], row.span_us) / 100)} ${most(row)[1]}`,
      },
    ],
    rows: () => account.rows,
  });
  return () => list.show();
}
