// Single RPCs. What the analysis has no sums for (one client over time, say) is made of these.

const sampleColumns = () => {
  const it = DATA.sample;
  const columns = {
    arrival: precise(it.arrival_s),
    queueUs: dense(it.queue_us),
    serviceUs: dense(it.service_us),
    write: Array.from(it.direction, (letter) => letter === "w"),
    client: dense(it.client),
    target: dense(it.target),
    object: dense(it.object),
    first: precise(it.first_byte),
    extent: dense(it.extent_bytes),
    bytes: dense(it.bytes),
    job: dense(it.job),
    before: dense(it.before_us),
    transfer: dense(it.transfer_us),
  };
  columns.start = columns.arrival.map((at, i) => at + columns.queueUs[i] / 1e6);
  columns.end = columns.start.map((at, i) => at + columns.serviceUs[i] / 1e6);
  columns.last = columns.first.map((first, i) => first + columns.extent[i] - 1);
  columns.length = columns.arrival.length;
  return columns;
};

let unpackedSample = null;

/** The columns; unpacked when the first view needs them. */
function sample() {
  unpackedSample ??= sampleColumns();
  return unpackedSample;
}

const SAMPLE_ONE_IN = DATA.sample.one_in;

/** How sure what is made of the sample is. */
const SAMPLE_NOTE = SAMPLE_ONE_IN > 1 ? `estimated from 1 in ${count(SAMPLE_ONE_IN)} RPCs` : "from every single RPC";

/** What one RPC was for, and what its service time was made of: rows of a tip. */
function rpcFacts(i) {
  const rpc = sample();
  const facts = Number.isNaN(rpc.job[i]) ? [] : [[null, "job", DATA.sample.jobs[rpc.job[i]]]];
  if (!(rpc.transfer[i] >= 0)) return facts;
  const us = { before: rpc.before[i], transfer: rpc.transfer[i], after: rpc.serviceUs[i] - rpc.before[i] - rpc.transfer[i] };
  // Which of them is the disk: docs of the view of these parts say why.
  const what = { transfer: "network", [rpc.write[i] ? "after" : "before"]: "disk" };
  const name = ([words, kind]) => (what[kind] ? `${words} (${what[kind]})` : words);
  return [...facts, ...PARTS_OF_SERVICE.map((part) => [`var(--part-${part[1]})`, name(part), micros(us[part[1]])])];
}

/** RPCs of a selection that are under way in the visible time. */
function sampled(it, kinds = ["targets", "clients", "objects"]) {
  const [from, to] = visible(it);
  const rpc = sample();
  const wanted = (kind, column) => {
    if (!kinds.includes(kind) || !it[kind].length) return () => true;
    const set = new Set(it[kind]);
    return (i) => set.has(column[i]);
  };
  const target = wanted("targets", rpc.target);
  const client = wanted("clients", rpc.client);
  const object = wanted("objects", rpc.object);
  const out = [];
  for (let i = 0; i < rpc.length; i += 1) {
    if (it.direction === "r" && rpc.write[i]) continue;
    if (it.direction === "w" && !rpc.write[i]) continue;
    if (rpc.end[i] < from || rpc.arrival[i] > to) continue;
    if (target(i) && client(i) && object(i)) out.push(i);
  }
  return out;
}

/** Whether sums per target are not enough for a selection. */
function needsSample(it) {
  return it.clients.length > 0 || it.objects.length > 0;
}

/** Spreads an amount evenly over the bins of a stretch of time. */
function spread(into, edges, from, to, amount) {
  const last = into.length - 1;
  const [first, end] = [binOf(edges, from), binOf(edges, to)];
  if (first === end || !(to > from)) {
    into[Math.min(first, last)] += amount;
    return;
  }
  for (let bin = first; bin <= Math.min(end, last); bin += 1) {
    const part = Math.min(to, edges[bin + 1]) - Math.max(from, edges[bin]);
    into[bin] += (amount * Math.max(0, part)) / (to - from);
  }
}
