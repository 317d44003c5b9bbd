// What lanes of OSTs can show: how it is written, its axis, its columns.

const MEASURES = {
  bytes: {
    name: "Bandwidth",
    text: byteRate,
    tick: (value) => `${roundBytes(value)}/s`,
    axis: bytesFromZero,
    rate: true,
    of: ["read_bytes", "write_bytes", "read_bounded_bytes", "write_bounded_bytes"],
    words: ["read", "written"],
  },
  rpcs: {
    name: "Requests",
    text: (it) => `${number(it)}/s`,
    axis: fromZero,
    rate: true,
    of: ["read_rpcs", "write_rpcs"],
    words: ["reads ended", "writes ended"],
  },
  load: {
    name: "In flight",
    text: number,
    axis: fromZero,
    rate: false,
    of: ["in_process", "queued"],
    words: ["being handled", "waiting for a thread"],
  },
};
