// A time in parts: one bar, its columns and its key.

/** `parts`: name, CSS variable of the colour, and the times of a row (`Times` in Rust: `[count, mean, ..]`) of each part. */
function stacked(parts, longest) {
  const mean = (row, part) => part.times(row)[1] ?? 0;
  const bar = (row) => {
    let left = 0;
    const pieces = parts.map((part) => {
      const width = (100 * mean(row, part)) / longest;
      const piece = el("i", { style: { left: `${left}%`, width: `${width}%`, background: `var(${part.ink})` } });
      left += width;
      return piece;
    });
    return el("span.spans", { "aria-hidden": "true" }, el("span.span.stacked", null, pieces));
  };
  return {
    /** The bar of a row; `value` is the whole time of the row, to sort by. */
    column: (value) => ({ name: `0 … ${micros(longest)}`, title: "the parts, one scale for all", value, cell: bar }),
    columns: parts.map((part) => timeColumn(part.name, part.times, 1, "mean")),
    legend: () => {
      const style = getComputedStyle(document.documentElement);
      return legend(parts.map((part) => [style.getPropertyValue(part.ink).trim(), part.name]));
    },
    /** The part that takes longest. */
    most: (row) => parts.reduce((a, b) => (mean(row, b) > mean(row, a) ? b : a)),
  };
}
