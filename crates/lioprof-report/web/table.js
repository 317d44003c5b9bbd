// Tables: sortable by their headers, first rows first, a row can select what it is about.

/**
 * `columns`: `{name, title, value(row), text(row), number, cell(row)}`; a value sorts (within its
 * `group(row)`, where a column has values of several units), a text is shown, a cell is an element.
 * `rows(selection)`: the rows; `others(selection)`: a last row that never moves, or null. `pick(row)`: what a click selects; `picked(row)`.
 */
function table(parent, { label, columns, rows, others, first = 10, pick, picked, sort }) {
  let order = sort ? { column: columns.findIndex((it) => it.name === sort), down: true } : null;
  let all = false;
  const head = el(
    "tr",
    null,
    columns.map((column, i) =>
      el(
        "th",
        { scope: "col", class: column.number ? "figure" : null },
        el(
          "button",
          {
            type: "button",
            title: column.title,
            onclick: () => {
              order = { column: i, down: order?.column === i ? !order.down : Boolean(column.number) };
              show();
            },
          },
          column.name,
        ),
      ),
    ),
  );
  const body = el("tbody");
  const more = el("button.more", {
    type: "button",
    onclick: () => {
      all = !all;
      show();
    },
  });
  const empty = el("p.empty", { hidden: true });
  const frame = el(
    "div.table",
    { role: "region", "aria-label": label, tabindex: "0" },
    el("table", null, el("caption.hidden", null, label), el("thead", null, head), body),
  );
  parent.append(frame, empty, more);

  function cells(row) {
    return columns.map((column, i) => {
      const content = column.cell ? column.cell(row) : column.text ? column.text(row) : column.value(row);
      const shown = content === null || content === undefined ? UNKNOWN : content;
      const button =
        i === 0 && pick && pick(row)
          ? el("button.link", { type: "button", onclick: pick(row), "aria-pressed": String(Boolean(picked?.(row))) }, shown)
          : shown;
      return el(
        i === 0 ? "th" : "td",
        {
          class: [column.number && "figure", column.wrap && "wrap"].filter(Boolean).join(" ") || null,
          scope: i === 0 ? "row" : null,
          title: column.hint?.(row),
        },
        button,
      );
    });
  }

  function show() {
    const found = rows(selection);
    const list = Array.isArray(found) ? [...found] : [];
    empty.hidden = list.length > 0;
    frame.hidden = list.length === 0;
    empty.textContent = Array.isArray(found) ? "nothing of what is selected" : found;
    if (order) {
      const { value, group = () => "" } = columns[order.column];
      const missing = (it) => it === null || it === undefined || Number.isNaN(it);
      // What is unknown is last, whichever way.
      list.sort((a, b) => {
        if (group(a) !== group(b)) return group(a) < group(b) ? -1 : 1;
        const [x, y] = [value(a), value(b)];
        if (missing(x) || missing(y)) return missing(x) - missing(y);
        return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1);
      });
    }
    [...head.children].forEach((th, i) => {
      if (order?.column === i) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    const visibleRows = all ? list : list.slice(0, first);
    fill(
      body,
      visibleRows.map((row) => el("tr", { class: picked?.(row) ? "picked" : null }, cells(row))),
      others?.(selection) && list.length > 0 && el("tr.others", null, others(selection)),
    );
    more.hidden = list.length <= first;
    more.textContent = all ? "Show fewer" : `Show all ${count(list.length)}`;
  }
  return { show };
}

/** The last row of a table whose rows are not all in the page: reads, writes, RPCs of the others. */
function otherCells(table_, what, cells) {
  const n = table_.of - table_.rows.length;
  return n > 0 ? () => [el("th", { scope: "row" }, `${plural(n, what)} more`), ...cells(table_.others)] : null;
}

/** A column of bytes. */
function bytesColumn(name, io) {
  return {
    name,
    number: true,
    value: (row) => (io(row).bytes === null ? null : Number(io(row).bytes)),
    text: (row) => ioBytes(io(row)),
    hint: (row) => ioExactly(io(row)),
  };
}

function countColumn(name, value, title) {
  return { name, title, number: true, value: (row) => Number(value(row)), text: (row) => count(value(row)) };
}

/** How long servers' threads handled the RPCs of a row. */
function serverTimeColumn() {
  return {
    name: "server time",
    title: "time in which threads of servers handled its RPCs, added up",
    number: true,
    value: (row) => (row.server_us === null ? null : Number(row.server_us)),
    text: (row) => (row.server_us === null ? UNKNOWN : micros(Number(row.server_us))),
  };
}

/** A percentile or such of `Times` in Rust: `[count, mean, p50, p90, p99, max]`; `null`: unknown. */
function timeColumn(name, times, at, title) {
  return {
    name,
    title,
    number: true,
    value: (row) => times(row)?.[at],
    text: (row) => (!times(row) ? UNKNOWN : times(row)[0] ? micros(times(row)[at]) : "–"),
    hint: (row) => times(row) && timesHint(times(row)),
  };
}

function timesHint([n, mean, p50, p90, p99, max]) {
  return n
    ? `${plural(n, "RPC")}: mean ${micros(mean)}, p50 ${micros(p50)}, p90 ${micros(p90)}, p99 ${micros(p99)}, max ${micros(max)}`
    : "no RPC";
}
