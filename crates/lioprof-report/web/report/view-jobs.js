// Jobs, and whose they are.

const jobsSection = () =>
  section({
    id: "jobs",
    title: "Jobs",
    how:
      "A job id is what the client sends with each RPC (jobid_var). “(none)”: the client sent none. Below, where the log has them " +
      "(Lustre 2.16 and later), reads and writes by user, group and project.",
    follows: ["direction"],
    missing: () => (DATA.jobs.rows.length ? null : `No RPCs ${AMONG}.`),
    build: buildJobs,
  });

function buildJobs(body) {
  const io = [
    countColumn("reads", (row) => row.read.rpcs),
    bytesColumn("read", (row) => row.read),
    countColumn("writes", (row) => row.write.rpcs),
    bytesColumn("written", (row) => row.write),
  ];
  const otherIo = (it) => [
    el("td.figure", null, count(it.read.rpcs)),
    el("td.figure", null, ioBytes(it.read)),
    el("td.figure", null, count(it.write.rpcs)),
    el("td.figure", null, ioBytes(it.write)),
  ];
  const jobs = table(body, {
    label: "Jobs",
    columns: [
      { name: "job", value: (row) => row.job },
      serverTimeColumn(),
      {
        name: "most of it for",
        value: (row) => row.most?.[0] ?? null,
        text: (row) => (row.most ? `${row.most[0]} (${percent(row.most[1])})` : "–"),
      },
      countColumn("RPCs", (row) => row.rpcs),
      ...io,
      countColumn("clients", (row) => row.clients),
      countColumn("targets", (row) => row.targets, "targets that it read or wrote"),
    ],
    accused: (row) => isAccused("jobs", row.job),
    rows: () => DATA.jobs.rows,
    others: otherCells(DATA.jobs, "job", (it) => [
      el("td"),
      el("td"),
      el("td.figure", null, count(it.rpcs)),
      ...otherIo(it),
      el("td"),
      el("td"),
    ]),
  });
  let owners = null;
  if (DATA.owners.rows.length) {
    body.append(el("h3", null, "Users, groups, projects"));
    owners = table(body, {
      label: "Owners",
      first: 6,
      columns: [
        { name: "uid", value: (row) => row.uid, text: (row) => String(row.uid) },
        { name: "gid", number: true, value: (row) => row.gid, text: (row) => (row.gid === null ? UNKNOWN : String(row.gid)) },
        { name: "project", number: true, value: (row) => row.projid, text: (row) => (row.projid === null ? UNKNOWN : String(row.projid)) },
        ...io,
      ],
      rows: () => DATA.owners.rows,
      others: otherCells(DATA.owners, "owner", (it) => [el("td"), el("td"), ...otherIo(it)]),
    });
  }
  return () => {
    jobs.show();
    owners?.show();
  };
}
