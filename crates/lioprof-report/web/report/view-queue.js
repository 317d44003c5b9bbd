// How many requests the servers had at a time.

const queueSection = () =>
  section({
    id: "queue",
    title: "Queue depth",
    plots: ["queue-depth"],
    how:
      "One lane per server, the busiest first; all operations count. Green is the mean number of requests that threads worked on, " +
      "orange on top those that waited for a thread. Level green with growing orange: all threads are busy, so the storage is " +
      "saturated or there are too few threads. Orange peaks at regular times are often checkpoints.",
    follows: ["time"],
    missing: () => (DATA.series.nodes.length ? null : `No RPC with times ${AMONG}.`),
    build: buildQueue,
  });

/** What requests in a server do. */
const QUEUE_WORDS = MEASURES.load.words;

function buildQueue(body, controls) {
  const edges = precise(DATA.series.node_edges_s);
  const nodes = DATA.series.nodes.map((it) => ({
    node: it.node,
    queued: dense(it.queued),
    inProcess: dense(it.in_process),
    rpcs: dense(it.rpcs),
  }));
  const few = 6;
  let all = false;
  const more = el("button", {
    type: "button",
    hidden: nodes.length <= few,
    onclick: () => {
      all = !all;
      update();
    },
  });
  controls.append(more);
  const key = el("div");
  body.append(key);
  const chart = timeChart(body, {
    label: "Requests in the servers over time",
    lanes(it) {
      const [from, to] = visible(it);
      const first = accusedFirst("nodes", nodes, ({ node }) => node);
      const made = first.slice(0, all ? nodes.length : few).map((node) => {
        const [inProcess, queued] = [node.inProcess, node.queued].map((values, i) => shownOf("queue", QUEUE_WORDS[i], values));
        const sum = Array.from(queued, (value, i) => value + inProcess[i]);
        const highest = Math.max(0, ...sum.filter((_, i) => edges[i + 1] > from && edges[i] < to));
        return {
          title: marked("nodes", node.node, node.node),
          accused: isAccused("nodes", node.node),
          note: `highest ${number(highest)}`,
          height: 80,
          highest,
          series: [
            stepArea("", edges, sum, pale(colors.queue, 0.8), colors.queue),
            stepArea("", edges, inProcess, pale(colors.service, 0.8), colors.service),
          ],
          value: (time) => number(sum[binOf(edges, time)]),
          hover: (time) => {
            const bin = binOf(edges, time);
            return {
              head: `${node.node}, ${timeRange(edges[bin], edges[bin + 1])}`,
              rows: [
                [colors.service, QUEUE_WORDS[0], number(node.inProcess[bin])],
                [colors.queue, QUEUE_WORDS[1], number(node.queued[bin])],
                [null, "RPCs ended", count(node.rpcs[bin])],
              ],
            };
          },
        };
      });
      const scale = fromZero(Math.max(...made.map((lane) => lane.highest)), 3);
      made.forEach((lane) => {
        lane.y = { ...scale, axisLabel: { formatter: (value) => number(value) } };
      });
      return { lanes: made, summary: `${plural(made.length, "server")}, highest ${number(Math.max(...made.map((lane) => lane.highest)))}` };
    },
  });
  function update() {
    chart.refresh();
    fill(
      key,
      legend(
        [
          [colors.service, QUEUE_WORDS[0]],
          [colors.queue, QUEUE_WORDS[1]],
        ],
        { view: "queue", redraw: update },
      ),
    );
    more.textContent = all ? "Fewer servers" : `Busiest ${nodes.length} of ${plural(DATA.series.of_nodes, "server")}`;
  }
  return update;
}
