// How large reads and writes are.

const sizesSection = () =>
  section({
    id: "sizes",
    title: "RPC sizes",
    plots: ["rpc-size"],
    how:
      "A bar labelled 64 KiB counts RPCs of more than 32 and up to 64 KiB. Hatched RPCs have estimated sizes and stand at their best " +
      "estimate, which can be several bars off. Most RPCs on the left: small or scattered I/O, which costs the servers much more per " +
      "byte. RPCs without a known size and failed ones are not in it.",
    follows: ["targets", "direction"],
    missing: () => (DATA.sizes.read.length + DATA.sizes.write.length ? null : "No read or write whose OST and size are known."),
    build: buildSizes,
  });

/** What a bar counts. */
const sizeRange = (upTo) => `more than ${roundBytes(upTo / 2)}, up to ${roundBytes(upTo)}`;

const SIZE_WORDS = ["reads", "writes"];

function buildSizes(body) {
  const own = new Map(DATA.sizes.targets.map((it) => [it.target, it]));
  const key = el("div");
  body.append(key);
  let hatched = false;

  function histogram(it) {
    if (!it.targets.length) return [DATA.sizes.read, DATA.sizes.write];
    return ["read", "write"].map((way) => {
      const sums = new Map();
      for (const target of it.targets) {
        for (const [upTo, rpcs, bounded] of own.get(target)?.[way] ?? []) {
          const [a, b] = sums.get(upTo) ?? [0, 0];
          sums.set(upTo, [a + rpcs, b + bounded]);
        }
      }
      return [...sums].map(([upTo, [a, b]]) => [upTo, a, b]);
    });
  }

  const chart = new Chart(body, {
    label: "RPC sizes",
    layout() {
      const isShown = (i) => selection.direction.includes("rw"[i]) && !isHidden("sizes", SIZE_WORDS[i]);
      const ways = histogram(selection).map((list, i) => (isShown(i) ? list : []));
      const all = ways.flat();
      if (!all.length)
        return {
          empty: selection.targets.some((it) => !own.has(it))
            ? "Sizes by target are kept of the 200 busiest OSTs only."
            : "No reads or writes of known size of what is selected.",
        };
      const powers = all.map(([upTo]) => Math.log2(Number(upTo)));
      const [low, high] = [Math.min(...powers), Math.max(...powers)];
      hatched = all.some(([, , bounded]) => bounded);
      return {
        ways,
        powers: Array.from({ length: high - low + 1 }, (_, i) => low + i),
        height: Math.round(colors.font * 17),
        summary: ways.map((list, i) => `${count(list.reduce((sum, it) => sum + it[1], 0))} ${SIZE_WORDS[i]}`).join(", "),
      };
    },
    option({ ways, powers }, width) {
      const series = ways.flatMap((list, i) => {
        if (!list.length) return [];
        const by = new Map(list.map((it) => [Math.log2(Number(it[0])), it]));
        const color = [colors.read, colors.write][i];
        const bar = (values, fillStyle, label) => ({
          type: "bar",
          barMaxWidth: colors.font * 5,
          stack: String(i),
          barCategoryGap: "24%",
          barGap: "8%",
          data: values,
          silent: true,
          itemStyle: { color: fillStyle, borderColor: color, borderWidth: 1 },
          label: label
            ? {
                show: true,
                position: "top",
                fontSize: colors.font,
                color: colors.muted,
                formatter: ({ dataIndex }) => (by.get(powers[dataIndex])?.[1] ? count(by.get(powers[dataIndex])[1]) : ""),
              }
            : undefined,
        });
        const exact = powers.map((power) => {
          const it = by.get(power);
          return it && it[1] > it[2] ? it[1] - it[2] : null;
        });
        const bounded = powers.map((power) => by.get(power)?.[2] || (by.get(power) ? 0 : null));
        const roomy = width / powers.length / 2 > colors.font * 2.6;
        return [bar(exact, color, false), bar(bounded, hatch(color), roomy)];
      });
      const highest = Math.max(...ways.flat().map((it) => it[1]));
      return {
        grid: { left: gutter(width), right: 8, top: Math.round(colors.font * 2), bottom: Math.round(colors.font * 2) },
        xAxis: { type: "category", data: powers.map((power) => roundBytes(2 ** power)), ...axisLook({ splitLine: { show: false } }) },
        yAxis: {
          type: "value",
          ...axisLook(),
          ...countFromZero(highest, 3),
          name: "RPCs",
          nameGap: colors.font * 0.7,
          nameTextStyle: { color: colors.muted, fontSize: colors.font, align: "right" },
        },
        series,
      };
    },
  });
  chart.canvas.addEventListener("pointermove", (event) => {
    if (!chart.echart || chart.plan.empty) return;
    const at = chart.echart.convertFromPixel({ gridIndex: 0 }, chart.place(event))[0];
    const power = chart.plan.powers[at];
    if (power === undefined) return hideTip();
    const rows = chart.plan.ways
      .map((list, i) => [list.find((it) => Math.log2(Number(it[0])) === power), i])
      .filter(([it]) => it)
      .map(([it, i]) => [
        [colors.read, colors.write][i],
        SIZE_WORDS[i],
        `${count(it[1])}${it[2] ? `, ${count(it[2])} of them estimated` : ""}`,
      ]);
    showTip(
      { head: sizeRange(2 ** power), rows, foot: rows.length ? null : "none" },
      event.clientX,
      event.clientY,
    );
  });
  chart.canvas.addEventListener("pointerleave", hideTip);

  body.append(el("h3", null, "The most common sizes"));
  const list = table(body, {
    label: "The most common sizes",
    first: 6,
    sort: "RPCs",
    columns: [
      { name: "size", value: (row) => row.upTo, text: (row) => sizeRange(row.upTo) },
      { name: "direction", value: (row) => row.way },
      countColumn("RPCs", (row) => row.rpcs),
      {
        name: "share",
        title: "of the reads, or writes, of known size",
        number: true,
        value: (row) => row.share,
        text: (row) => percent(row.share),
      },
      countColumn("estimated", (row) => row.bounded, "RPCs whose size is only estimated"),
    ],
    rows: (it) =>
      histogram(it).flatMap((sizes, i) => {
        const all = sizes.reduce((sum, [, rpcs]) => sum + rpcs, 0);
        const row = ([upTo, rpcs, bounded]) => ({ way: ["read", "write"][i], upTo: Number(upTo), rpcs, bounded, share: rpcs / all });
        return it.direction.includes("rw"[i]) ? sizes.map(row) : [];
      }),
  });

  function update() {
    chart.refresh();
    list.show();
    const entries = [
      ...(selection.direction.includes("r") ? [[colors.read, SIZE_WORDS[0]]] : []),
      ...(selection.direction.includes("w") ? [[colors.write, SIZE_WORDS[1]]] : []),
      ...(hatched ? [[colors.muted, "size estimated", "hatched"]] : []),
    ];
    fill(key, legend(entries, { view: "sizes", redraw: update }));
  }
  return update;
}
