// RPCs of clients that belong to no operation.

const noneSection = () =>
  section({
    id: "none",
    title: "RPCs of no operation",
    how:
      "What the clients sent besides, by what it asked for, with the time from sending to the reply. Some of it no program waits for: " +
      "read-ahead, write-back, locks given back. The rest is of operations that this version of the client does not log, or it is not " +
      "certain which one it is of.",
    follows: [],
    missing: () => (DATA.of_none.length ? null : "Every RPC in the clients' logs belongs to an operation, or there is no log of a client."),
    build: buildNone,
    wide: false,
  });

function buildNone(body) {
  const list = table(body, {
    label: "RPCs of no operation",
    first: 12,
    columns: [
      { name: "RPC", value: (it) => it.opcode },
      countColumn("RPCs", (it) => it.rpcs),
      { name: "time", number: true, value: (it) => it.us, text: (it) => micros(it.us) },
      { name: "what they are", value: (it) => it.what },
    ],
    rows: () => DATA.of_none,
  });
  return () => list.show();
}
