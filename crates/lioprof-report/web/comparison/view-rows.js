// OSTs, clients and operations side by side: one figure at a time.

const FIGURE_CHOICES = {
  read_bandwidth_bytes_per_s: "Bandwidth of reads",
  write_bandwidth_bytes_per_s: "Bandwidth of writes",
  bandwidth_bytes_per_s: "Bandwidth of reads and writes",
  read_bytes: "Bytes read",
  written_bytes: "Bytes written",
  read_total_p50_us: "Reads: half took no longer than",
  read_total_p99_us: "Reads: 99 % took no longer than",
  write_total_p50_us: "Writes: half took no longer than",
  write_total_p99_us: "Writes: 99 % took no longer than",
  total_p99_us: "99 % took no longer than",
  total_p50_us: "Half took no longer than",
  service_p99_us: "99 %, service alone",
  queue_p99_us: "99 %, queue alone",
  rpcs: "RPCs",
  errors: "Errors",
};

/** `noun`: of one row; `first`: figures to begin with, the first that any row has. */
function rowsSection({ id, title, noun, data, first, how }) {
  const present = ({ figures }, name) => figures[name] && figures[name].slice(0, 2).some((value) => value !== null && Number(value) !== 0);
  const choices = Object.keys(FIGURE_CHOICES).filter((name) => data.rows.some((row) => present(row, name)));
  let chosen = first.find((name) => choices.includes(name)) ?? choices[0];
  return section({
    id,
    title,
    how,
    follows: [],
    missing: () => (choices.length ? null : `Neither run has ${noun}s with figures.`),
    build: (body, controls) => {
      let rows = [];
      let reach = 2;
      const note = el("p.note");
      const list = table(body, {
        label: title,
        columns: [
          {
            name: noun,
            value: (row) => row.name,
            text: (row) => row.name + (row.before && row.after ? "" : row.before ? " (only before)" : " (only after)"),
          },
          ...figureColumns(
            (row) => row.figure,
            () => chosen,
            () => reach,
          ),
        ],
        rows: () => rows,
      });
      body.append(note);
      const update = () => {
        rows = data.rows.filter((row) => present(row, chosen)).map((row) => ({ ...row, figure: unpacked(row.figures[chosen]) }));
        reach = reachOf(rows.map((row) => row.figure));
        const tally = (verdict) => rows.filter((row) => row.figure.verdict === verdict).length;
        const judged = Object.keys(VERDICTS).filter((verdict) => tally(verdict));
        // On paper the choice above is left out.
        note.textContent =
          `${FIGURE_CHOICES[chosen]}: ` +
          judged.map((verdict) => `${count(tally(verdict))} ${VERDICTS[verdict][1]}`).join(", ") +
          (data.left_out ? `; ${plural(data.left_out, noun)} with less are left out` : "");
        list.show();
      };
      const options = choices.map((name) => [name, FIGURE_CHOICES[name]]);
      controls.append(
        choice("Show", options, chosen, (name) => {
          chosen = name;
          update();
        }),
      );
      return update;
    },
    wide: true,
  });
}

/** The direction that moved most bytes first. */
const bandwidthFirst = () => {
  const sum = (name) => unpacked(DATA.totals[name] ?? [0, 0]);
  const moved = (it) => Number(it.before ?? 0) + Number(it.after ?? 0);
  const both = ["read_bandwidth_bytes_per_s", "write_bandwidth_bytes_per_s"];
  return moved(sum("written_bytes")) > moved(sum("read_bytes")) ? both.reverse() : both;
};

const targetsSection = () =>
  rowsSection({
    id: "osts",
    title: "OSTs",
    noun: "OST",
    data: DATA.targets,
    first: bandwidthFirst(),
    how: "The bandwidth of an OST is the mean over the time bins in which it moved bytes, not over the whole run.",
  });

const clientsSection = () =>
  rowsSection({
    id: "clients",
    title: "Clients",
    noun: "client",
    data: DATA.clients,
    first: ["bandwidth_bytes_per_s"],
    how: "The bandwidth of a client is its bytes over the time in which it had requests at a traced server.",
  });

const operationsSection = () =>
  rowsSection({
    id: "operations",
    title: "Operations",
    noun: "operation",
    data: DATA.operations,
    first: ["total_p99_us"],
    how: "Queue is the time from arrival until a service thread took the request, service the time in the handler.",
  });
